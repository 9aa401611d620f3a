"""Learning one question, and saying honestly how well it was learned: everything is cross-validated by document."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.judge.agreement import Agreement, Figure, agreement
from lapsus.annotators.judge.decisions import Decision, decide, fitted_decision
from lapsus.annotators.judge.people_answers import PeopleAnswers
from lapsus.annotators.judge.ranking import Ranking, ranking, ranking_value
from lapsus.annotators.judge.regression import Weights, fit, predict
from lapsus.kinds import Kind
from lapsus.model import Answer
from lapsus.notices import Notice
from lapsus.reports import Table

Matrix: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = NDArray[np.float32]

FOLDS, MORE_FOLDS, FEW_DOCUMENTS = 5, 10, 50
"""Parts of cross-validation; more of them where there are few documents, so that each part learns from most."""
_INNER: Final = 4
_FEW: Final = 1_000
"""Units below which penalties are compared on every inner fold, and not on one."""
PENALTIES: Final = (0.3, 0.1, 0.03, 0.01)
PARTS: Final = (0.25, 0.5, 1.0)
"""Of the documents, for the learning curve."""
_GAIN: Final = 0.01
"""What twice as many judgments must have brought for more to be worth it."""
_TINY: Final = 1e-4
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


class Point(msgspec.Struct, frozen=True):
    """A point of a learning curve."""

    units: int
    value: float
    """AUC, or Spearman's correlation for scales; for marks agreement with people beyond chance."""


class Report(msgspec.Struct, frozen=True):
    """What is known of the answers to one question, from units of documents that the judge had not learned from."""

    question: str
    units: int
    documents: int
    agreement: Agreement
    curve: tuple[Point, ...]
    answered: bool
    """Whether units are told apart better than by chance; else only shares are given."""
    ranking: Ranking | None = None
    """None for marks."""

    @property
    def gain(self) -> float:
        """What the last doubling of judgments brought."""
        return self.curve[-1].value - self.curve[-2].value

    @property
    def more_would_help(self) -> bool:
        """Whether more judgments are likely to make the judge better."""
        return self.gain > _GAIN


class Model(NamedTuple):
    """One question as it was learned."""

    weights: Weights
    decision: Decision
    competing: bool = False
    """Whether the shares of several labels add up to 1: the likelier one is, the less likely are the others."""


class _Tuned(NamedTuple):
    """What was chosen on documents kept back."""

    penalty: float
    decision: Decision


def exclusive(kind: Kind) -> bool:
    """Whether just one of the choices is given, so that their shares add up to 1."""
    return not kind.several


def predicted(rows: Rows, model: Model, kind: Kind) -> Matrix:
    """The shares of the choices."""
    return predict(rows, model.weights, exclusive=model.competing or exclusive(kind))


def learn(
    given: PeopleAnswers, rows: Rows, seed: int, measured: PeopleAnswers | None = None
) -> tuple[Model, Report]:
    """Learn from all rows, and report on how well rows of other documents are answered.

    `measured` are those of the answers by which that is told, where not by all: a part of the same units.
    """
    generator = np.random.default_rng(seed)
    documents = int(given.groups.max()) + 1
    parts = min(FOLDS if documents >= FEW_DOCUMENTS else MORE_FOLDS, documents)
    folds = generator.permutation(documents)[given.groups] % parts
    order = generator.permutation(documents)[given.groups]
    shares = {part: np.zeros(given.shares.shape) for part in PARTS}
    answers: list[Answer] = [""] * len(given)
    for fold in range(parts):
        train, test = folds != fold, folds == fold
        tuned = _tune(given.where(train), rows[train], seed)
        for part in PARTS:
            some = train & (order < max(1, round(part * documents)))
            kept = some if some.any() else train
            shares[part][test] = _predict(
                rows[test], _fit(given.where(kept), rows[kept], tuned.penalty), given
            )
        for row in np.flatnonzero(test):
            answers[row] = decide(given.kind, shares[1.0][row], tuned.decision)
    told = measured if measured is not None and len(measured) else given
    places = np.searchsorted(given.rows, told.rows)
    said = [answers[place] for place in places.tolist()]
    ranked = ranking(told, shares[1.0][places], said)
    share = 1 - 1 / parts
    curve = tuple(
        Point(round(part * share * len(given)), round(ranking_value(told, shares[part][places]), 4))
        for part in PARTS
    )
    found = agreement(told, said)
    report = Report(
        given.kind.question.id, len(given), documents, found, curve, ranked.is_above_chance, ranked
    )
    weights = _fit(given, rows, _tune(given, rows, seed).penalty)
    # Shares for documents that were not learned from, of which there are most here, are those of documents to come.
    return Model(weights, fitted_decision(given, shares[1.0])), report


def _fit(given: PeopleAnswers, rows: Rows, penalty: float) -> Weights:
    return fit(rows, given.shares, penalty, exclusive=exclusive(given.kind))


def _predict(rows: Rows, weights: Weights, given: PeopleAnswers) -> Matrix:
    return predict(rows, weights, exclusive=exclusive(given.kind))


def _tune(given: PeopleAnswers, rows: Rows, seed: int) -> _Tuned:
    """The penalty that predicts shares best on documents kept back, and how answers are taken from the shares there."""
    groups = np.unique(given.groups, return_inverse=True)[1]
    documents = int(groups.max()) + 1
    if documents < 2:
        return _Tuned(PENALTIES[0], fitted_decision(given, given.shares))
    count = min(_INNER, documents)
    folds = np.random.default_rng(seed).permutation(documents)[groups] % count
    tried = range(count if len(given) < _FEW else 1)
    held = np.isin(folds, list(tried))
    shares = np.zeros((len(PENALTIES), *given.shares.shape))
    for fold in tried:
        train, test = folds != fold, folds == fold
        start: Weights | None = None
        for place, penalty in enumerate(PENALTIES):
            start = fit(
                rows[train], given.shares[train], penalty, exclusive=exclusive(given.kind), start=start
            )
            shares[place, test] = _predict(rows[test], start, given)
    losses = [_surprise(one[held], given.shares[held], exclusive(given.kind)) for one in shares]
    best = int(np.argmin(losses))
    return _Tuned(PENALTIES[best], fitted_decision(given.where(held), shares[best, held]))


def _surprise(shares: Matrix, truth: Matrix, one_of_them: bool) -> float:
    """Cross-entropy: what the regression minimises."""
    kept = np.clip(shares, _TINY, 1 - _TINY)
    found = -(truth * np.log(kept)).sum()
    return float(found if one_of_them else found - ((1 - truth) * np.log(1 - kept)).sum())


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
