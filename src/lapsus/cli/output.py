"""What commands print: results on standard output, everything else on standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import msgspec
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

from lapsus.errors import LapsusError

JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
LangOption = Annotated[
    str | None,
    typer.Option("--lang", help="Language of the words shown (en, ja); yours by default.", metavar="LANG"),
]


def reader_language() -> str:
    """The language that the user's terminal is set to, English if it is none of ours."""
    for variable in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(variable):
            return "ja" if value.startswith("ja") else "en"
    return "en"


def out() -> Console:
    """Where results go. Piped or not, lines are never cut."""
    return Console(highlight=False, soft_wrap=not sys.stdout.isatty())


def notes() -> Console:
    """Where remarks, progress and errors go."""
    return Console(stderr=True, highlight=False, soft_wrap=True)


def print_json(value: Any) -> None:
    """The result for another program."""
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], numbers: Sequence[str] = ()
) -> None:
    """A plain table; the columns named in `numbers` stand to the right."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, justify="right" if column in numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*(escape(str(cell)) for cell in row))
    out().print(table)


def remark(text: str) -> None:
    """Something worth knowing that is no result."""
    notes().print(text, style="dim", markup=False)


def warn(text: str) -> None:
    """Something that went less well than one might think."""
    notes().print(f"warning: {text}", style="yellow", markup=False)


def complain(error: LapsusError) -> None:
    """An error: what, where, and what to do."""
    console = notes()
    console.print(
        f"error: {error.where + ': ' if error.where else ''}{error.what.rstrip()}", style="red", markup=False
    )
    if error.hint:
        console.print(f"  {error.hint}", markup=False)


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
        task = bar.add_task(text, total=total)
        yield lambda *_: bar.advance(task)
