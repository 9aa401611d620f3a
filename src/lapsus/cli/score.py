"""`lapsus score`: runs against what people said."""

from __future__ import annotations

from typing import Annotated

import typer

from lapsus.cli.convert import OnlyOption
from lapsus.cli.output import JsonOption
from lapsus.cli.result_tables import (
    BySystem,
    CsvOption,
    DropBrokenOption,
    GoldArgument,
    LatexOption,
    QuestionOption,
    ResamplesOption,
    RuleOption,
    RunsArgument,
    SchemeOption,
    SeedOption,
    ThresholdOption,
    announce,
    bootstrap_plan,
    print_result,
)


def score_command(
    gold: GoldArgument,
    runs: RunsArgument,
    threshold: ThresholdOption = None,
    rule: RuleOption = "program",
    by: BySystem = None,
    scheme: SchemeOption = None,
    question: QuestionOption = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "--measure", "-m", help="A score, e.g. ratings or pearson; may be repeated.", metavar="NAME"
        ),
    ] = None,
    only: OnlyOption = None,
    drop_broken: DropBrokenOption = False,
    resamples: ResamplesOption = 1000,
    seed: SeedOption = 0,
    csv: CsvOption = False,
    latex: LatexOption = False,
    as_json: JsonOption = False,
) -> None:
    """Score runs against what people said, with intervals, signature and floors."""
    from lapsus.analysis import score

    bootstrap = bootstrap_plan(resamples, seed)
    options = {
        "scheme": scheme,
        "questions": question or (),
        "measures": measure or (),
        "threshold": threshold,
        "rule": rule,
        "by": by,
        "only": only,
        "drop_broken": drop_broken,
    }
    table = score(gold, *runs, **options, bootstrap=bootstrap, announce=announce)  # type: ignore[arg-type]
    is_wide = len(table.columns) > 6
    print_result(table, as_json=as_json, csv=csv, latex=latex, across=is_wide)
