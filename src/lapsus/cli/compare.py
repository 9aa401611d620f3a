"""`lapsus compare`: which differences between runs are more than chance."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from lapsus.cli.convert import OnlyOption
from lapsus.cli.output import JsonOption
from lapsus.cli.result_tables import (
    CsvOption,
    DropBrokenOption,
    GoldArgument,
    LatexOption,
    QuestionOption,
    RuleOption,
    RunsArgument,
    SchemeOption,
    SeedOption,
    ThresholdOption,
    announce,
    print_result,
)
from lapsus.measures.bootstrap import Bootstrap


def compare_command(
    gold: GoldArgument,
    runs: RunsArgument,
    scheme: SchemeOption = None,
    question: QuestionOption = None,
    baseline: Annotated[
        str | None,
        typer.Option("--baseline", help="Compare all with this run, not all with all.", metavar="RUN"),
    ] = None,
    test: Annotated[
        str, typer.Option("--test", help="How p-values are made: randomization or bootstrap.", metavar="TEST")
    ] = "randomization",
    threshold: ThresholdOption = None,
    rule: RuleOption = "program",
    only: OnlyOption = None,
    drop_broken: DropBrokenOption = False,
    trials: Annotated[
        int, typer.Option("--trials", help="How many swaps or draws.", min=100, metavar="N")
    ] = 10_000,
    seed: SeedOption = 0,
    csv: CsvOption = False,
    latex: LatexOption = False,
    as_json: JsonOption = False,
) -> None:
    """Compare runs on the same gold: differences, intervals, p-values corrected for their number."""
    from lapsus.analysis import compare

    chosen: Any = test
    gold_rule: Any = rule
    bootstrap = Bootstrap(trials, seed)
    table = compare(
        gold,
        *runs,
        scheme=scheme,
        questions=question or (),
        baseline=baseline,
        threshold=threshold,
        rule=gold_rule,
        test=chosen,
        only=only,
        drop_broken=drop_broken,
        bootstrap=bootstrap,
        announce=announce,
    )
    print_result(table, as_json=as_json, csv=csv, latex=latex, across=len(table.columns) > 6)
