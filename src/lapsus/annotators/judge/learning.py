"""Learning one question, and saying honestly how well it was learned: everything is cross-validated by document."""

from __future__ import annotations

from typing import Final, NamedTuple, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.judge.agreement import Agreement, agreement
from lapsus.annotators.judge.decisions import Decision, decide, fitted_decision
from lapsus.annotators.judge.people_answers import PeopleAnswers
from lapsus.annotators.judge.ranking import Ranking, ranking, ranking_value
from lapsus.annotators.judge.regression import Weights, fit, predict
from lapsus.kinds import Kind
from lapsus.model import Answer

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


class _Tuned(NamedTuple):
    """What was chosen on documents kept back."""

    penalty: float
    decision: Decision


def exclusive(kind: Kind) -> bool:
    """Whether just one of the choices is given, so that their shares add up to 1."""
    return not kind.several


def predicted(rows: Rows, model: Model, kind: Kind) -> Matrix:
    """The shares of the choices."""
    return predict(rows, model.weights, exclusive=exclusive(kind))


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
