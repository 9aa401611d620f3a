"""How commands print a table of results, and options that several of them share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, TypeGuard

import msgspec
import typer

from lapsus.cli.output import in_words, reader_language, remark, warn, word
from lapsus.errors import LapsusError, UsageError
from lapsus.formats import EntryStream
from lapsus.formats.remote import location
from lapsus.measures.bootstrap import Bootstrap
from lapsus.measures.score import Score
from lapsus.notices import Notice
from lapsus.reports import Table
from lapsus.reports.table import Cell

CsvOption = Annotated[bool, typer.Option("--csv", help="Print the table as CSV.")]
LatexOption = Annotated[bool, typer.Option("--latex", help="Print the table for LaTeX (booktabs).")]
BySystem = Annotated[str | None, typer.Option("--by", help="Also by group; known: system.", metavar="GROUP")]
SchemeOption = Annotated[
    str | None,
    typer.Option("--scheme", help="Judgments under which scheme, where there are several.", metavar="NAME"),
]
QuestionOption = Annotated[
    list[str] | None,
    typer.Option("--question", "-q", help="Only this question of the scheme; may be repeated.", metavar="ID"),
]
ThresholdOption = Annotated[
    float | None,
    typer.Option(
        "--threshold", "-t", help="Share that a gold label needs: 0 in the challenge's program, 0.5 in its paper.",
        min=0.0, max=1.0,
    ),
]  # fmt: skip
RuleOption = Annotated[
    str,
    typer.Option(
        "--rule",
        help="A breakdown's gold label needs at least the share (program) or more (paper).",
        metavar="RULE",
    ),
]
ResamplesOption = Annotated[
    int, typer.Option("--resamples", help="Resamples for the intervals; 0 for none.", min=0, metavar="N")
]
SeedOption = Annotated[int, typer.Option("--seed", help="Seed of the resampling.", min=0, metavar="N")]
DropBrokenOption = Annotated[
    bool, typer.Option("--drop-broken", help="Leave out judgments that break the guideline.")
]
GoldArgument = Annotated[
    Path,
    typer.Argument(
        help="What people said: file, folder or zip.",
        metavar="GOLD",
        parser=location,
    ),
]
RunsArgument = Annotated[
    list[Path],
    typer.Argument(
        help="Runs to score: files, folders or zips.",
        metavar="RUN…",
        parser=location,
    ),
]


def bootstrap_plan(resamples: int, seed: int) -> Bootstrap | None:
    """How intervals are made; None for no intervals."""
    if resamples == 1:
        raise UsageError("one-resample-makes-no", hint="0-none-thousand")
    return Bootstrap(resamples, seed) if resamples else None


def announce(reading: EntryStream) -> None:
    """Say which format a source was recognised as."""
    if reading.recognised:
        remark("read", source=reading.source.shown, name=reading.format.name)


def announce_once() -> Callable[[EntryStream], None]:
    """The same, of each source the first time that it is opened."""
    told: set[Path] = set()

    def tell(reading: EntryStream) -> None:
        if reading.source.path not in told:
            told.add(reading.source.path)
            announce(reading)

    return tell


def tell_broken(notes: Iterable[str]) -> None:
    """Say what was found of judgments that break the guideline."""
    for note in notes:
        if _is_warning(note):
            warn(note.fields["text"])
        else:
            remark(note)


def in_readers_words(table: Table) -> Table:
    """A table as a terminal shows it: heads, words in cells and notes in the reader's language."""
    if reader_language() == "en":
        return table
    return replace(
        table,
        columns=tuple(map(word, table.columns)),
        rows=tuple((_head(row[0]), *map(_cell, row[1:])) for row in table.rows),
        notes=tuple(map(_note, table.notes)),
    )


_HEADS = ("share ", "marks ", "given ", "positive agreement ", "negative agreement ", "expected agreement ")


def _head(cell: Cell) -> Cell:
    """The head of a row. Most are names, which stay as they are."""
    if not isinstance(cell, str):
        return cell
    question, colon, name = cell.rpartition(": ")
    for begin in _HEADS:
        if name.startswith(begin):
            return question + colon + word(f"{begin}{{}}").format(name.removeprefix(begin))
    return question + colon + word(name)


def _cell(cell: Cell) -> Cell:
    if isinstance(cell, Score) and cell.note:
        return msgspec.structs.replace(cell, note=in_words(cell.note))
    if not isinstance(cell, str):
        return cell
    many, end, _ = cell.partition(" more a person")
    return word(f"{{}}{end}").format(many) if end else word(cell)


def _note(note: str) -> str:
    return in_words(note)


def _is_warning(note: str) -> TypeGuard[Notice]:
    return isinstance(note, Notice) and note.id == "warning"


def print_each_scheme(
    make: Callable[[str | None], Table], scheme: str | None, *, as_json: bool, csv: bool, latex: bool
) -> None:
    """Print what is made under a scheme; for people to read, one after the other where data is judged under several.

    What another program reads is one table, so that there the scheme must be named.
    """
    from lapsus.analysis.corpus import SeveralSchemesError

    problems: dict[str, LapsusError] = {}
    try:
        tables = [make(scheme)]
    except SeveralSchemesError as several:
        if as_json or csv or latex:
            raise
        tables = []
        for name in several.schemes:
            try:
                tables.append(replace(make(name), title=name))
            except LapsusError as error:
                problems[name] = error
        if not tables:
            raise
    for place, table in enumerate(tables):
        sys.stdout.write("\n" if place else "")
        print_result(table, as_json=as_json, csv=csv, latex=latex)
    for name, problem in problems.items():
        said = problem.in_language(reader_language())
        text = Notice("bracketed", text=said.what, more=said.hint) if said.hint else said.what
        remark("prefixed", name=name, text=text)


def print_result(table: Table, *, as_json: bool, csv: bool, latex: bool, across: bool = False) -> None:
    """Print a table the way that was asked for. `across` turns wide tables for the terminal."""
    if sum((as_json, csv, latex)) > 1:
        raise UsageError("choose-one-json-csv-latex")
    if as_json:
        text = table.to_json()
    elif csv:
        text = table.to_csv()
    elif latex:
        text = table.to_latex()
    else:
        shown = in_readers_words(table)
        text = (shown.transposed() if across else shown).to_text()
    sys.stdout.write(text if text.endswith("\n") else text + "\n")
    if as_json or csv or latex:
        tell_broken(note for note in table.notes if _is_warning(note))
