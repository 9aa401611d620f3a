"""`lapsus dif`: whether two groups, such as readers of two texts of a guideline, answer alike."""

from pathlib import Path

from lapsus.cli.result_tables import announce, bootstrap_plan, print_result


def dif_command(
    first: Path,
    second: Path,
    scheme: str | None = None,
    question: list[str] | None = None,
    matched: bool = False,
    resamples: int = 1000,
    seed: int = 0,
    csv: bool = False,
    latex: bool = False,
    as_json: bool = False,
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
