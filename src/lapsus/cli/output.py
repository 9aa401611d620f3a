"""What commands print: results on standard output, everything else on standard error."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import regex
import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table

from lapsus.errors import LapsusError, UsageError
from lapsus.notices import as_text, localized, notice
from lapsus.word_files import LANGUAGES, word_file

_Item = TypeVar("_Item")
_CONTROL = regex.compile(r"[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069--\n\t]", regex.V1)


def shown(text: str) -> str:
    """Text of others without signs that a terminal would act on: they are spelt out."""
    return _CONTROL.sub(lambda found: found.group().encode("unicode_escape").decode(), text)


_chosen: list[str] = []
"""The language that --words named, for this run of the program."""


def choose_words(language: str | None) -> None:
    """Speak a language, whatever the terminal is set to; None: as the terminal is set."""
    if language is not None and language not in LANGUAGES:
        raise UsageError("no-words", hint="known", language=language, known=", ".join(LANGUAGES))
    _chosen[:] = [language] if language else []


def reader_language() -> str:
    """The language that --words names, else that of the user's terminal; English if it is none of ours."""
    if _chosen:
        return _chosen[0]
    for variable in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(variable):
            return "ja" if value.startswith("ja") else "en"
    return "en"


def word(english: str) -> str:
    """A word of a table, in the reader's language.

    Such words are too short to be told from others' in the catalogue of messages, so they have a list of their own.
    """
    if reader_language() == "en":
        return english
    known: dict[str, str] = word_file("lapsus.cli", "table_words_ja.yaml")
    return known.get(english, english)


def in_words(text: str, /, **fields: Any) -> str:
    """A notice by its id, in the reader's language; a text that is no notice, as it is."""
    return localized(notice(text, fields), reader_language())


def aside(text: str) -> str:
    """Words in brackets after others, as the reader's language writes them."""
    return f"（{text}）" if reader_language() == "ja" else f" ({text})"


def colon() -> str:
    """What stands between a name and what is said of it."""
    return "：" if reader_language() == "ja" else ": "


def out() -> Console:
    """Where results go. Piped or not, lines are never cut."""
    return Console(highlight=False, emoji=False, soft_wrap=not sys.stdout.isatty())


def notes() -> Console:
    """Where remarks, progress and errors go."""
    return Console(stderr=True, highlight=False, emoji=False, soft_wrap=True)


def print_json(value: Any) -> None:
    """The result for another program."""
    sys.stdout.write(
        msgspec.json.format(msgspec.json.encode(value, enc_hook=as_text), indent=2).decode() + "\n"
    )


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], numbers: Sequence[str] = ()
) -> None:
    """A plain table, its heads in the reader's language; the columns named in `numbers` stand to the right."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(word(column), justify="right" if column in numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*(escape(shown(str(cell))) for cell in row))
    out().print(table)


def say(text: str, /, to: Path | None = None, **fields: Any) -> None:
    """A result in words, in the reader's language; `to`: the file that holds it."""
    typer.echo(in_words(text, **fields) + ("" if to is None else f" → {to}"))


def remark(text: str, /, **fields: Any) -> None:
    """Something worth knowing that is no result."""
    notes().print(shown(in_words(text, **fields)), style="dim", markup=False)


def warn(text: str, /, **fields: Any) -> None:
    """Something that went less well than one might think."""
    begin = "警告" if reader_language() == "ja" else "warning"
    notes().print(f"{begin}{colon()}{shown(in_words(text, **fields))}", style="yellow", markup=False)


def complain(error: LapsusError) -> None:
    """An error: what, where, and what to do."""
    console, language = notes(), reader_language()
    said = error.in_language(language)
    begin = "エラー" if language == "ja" else "error"
    place = f"{said.where}{colon()}" if said.where else ""
    console.print(f"{begin}{colon()}{shown(place + said.what.rstrip())}", style="red", markup=False)
    if said.hint:
        console.print(f"  {shown(said.hint)}", markup=False)


@contextmanager
def progress(text: str, total: int | None = None) -> Iterator[Any]:
    """A bar on long work, only where somebody watches. Yields a function to call a step at a time."""
    console = notes()
    if not console.is_terminal:
        yield lambda *_: None
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(in_words(word(text)), total=total)
        yield lambda *_: bar.advance(task)


def counted(items: Iterable[_Item], step: Callable[[], object]) -> Iterator[_Item]:
    """The same items, one after another, with a step of a progress bar for each."""
    for item in items:
        step()
        yield item
