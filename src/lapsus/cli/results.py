"""Commands that measure and print a table: `lapsus score`, `compare`, `agree`, `dif`, `rank`, `estimate`."""

from functools import partial
from pathlib import Path
from typing import Any

from lapsus.cli.output import reader_language, remark
from lapsus.cli.result_tables import announce, announce_once, bootstrap_plan, print_each_scheme, print_result
from lapsus.measures.bootstrap import Bootstrap


def agree_command(
    data: list[Path],
    scheme: str | None = None,
    question: list[str] | None = None,
    measure: list[str] | None = None,
    merge: str | None = None,
    each: bool = False,
    by: str | None = None,
    only: str | None = None,
    lang: str | None = None,
    drop_broken: bool = False,
    resamples: int = 1000,
    seed: int = 0,
    csv: bool = False,
    latex: bool = False,
    as_json: bool = False,
) -> None:
    """Show what a corpus holds and how far its annotators agree."""
    from lapsus.analysis.agreement import agree

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
    from lapsus.analysis.scores import score

    gold_rule: Any = rule
    table = score(
        gold,
        *runs,
        scheme=scheme,
        questions=question or (),
        measures=measure or (),
        threshold=threshold,
        rule=gold_rule,
        by=by,
        only=only,
        drop_broken=drop_broken,
        bootstrap=bootstrap_plan(resamples, seed),
        announce=announce,
    )
    print_result(table, as_json=as_json, csv=csv, latex=latex, across=len(table.columns) > 6)


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
    from lapsus.analysis.comparison import compare

    chosen: Any = test
    gold_rule: Any = rule
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
        bootstrap=Bootstrap(trials, seed),
        announce=announce,
    )
    print_result(table, as_json=as_json, csv=csv, latex=latex, across=len(table.columns) > 6)


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
    from lapsus.analysis.comparison import dif

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
    from lapsus.reports.report import write_ranking

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


def estimate_command(
    data: list[Path],
    judge: list[str] | None = None,
    jury: bool = False,
    scheme: str | None = None,
    question: list[str] | None = None,
    by: str | None = None,
    only: str | None = None,
    lang: str | None = None,
    csv: bool = False,
    latex: bool = False,
    as_json: bool = False,
) -> None:
    """Estimate shares of labels, means of scales and marks a text: judge alone, people alone, corrected."""
    from lapsus.analysis.estimate import estimate

    make = partial(
        estimate,
        *data,
        judges=judge or (),
        questions=question or (),
        by=by,
        jury=jury,
        only=only,
        language=lang,
        announce=announce_once(),
    )
    print_each_scheme(lambda under: make(scheme=under), scheme, as_json=as_json, csv=csv, latex=latex)
