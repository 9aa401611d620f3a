"""How commands print a table of results, and options that several of them share."""

import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TypeGuard

import msgspec

from lapsus.cli.output import in_words, reader_language, remark, warn, word
from lapsus.errors import LapsusError, UsageError
from lapsus.formats import EntryStream
from lapsus.measures.bootstrap import Bootstrap
from lapsus.measures.score import Score
from lapsus.notices import Notice
from lapsus.reports import Table
from lapsus.reports.table import Cell


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
        notes=tuple(map(in_words, table.notes)),
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
