"""`lapsus agree`: how far annotators agree."""

from __future__ import annotations

from typing import Annotated

import typer

from lapsus.cli.convert import DataLanguage, JudgedArgument, OnlyOption
from lapsus.cli.output import JsonOption
from lapsus.cli.result_tables import (
    BySystem,
    CsvOption,
    DropBrokenOption,
    LatexOption,
    QuestionOption,
    ResamplesOption,
    SchemeOption,
    SeedOption,
    announce,
    bootstrap_plan,
    print_result,
)


def agree_command(
    data: JudgedArgument,
    scheme: SchemeOption = None,
    question: QuestionOption = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "--measure", "-m", help="A measure, e.g. 'alpha(ordinal)'; may be repeated.", metavar="M"
        ),
    ] = None,
    merge: Annotated[
        str | None, typer.Option("--merge", help="Labels to count as one, e.g. PB+B.", metavar="A+B")
    ] = None,
    each: Annotated[
        bool, typer.Option("--each", help="Also each annotator, person or program, against all others.")
    ] = False,
    by: BySystem = None,
    only: OnlyOption = None,
    lang: DataLanguage = None,
    drop_broken: DropBrokenOption = False,
    resamples: ResamplesOption = 1000,
    seed: SeedOption = 0,
    csv: CsvOption = False,
    latex: LatexOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show what a corpus holds and how far its annotators agree."""
    from lapsus.analysis import agree

    table = agree(
        data,
        scheme=scheme,
        questions=question or (),
        measures=measure or (),
        merge=merge,
        each=each,
        by=by,
        only=only,
        language=lang,
        drop_broken=drop_broken,
        bootstrap=bootstrap_plan(resamples, seed),
        announce=announce,
    )
    print_result(table, as_json=as_json, csv=csv, latex=latex)
