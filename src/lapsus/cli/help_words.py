"""Groups of commands, and `--help` in the reader's language, commands by the reader's job."""

import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from importlib.resources import files
from typing import IO, Any, Final

import regex
import typer
from typer.core import TyperGroup

from lapsus.cli.options import described, parameters
from lapsus.cli.output import reader_language
from lapsus.cli.shared_options import add_map_options
from lapsus.reports.table import cells
from lapsus.word_files import word_file

_WIDEST, _COLUMN, _GAP = 100, 30, 2
"""Places of a line, of the names of options, and between the two."""
_PIECE = regex.compile(r"(?:[!-~]+|[（［「]*(?:[!-~]+|.))[、。）」：；］ーァ-ォャュョッゃゅょっ々]*")
"""What stays on one line: a word in Latin letters, or a sign; with what may not begin a line."""
_WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {"usage": "Usage:", "argument": "Arguments:", "option": "Options:", "commands": "Commands:"},
    "ja": {"usage": "使い方：", "argument": "引数：", "option": "オプション：", "commands": "コマンド："},
}
_USAGE = {"[OPTIONS]": "[オプション]", "COMMAND": "コマンド", "[ARGS]...": "[引数]..."}
_EXTRAS = {"default: ": "既定値：", "required": "必須", "env var: ": "環境変数："}


