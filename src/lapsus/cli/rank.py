"""`lapsus rank`: systems by what annotators prefer."""

from pathlib import Path

from lapsus.cli.output import reader_language, remark
from lapsus.cli.result_tables import announce, bootstrap_plan, print_result


def rank_command(
    data: list[Path],
    scheme: str | None = None,
    question: list[str] | None = None,
    html: Path | None = None,
    resamples: int = 1000,
    seed: int = 0,
    csv: bool = False,
    latex: bool = False,
    as_json: bool = False,
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
