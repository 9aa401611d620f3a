"""`lapsus dif`: whether two groups, such as readers of two texts of a guideline, answer alike."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lapsus.cli.output import JsonOption
from lapsus.cli.result_tables import (
    CsvOption,
    LatexOption,
    QuestionOption,
    ResamplesOption,
    SchemeOption,
    SeedOption,
    announce,
    bootstrap_plan,
    print_result,
)


def dif_command(
    first: Annotated[
        Path, typer.Argument(help="Judgments of one group, e.g. under the English text.", metavar="FIRST")
    ],
    second: Annotated[Path, typer.Argument(help="Judgments of the other group.", metavar="SECOND")],
    scheme: SchemeOption = None,
    question: QuestionOption = None,
    matched: Annotated[
        bool, typer.Option("--matched", help="Other units: match them by system, not unit by unit.")
    ] = False,
    resamples: ResamplesOption = 1000,
    seed: SeedOption = 0,
    csv: CsvOption = False,
    latex: LatexOption = False,
    as_json: JsonOption = False,
) -> None:
    """Test whether a guideline's language, or whatever sets two groups apart, moves the answers."""
    from lapsus.analysis.differential import dif

    table = dif(
        first,
        second,
        scheme=scheme,
        questions=question or (),
        matched=matched,
        bootstrap=bootstrap_plan(resamples, seed),
        announce=announce,
    )
    print_result(table, as_json=as_json, csv=csv, latex=latex)
