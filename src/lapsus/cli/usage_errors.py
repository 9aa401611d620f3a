"""Wrong options and missing arguments, told in Japanese: the library that reads the command line knows English only."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import IO, Any

from lapsus.cli.output import reader_language

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
    from lapsus.cli.help_words import usage_of

    stream = file or sys.stderr
    if error.ctx is not None:
        option = error.ctx.help_option_names[0]
        print(usage_of(error.ctx.command, error.ctx), file=stream)
        print(f"使い方の説明は `{error.ctx.command_path} {option}` で表示されます。\n", file=stream)
    print(f"エラー：{in_japanese(error.format_message())}", file=stream)
