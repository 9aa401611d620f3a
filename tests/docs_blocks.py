"""The blocks of the documentation: found, run in order, and held against what the page says they print.

What stands after a block's language says how it is run:

- `needs="…"`: it needs something that a test does not have (`NEEDS`), and is not run;
- `title="FILE"`: not a command but a file, which is written to the folder;
- `exits="1"`: its last command ends with that code;
- `figures="vary"`: of what it prints, figures are not compared.

A `text` block after a `console` or `python` block is what that one printed. A line of `…` or `...` stands for any
lines, and `…` within a line for anything.
"""

from __future__ import annotations

import io
import shlex
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import regex
from typer.main import get_command

from lapsus.cli.app import app
from lapsus.cli.output import complain
from lapsus.errors import LapsusError

ROOT = Path(__file__).parents[1]
PAGES = [*sorted(ROOT.glob("README*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
NEEDS = {"corpus", "server", "network", "gpu", "language-model", "checkout", "package", "files"}
RUN = {"console", "python"}
SHOWN = {"", "text", "json", "yaml", "xml", "toml", "nginx", "csv"}
MARKS = {"needs", "title", "exits", "figures"}

COMMAND = get_command(app)
"""All commands, put together once: that takes longer than many of them."""

_BLOCK = regex.compile(r"^( *)```(\S*)[ ]*([^\n]*)\n(.*?)^\1```[ ]*$", regex.DOTALL | regex.MULTILINE)
_MARK = regex.compile(r'(\w+)=(?|"([^"]*)"|(\S+))')
_FIGURE = regex.compile(r"[-−+±]?(?:\d[\d,]*)?\.?\d+%?\**")


class Block(NamedTuple):
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    marks: dict[str, str]
    text: str
    previous: str
    """The language of the block before it, if nothing but white space stands between them."""

    @property
    def place(self) -> str:
        return f"{name_of(self.page)}:{self.line}"


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> Iterator[Block]:
    """All of them, in order; a mark that cannot be read is an error."""
    text, end, previous = page.read_text(encoding="utf-8"), 0, ""
    for found in _BLOCK.finditer(text):
        indent, language, info, content = found.groups()
        line = text.count("\n", 0, found.start()) + 1
        assert not _MARK.sub("", info).strip(), f"{name_of(page)}:{line}: {info!r} is no mark"
        if text[end : found.start()].strip():
            previous = ""
        content = regex.sub(f"(?m)^{indent}", "", content)
        yield Block(page, line, language, dict(_MARK.findall(info)), content, previous)
        end, previous = found.end(), language


class Command(NamedTuple):
    """A line after a prompt, and what the page says it prints; None where it says nothing."""

    words: list[str]
    shows: str | None


def commands(block: Block) -> list[Command]:
    found: list[tuple[str, list[str]]] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found and found[-1][0].endswith("\\"):
            found[-1] = (found[-1][0][:-1] + line, [])
        else:
            assert found, f"{block.place}: a console block begins with a prompt"
            found[-1][1].append(line)
    return [Command(shlex.split(line, comments=True), "\n".join(shows) or None) for line, shows in found]


class Session:
    """A page's blocks, run one after the other in the current folder."""

    def __init__(self, have: frozenset[str] = frozenset()) -> None:
        self.have = have
        self.names: dict[str, Any] = {}
        self.printed: tuple[str, ...] = ()
        """What the last command printed: all of it, and without remarks."""

    def run(self, block: Block) -> None:
        marks = block.marks
        if "needs" in marks and marks["needs"] not in self.have:
            self.printed = ()
        elif "title" in marks:
            Path(marks["title"]).write_text(block.text, encoding="utf-8")
        elif block.language == "console":
            self._console(block)
        elif block.language == "python":
            printed = io.StringIO()
            with redirect_stdout(printed):
                code = compile(block.text, block.place, "exec", dont_inherit=True)
                exec(code, self.names)  # noqa: S102
            self.printed = (printed.getvalue(),)
        elif block.language == "text" and block.previous in RUN and self.printed:
            compare(block, block.text, self.printed)

    def _console(self, block: Block) -> None:
        given = commands(block)
        for command in given:
            self.printed, code = lapsus(command.words, block.place)
            expected = int(block.marks.get("exits", 0)) if command is given[-1] else 0
            assert code == expected, f"{block.place}: {shlex.join(command.words)}\n{self.printed[0]}"
            if command.shows is not None:
                compare(block, command.shows, self.printed)


def lapsus(words: list[str], place: str) -> tuple[tuple[str, str], int]:
    """What a command prints, with remarks and without, and the code that it ends with."""
    assert words[0] == "lapsus", f"{place}: only `lapsus` is run; what needs more is marked"
    assert words[1:2] not in (["serve"], ["demo"]), (
        f'{place}: it would serve for ever; mark it needs="server"'
    )
    everything = io.StringIO()
    results = _Results(everything)
    stdin, sys.stdin = sys.stdin, io.StringIO("a password of eight words or more\n")
    try:
        with redirect_stdout(results), redirect_stderr(everything):
            code = exit_code(words[1:])
    finally:
        sys.stdin = stdin
    return (everything.getvalue(), results.getvalue()), code


class _Results(io.StringIO):
    """Standard output, of which a terminal shows everything."""

    def __init__(self, terminal: io.StringIO) -> None:
        super().__init__()
        self.terminal = terminal

    def write(self, text: str) -> int:
        self.terminal.write(text)
        return super().write(text)


def exit_code(arguments: list[str]) -> int:
    """Run a command as the program does; the code that it ends with."""
    try:
        COMMAND.main(arguments, prog_name="lapsus")
    except SystemExit as end:
        return int(end.code or 0)
    except LapsusError as error:
        complain(error)
        return error.exit_code
    return 0


def compare(block: Block, shown: str, printed: tuple[str, ...]) -> None:
    """Whether what was printed is what the page shows; white space at the ends of lines does not count."""

    def tidy(text: str) -> str:
        text = "\n".join(line.rstrip() for line in text.strip("\n").splitlines())
        if block.marks.get("figures") == "vary":
            text = regex.sub(r"[ \t]+", " ", _FIGURE.sub("0", text))
        return text

    parts = [regex.escape(part) for part in regex.split(r"…|(?m:^\.\.\.$)", tidy(shown))]
    wanted = regex.sub(r"(^|\\?\n)\.\*\?(?=\\?\n|$)", r"\1(?s:.*?)", ".*?".join(parts))
    same = any(regex.fullmatch(wanted, tidy(text)) for text in printed)
    assert same, f"{block.place} shows\n{shown}\nbut it printed\n{printed[0]}"
