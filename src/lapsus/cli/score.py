"""`lapsus score`: runs against what people said."""

from __future__ import annotations

from lapsus.cli.convert import OnlyOption
from lapsus.cli.output import JsonOption
from lapsus.cli.tables import (
    BySystem,
    CsvOption,
    GoldArgument,
    LatexOption,
    QuestionOption,
    ResamplesOption,
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
    by: BySystem = None,
    scheme: SchemeOption = None,
    question: QuestionOption = None,
    only: OnlyOption = None,
    resamples: ResamplesOption = 1000,
    seed: SeedOption = 0,
    csv: CsvOption = False,
    latex: LatexOption = False,
    as_json: JsonOption = False,
) -> None:
    """Score runs against what people said, with intervals, signature and floors."""
    from lapsus.analysis import score

    plan = bootstrap_plan(resamples, seed)
    options = {"scheme": scheme, "questions": question or (), "threshold": threshold, "by": by, "only": only}
    table = score(gold, *runs, **options, plan=plan, announce=announce)  # type: ignore[arg-type]
    is_wide = len(table.columns) > 6
    print_result(table, as_json=as_json, csv=csv, latex=latex, across=is_wide)
