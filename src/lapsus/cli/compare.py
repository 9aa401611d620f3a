"""`lapsus compare`: which differences between runs are more than chance."""

from pathlib import Path
from typing import Any

from lapsus.cli.result_tables import announce, print_result
from lapsus.measures.bootstrap import Bootstrap


def compare_command(
    gold: Path,
    runs: list[Path],
    scheme: str | None = None,
    question: list[str] | None = None,
    baseline: str | None = None,
    test: str = "randomization",
    threshold: float | None = None,
    rule: str = "program",
    only: str | None = None,
    drop_broken: bool = False,
    trials: int = 10_000,
    seed: int = 0,
    csv: bool = False,
    latex: bool = False,
    as_json: bool = False,
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
