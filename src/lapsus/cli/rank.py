"""`lapsus rank`: systems by what annotators prefer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lapsus.cli.output import JsonOption, reader_language, remark
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


def rank_command(
    data: Annotated[Path, typer.Argument(help="Pairs of replies with their judgments.", metavar="DATA")],
    scheme: SchemeOption = None,
    question: QuestionOption = None,
    html: Annotated[
        Path | None, typer.Option("--html", help="Also write a page with a chart.", metavar="PAGE.html")
    ] = None,
    resamples: ResamplesOption = 1000,
    seed: SeedOption = 0,
    csv: CsvOption = False,
    latex: LatexOption = False,
    as_json: JsonOption = False,
) -> None:
    """Rank systems by which of two replies people prefer: Bradley–Terry, win rates, the place of a reply."""
    from lapsus.analysis.ranking import rank
    from lapsus.reports.ranking_page import write_ranking

    table = rank(
        data,
        scheme=scheme,
        questions=question or (),
        bootstrap=bootstrap_plan(resamples, seed),
        announce=announce,
    )
    print_result(table, as_json=as_json, csv=csv, latex=latex)
    if html is not None:
        write_ranking(table, html, reader_language())
        remark("ranking-written", path=html)
