"""`lapsus score`: runs against what people said."""

from pathlib import Path

from lapsus.cli.result_tables import announce, bootstrap_plan, print_result


def score_command(
    gold: Path,
    runs: list[Path],
    threshold: float | None = None,
    rule: str = "program",
    by: str | None = None,
    scheme: str | None = None,
    question: list[str] | None = None,
    measure: list[str] | None = None,
    only: str | None = None,
    drop_broken: bool = False,
    resamples: int = 1000,
    seed: int = 0,
    csv: bool = False,
    latex: bool = False,
    as_json: bool = False,
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