class Commands(TyperGroup):
    """A group of commands whose help, and that of its commands, is in the reader's language."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for command in self.commands.values():
            add_map_options(command)

    def get_help(self, ctx: Any) -> str:
        """What the group holds."""
        return help_of(self, ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command, which will speak of itself in the reader's language."""
        found = super().get_command(ctx, cmd_name)
        if found is not None:
            found.get_help = partial(help_of, found)  # type: ignore[method-assign]
        return found

    def make_context(self, *args: Any, **extra: Any) -> Any:
        """Read what was given to the group; what is wrong with it is told in the reader's language."""
        with in_readers_words():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was named, with what was given to it."""
        with in_readers_words():
            return super().invoke(ctx)


class Group(typer.Typer):
    """A group of commands. What a parameter of theirs is called and for stands in `options.json`."""

    def __init__(self, name: str, help: str, **settings: Any) -> None:
        super().__init__(
            name=name, help=help, no_args_is_help=True, rich_markup_mode=None, cls=Commands, **settings
        )

    def command(self, name: str, **settings: Any) -> Callable[[Any], Any]:  # type: ignore[override]
        """Make a function the command of that name."""
        group = str(self.info.name)
        places = (name,) if group == "lapsus" else (f"{group} {name}", group)
        registered = super().command(name, **settings)
        return lambda function: registered(described(function, (*places, "shared")))


def usage_of(command: Any, ctx: Any) -> str:
    """How a command is written, in one line."""
    pieces = regex.sub(r"[{}]", "", " ".join(command.collect_usage_pieces(ctx))).split(" ")
    if reader_language() == "ja":
        pieces = [_USAGE.get(piece, piece) for piece in pieces]
    return f"{_word('usage')} {' '.join([ctx.command_path, *pieces])}"


def help_of(command: Any, ctx: Any) -> str:
    """The help of a command: how it is written, what it does, and what each argument and option is for."""
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    blocks = [usage_of(command, ctx), "\n".join(_wrapped(said(command.help or ""), width))]
    for kind in ("argument", "option"):
        rows = [_row(parameter, ctx) for parameter in command.get_params(ctx) if _is(parameter, kind)]
        blocks += _section(_word(kind), rows, width)
    for title, names in _groups(command):
        blocks += _section(title, [(name, said(command.commands[name].help or "")) for name in names], width)
    return "\n\n".join(blocks)


def jobs() -> dict[str, list[str]]:
    """The commands of `lapsus` by the reader's job, in the reader's language."""
    found = word_file("lapsus.cli", "jobs.yaml")
    return {job["title"][reader_language()]: job["commands"] for job in found}


def _groups(command: Any) -> Iterator[tuple[str, list[str]]]:
    inner = list(getattr(command, "commands", {}))
    if any(name not in inner for names in jobs().values() for name in names):
        yield _word("commands"), inner
        return
    colon = "：" if reader_language() == "ja" else ":"
    yield from ((f"{title}{colon}", names) for title, names in jobs().items())


def said(english: str) -> str:
    """What is said for English words; the words themselves where nothing is."""
    words = " ".join(english.split())
    return japanese_words().get(words, words) if reader_language() == "ja" else words


def _word(name: str) -> str:
    return _WORDS[reader_language()][name]


@cache
def japanese_words() -> dict[str, str]:
    """Every help in Japanese, by its English words: `help_ja.yaml` has that of commands."""
    import yaml

    text = (files("lapsus.cli") / "help_ja.yaml").read_text(encoding="utf-8")
    commands: dict[str, str] = yaml.safe_load(text)
    return commands | {one.en: one.ja for place in parameters().values() for one in place.values()}


def _is(parameter: Any, kind: str) -> bool:
    return parameter.param_type_name == kind and not getattr(parameter, "hidden", False)


def _row(parameter: Any, ctx: Any) -> tuple[str, str]:
    """The name of an argument or option as it is written, and what it is for."""
    name, text = parameter.get_help_record(ctx) or (parameter.name, "")
    help = parameter.help or ""
    more = text[len(help) :].strip() if text.startswith(help) else ""
    parts = [part for part in more.removeprefix("[").removesuffix("]").split("; ") if part]
    shown = name.partition(" <")[0] if parameter.param_type_name == "argument" else name
    if reader_language() != "ja":
        return shown, said(help) + (f" [{'; '.join(parts)}]" if parts else "")
    for english, japanese in _EXTRAS.items():
        parts = [part.replace(english, japanese) for part in parts]
    return shown, said(help) + (f"［{'、'.join(parts)}］" if parts else "")


def _section(title: str, rows: list[tuple[str, str]], width: int) -> list[str]:
    if not rows:
        return []
    indent = min(_COLUMN, max(cells(name) for name, _ in rows)) + 2 * _GAP
    lines = [title]
    for name, text in rows:
        first, *rest = _wrapped(text, width - indent)
        if cells(name) + 2 * _GAP > indent:
            lines.append(" " * _GAP + name)
            lines.append(" " * indent + first)
        else:
            lines.append(f"{' ' * _GAP}{name}".ljust(indent) + first)
        lines += (" " * indent + line for line in rest)
    return ["\n".join(lines)]


def _wrapped(text: str, width: int) -> Iterator[str]:
    """Lines of at most so many places; Japanese signs take two, and a line may end after any of them."""
    line = ""
    for piece in _PIECE.findall(text):
        if line and cells(line) + cells(piece) > width:
            yield line.rstrip()
            line = ""
        line += piece if line or piece != " " else ""
    yield line.rstrip()


_SAID = (
    (r"Missing argument (.+?)\.(.*)", r"引数 \1 がありません。\2"),
    (r"Missing option (.+?)\.(.*)", r"オプション \1 を指定してください。\2"),
    (r"Missing command\.", "コマンドを指定してください。"),
    (r"No such option: (\S+) \(Possible options: (.+)\)", r"\1 というオプションはありません。\2 のことですか。"),
    (r"No such option: (\S+)", r"\1 というオプションはありません。"),
    (r"No such command (.+?)\. Did you mean (.+)\?", r"\1 というコマンドはありません。\2 のことですか。"),
    (r"No such command (.+?)\.", r"\1 というコマンドはありません。"),
    (r"Got unexpected extra argument(?:s|\(s\))? \((.+)\)", r"余分な引数があります：\1"),
    (r"Option (.+) does not take a value\.", r"オプション \1 に値は付けられません。"),
    (r"Option (.+) requires an argument\.", r"オプション \1 には値が必要です。"),
    (r"Option (.+) requires (\d+) arguments\.", r"オプション \1 には値が\2個必要です。"),
    (r"Invalid value for (.+?): (.+) is not in the range (.+)\.", r"\1 の値 \2 は範囲（\3）の外です。"),
    (r"Invalid value for (.+?): (.+) is not a valid int(?:eger)?(?: range)?\.", r"\1 の値 \2 は整数ではありません。"),
    (r"Invalid value for (.+?): (.+) is not a valid float(?: range)?\.", r"\1 の値 \2 は数ではありません。"),
    (r"Invalid value for (.+?): (.+) is not one of (.+)\.", r"\1 の値 \2 は使えません。使えるもの：\3"),
    (r"Invalid value for (.+?): (.+)", r"\1 の値が正しくありません：\2"),
)  # fmt: skip
"""The longer ones first: the first that fits is said."""


@contextmanager
def in_readers_words() -> Iterator[None]:
    """Have a wrong use of the command line told in the reader's language."""
    try:
        yield
    except Exception as error:
        # By what it can do: the library keeps the class to itself. Help is no error, and speaks for itself.
        is_usage = hasattr(error, "format_message") and hasattr(error, "ctx")
        if is_usage and type(error).__name__ != "NoArgsIsHelpError" and reader_language() == "ja":
            error.show = partial(_show, error)  # type: ignore[attr-defined]
        raise


def in_japanese(message: str) -> str:
    """What the library says of a wrong use, in Japanese; as it is where it says something new."""
    for english, japanese in _SAID:
        if found := re.fullmatch(english, message, re.DOTALL):
            return found.expand(japanese)
    return message


def _show(error: Any, file: IO[str] | None = None) -> None:
    stream = file or sys.stderr
    if error.ctx is not None:
        option = error.ctx.help_option_names[0]
        print(usage_of(error.ctx.command, error.ctx), file=stream)
        print(f"使い方の説明は `{error.ctx.command_path} {option}` で表示されます。\n", file=stream)
    print(f"エラー：{in_japanese(error.format_message())}", file=stream)
