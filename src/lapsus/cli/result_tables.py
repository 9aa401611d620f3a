"""How commands print a table of results, and options that several of them share."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from lapsus.cli.output import reader_language, remark, warn
from lapsus.errors import UsageError
from lapsus.formats import EntryStream
from lapsus.measures.bootstrap import Bootstrap
from lapsus.reports import Table
from lapsus.translation import translated

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
ResamplesOption = Annotated[
    int, typer.Option("--resamples", help="Resamples for the intervals; 0 for none.", min=0, metavar="N")
]
SeedOption = Annotated[int, typer.Option("--seed", help="Seed of the resampling.", min=0, metavar="N")]
DropBrokenOption = Annotated[
    bool, typer.Option("--drop-broken", help="Leave out judgments that break the guideline.")
]
GoldArgument = Annotated[Path, typer.Argument(help="What people said: file, folder or zip.", metavar="GOLD")]
RunsArgument = Annotated[
    list[Path], typer.Argument(help="Runs to score: files, folders or zips.", metavar="RUN…")
]


def bootstrap_plan(resamples: int, seed: int) -> Bootstrap | None:
    """How intervals are made; None for no intervals."""
    if resamples == 1:
        raise UsageError("one resample makes no interval", hint="0 for none, or a thousand")
    return Bootstrap(resamples, seed) if resamples else None


def announce(reading: EntryStream) -> None:
    """Say which format a source was recognised as."""
    if reading.recognised:
        remark(f"{reading.source.path} is read as {reading.format.name}")


def tell_broken(notes: Iterable[str]) -> None:
    """Say what was found of judgments that break the guideline."""
    for note in notes:
        if note.startswith("warning: "):
            warn(note.removeprefix("warning: "))
        else:
            remark(note)


def _in_words(note: str) -> str:
    """A note below a table, in the reader's language."""
    language, warning = reader_language(), "warning: "
    if not note.startswith(warning):
        return translated(note, language)
    begin = "警告：" if language == "ja" else warning
    return begin + translated(note.removeprefix(warning), language)


def print_result(table: Table, *, as_json: bool, csv: bool, latex: bool, across: bool = False) -> None:
    """Print a table the way that was asked for. `across` turns wide tables for the terminal."""
    if sum((as_json, csv, latex)) > 1:
        raise UsageError("choose one of --json, --csv and --latex")
    if as_json:
        text = table.to_json()
    elif csv:
        text = table.to_csv()
    elif latex:
        text = table.to_latex()
    else:
        notes = tuple(_in_words(note) for note in table.notes)
        text = replace(table.transposed() if across else table, notes=notes).to_text()
    sys.stdout.write(text if text.endswith("\n") else text + "\n")
    if as_json or csv or latex:
        tell_broken(note for note in table.notes if note.startswith("warning: "))
