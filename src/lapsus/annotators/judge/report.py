"""What a judge says of itself: a table and some sentences when it has learned, a few lines when it judges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lapsus.annotators.judge.agreement import Figure
from lapsus.annotators.judge.learning import Report
from lapsus.annotators.judge.ranking import Ranking
from lapsus.notices import Notice
from lapsus.reports import Table

_COLUMNS = (
    "question",
    "units",
    "AUC",
    "AUC of a person",
    "average precision (at random)",
    "judge",
    "people",
    "constant",
    "judge beyond chance",
    "people beyond chance",
    "learning curve",
)


def report_table(reports: Sequence[Report]) -> Table:
    """How well each question is answered on documents that were not learned from."""
    return Table(_COLUMNS, tuple(_row(report) for report in reports))


def report_lines(reports: Sequence[Report], unanswered: Sequence[str]) -> Iterator[str]:
    """What follows from the table, in words."""
    if any(_is_scale(report) for report in reports):
        yield Notice("scales-spearmans-correlation-peoples")
    tried = {report.question for report in reports if not report.answered}
    if shares := sorted(report.question for report in reports if not report.answered and report.ranking):
        yield Notice("no-better-chance-telling", shares=", ".join(shares))
    if marks := sorted(report.question for report in reports if not report.answered and not report.ranking):
        yield Notice("left-unanswered-no-better", marks=", ".join(marks))
    if others := [id for id in unanswered if id not in tried]:
        yield Notice("not-learned-too-few", others=", ".join(others))
    for report in reports:
        half, full = report.curve[-2:]
        brought = Notice(
            "units-brought", question=report.question, units=half.units, units2=full.units, gain=report.gain
        )
        told = "more-would-help" if report.more_would_help else "more-brings-little"
        yield Notice("prefixed", name=brought, text=Notice(told))


def short_lines(reports: Sequence[Report], unanswered: Sequence[str]) -> list[str]:
    """How well units are told apart, and agreement beyond chance, of the judge and of people, a line a question."""
    lines: list[str] = [
        Notice(
            "agrees-people-beyond-chance",
            question=report.question,
            value=_value(report.agreement.judge_beyond),
            value2=_value(report.agreement.people_beyond),
        )
        for report in reports
        if report.answered
    ]
    return [*lines, Notice("left-unanswered-2", unanswered=", ".join(unanswered))] if unanswered else lines


def _is_scale(report: Report) -> bool:
    return report.ranking is not None and report.ranking.measure == "Spearman"


def _row(report: Report) -> tuple[str | int, ...]:
    found = report.agreement
    curve = " → ".join(f"{_number(point.value)} ({point.units:,})" for point in report.curve)
    figures = (found.judge, found.people, found.floor, found.judge_beyond, found.people_beyond)
    return (report.question, report.units, *_ranked(report.ranking), *map(_with_interval, figures), curve)


def _ranked(ranked: Ranking | None) -> tuple[str, str, str]:
    if ranked is None:
        return "", "", ""
    precise = ""
    if ranked.average_precision is not None and ranked.prevalence is not None:
        precise = f"{_number(ranked.average_precision)} ({_number(ranked.prevalence)})"
    return _with_interval(ranked.judge), _value(Figure(ranked.people)), precise


def _with_interval(figure: Figure) -> str:
    if figure.value is None or figure.low is None or figure.high is None:
        return _value(figure)
    return f"{_number(figure.value)} [{_number(figure.low)}, {_number(figure.high)}]"


def _value(figure: Figure) -> str:
    return "n/a" if figure.value is None else _number(figure.value)


def _number(value: float) -> str:
    """As papers write it: .23"""
    return f"{value:.2f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.2f}"
