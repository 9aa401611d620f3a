"""Learning one question, and saying honestly how well it was learned: everything is cross-validated by document."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.judge.agreement import (
    Agreement,
    agreement,
    beyond_chance,
    likeness,
    plain_agreement,
)
from lapsus.annotators.judge.given_answers import GivenAnswers
from lapsus.annotators.judge.regression import Weights, fit, predict
from lapsus.kinds import Kind
from lapsus.model import Answer

Matrix: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = NDArray[np.float32]
Mask: TypeAlias = NDArray[np.bool_]

FOLDS, MORE_FOLDS, FEW_DOCUMENTS = 5, 10, 50
"""Parts of cross-validation; more of them where there are few documents, so that each part learns from most."""
_INNER: Final = 4
_FEW: Final = 1_000
"""Units below which penalties are compared on every inner fold, and not on one."""
PENALTIES: Final = (0.3, 0.1, 0.03, 0.01)
BALANCES: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
PARTS: Final = (0.25, 0.5, 1.0)
"""Of the documents, for the learning curve."""
_GAIN: Final = 0.01
"""What twice as many judgments must have brought for more to be worth it."""
_ABOVE: Final = 0.01
"""Where the interval of an agreement beyond chance must begin."""
_DOUBT: Final = 0.2
"""What a stronger balance must bring, times the root of the number of units: chance alone brings as much."""
_TINY: Final = 1e-4


class Point(msgspec.Struct, frozen=True):
    """A point of a learning curve."""

    units: int
    agreement: float
    """Of the judge with people, beyond chance."""


class Report(msgspec.Struct, frozen=True):
    """What is known of the answers to one question, from units of documents that the judge had not learned from."""

    question: str
    units: int
    documents: int
    agreement: Agreement
    curve: tuple[Point, ...]
    answered: bool
    """Whether the agreement is above what a constant answer reaches; else the question is left unanswered."""

    @property
    def gain(self) -> float:
        """What the last doubling of judgments brought."""
        return self.curve[-1].agreement - self.curve[-2].agreement

    @property
    def more_would_help(self) -> bool:
        """Whether more judgments are likely to make the judge better."""
        return self.gain > _GAIN


class Model(NamedTuple):
    """One question as it was learned."""

    weights: Weights
    prior: Matrix
    """The mean shares."""
    balance: float
    """How far choices that are rare are preferred: 0 takes the likeliest, 1 what is likelier than usual."""
    least: int = 0
    """Of how many choices an answer is made at least, where the question allows none."""


class Taste(NamedTuple):
    """How answers are taken from shares."""

    balance: float = 0.0
    least: int = 0


class Tuned(NamedTuple):
    """What was chosen on documents kept back."""

    penalty: float
    taste: Taste


def exclusive(kind: Kind) -> bool:
    """Whether just one of the choices is given, so that their shares add up to 1."""
    return not kind.several


def predicted(rows: Rows, model: Model, kind: Kind) -> Matrix:
    """The shares of the choices."""
    return predict(rows, model.weights, exclusive=exclusive(kind))


def decide(kind: Kind, shares: Matrix, prior: Matrix, balance: float) -> Answer:
    """The best answer that the rules allow, once rare choices were given their weight."""
    answer = kind.best(_balanced(shares, prior, balance, exclusive(kind)))
    if kind.question.in_order and isinstance(answer, tuple):
        likely = dict(zip(kind.choices, shares.tolist(), strict=True))
        return tuple(sorted(answer, key=lambda label: -likely[str(label)]))
    return answer


def choosing(kind: Kind, least: int) -> Kind:
    """The same question, where an answer is made of so many choices at least."""
    if not kind.several or kind.question.at_least >= least:
        return kind
    return type(kind)(msgspec.structs.replace(kind.question, at_least=least), kind.labels)


def learn(
    given: GivenAnswers, rows: Rows, seed: int, measured: GivenAnswers | None = None
) -> tuple[Model, Report]:
    """Learn from all rows, and report on how well rows of other documents are answered.

    `measured` are those of the answers by which that is told, where not by all: a part of the same units.
    """
    generator = np.random.default_rng(seed)
    documents = int(given.groups.max()) + 1
    parts = min(FOLDS if documents >= FEW_DOCUMENTS else MORE_FOLDS, documents)
    folds = generator.permutation(documents)[given.groups] % parts
    order = generator.permutation(documents)[given.groups]
    judged: dict[float, list[Any]] = {part: [None] * len(given) for part in PARTS}
    for fold in range(parts):
        train, test = folds != fold, folds == fold
        tuned = _tune(_part(given, train), rows[train], seed)
        for part in PARTS:
            kept = train & (order < max(1, round(part * documents)))
            model = _fit(
                _part(given, kept if kept.any() else train), rows[kept if kept.any() else train], tuned
            )
            kind = choosing(given.kind, tuned.taste.least)
            for row, shares in zip(np.flatnonzero(test), predicted(rows[test], model, kind), strict=True):
                judged[part][row] = decide(kind, shares, model.prior, tuned.taste.balance)
    told = measured if measured is not None and len(measured) else given
    places = np.searchsorted(given.rows, told.rows).tolist()
    said = {part: [answers[place] for place in places] for part, answers in judged.items()}
    found = agreement(told, said[1.0])
    share = 1 - 1 / parts
    curve = tuple(
        Point(round(part * share * len(given)), round(beyond_chance(told, said[part]), 4)) for part in PARTS
    )
    report = Report(given.kind.question.id, len(given), documents, found, curve, is_above(found))
    return _fit(given, rows, _tune(given, rows, seed)), report


def is_above(found: Agreement) -> bool:
    """Whether a judge is better than a constant answer.

    It must agree with people beyond chance, where a constant answer has 0, by all of its interval and a little. Its
    plain agreement must not be clearly below that of a constant answer, unless that of people is as low.
    """
    bar = min(found.floor.value or 0.0, found.people.value or 1.0)
    beyond, most = found.judge_beyond.low, found.judge.high
    return beyond is not None and beyond > _ABOVE and most is not None and most >= bar


def _fit(given: GivenAnswers, rows: Rows, tuned: Tuned) -> Model:
    weights = fit(rows, given.shares, tuned.penalty, exclusive=exclusive(given.kind))
    return Model(weights, given.shares.mean(axis=0), *tuned.taste)


def _tune(given: GivenAnswers, rows: Rows, seed: int) -> Tuned:
    """The penalty that predicts shares best, and the taste that agrees best, on documents kept back."""
    groups = np.unique(given.groups, return_inverse=True)[1]
    documents = int(groups.max()) + 1
    if documents < 2:
        return Tuned(PENALTIES[0], Taste(least=_least(given)[0]))
    count = min(_INNER, documents)
    folds = np.random.default_rng(seed).permutation(documents)[groups] % count
    tried = range(count if len(given) < _FEW else 1)
    held = np.isin(folds, list(tried))
    shares = np.zeros((len(PENALTIES), len(given), given.shares.shape[1]))
    for fold in tried:
        train, test = folds != fold, folds == fold
        start: Weights | None = None
        for place, penalty in enumerate(PENALTIES):
            start = fit(
                rows[train], given.shares[train], penalty, exclusive=exclusive(given.kind), start=start
            )
            shares[place, test] = predict(rows[test], start, exclusive=exclusive(given.kind))
    losses = [_surprise(one[held], given.shares[held], exclusive(given.kind)) for one in shares]
    best = int(np.argmin(losses))
    return Tuned(PENALTIES[best], best_taste(_part(given, held), shares[best, held]))


def best_taste(given: GivenAnswers, shares: Matrix) -> Taste:
    """The taste with the best agreement beyond chance, of those that do no worse than people and floor."""
    prior = given.shares.mean(axis=0)
    tastes = [Taste(balance, least) for least in _least(given) for balance in BALANCES]
    best, chosen = -np.inf, tastes[0]
    people = agreement_of_people(given)
    for taste in tastes:
        kind = choosing(given.kind, taste.least)
        judged = [decide(kind, row, prior, taste.balance) for row in shares]
        like = likeness(given, judged)
        codes = np.array([like.places[given.kind.same(answer)] for answer in judged], dtype=np.intp)
        floor = float((like.shares.mean(axis=0) @ like.table).max())
        if taste != tastes[0] and plain_agreement(like, codes) < min(floor, people):
            continue
        value = beyond_chance(given, judged)
        if value > best + _DOUBT / np.sqrt(len(judged)):
            best, chosen = value, taste
    return chosen


def _least(given: GivenAnswers) -> tuple[int, ...]:
    """Of how many choices an answer may be made at least: one where nobody chose none, though it was allowed.

    Of many choices none may be likelier than not, also where everybody makes one: "none" is an answer of its own.
    """
    if not given.kind.several:
        return (0,)
    gave_none = any(isinstance(answer, tuple) and not answer for answer in given.answers)
    return (0, 1) if gave_none else (1,)


def agreement_of_people(given: GivenAnswers) -> float:
    """The mean likeness of two people's answers to a unit; endless where nobody can be compared."""
    people = given.counts.sum(axis=1)
    if not (people > 1).any():
        return np.inf
    like = likeness(given)
    same = ((like.shares @ like.table) * like.shares).sum(axis=1)
    return float(((same * people - 1) / np.maximum(people - 1, 1))[people > 1].mean())


def _part(given: GivenAnswers, kept: Mask) -> GivenAnswers:
    return replace(
        given,
        rows=given.rows[kept],
        groups=given.groups[kept],
        shares=given.shares[kept],
        counts=given.counts[kept],
    )


def _surprise(shares: Matrix, truth: Matrix, one_of_them: bool) -> float:
    """Cross-entropy: what the regression minimises."""
    kept = np.clip(shares, _TINY, 1 - _TINY)
    found = -(truth * np.log(kept)).sum()
    return float(found if one_of_them else found - ((1 - truth) * np.log(1 - kept)).sum())


def _balanced(shares: Matrix, prior: Matrix, balance: float, one_of_them: bool) -> Matrix:
    """Shares in which a choice that is rare counts for more."""
    if not balance:
        return shares
    usual = np.clip(prior, _TINY, 1 - _TINY)
    if one_of_them:
        raised = shares / usual**balance
        found: Matrix = raised / max(float(raised.sum()), _TINY)
        return found
    odds = (shares / np.maximum(1 - shares, _TINY)) / (usual / (1 - usual)) ** balance
    return odds / (1 + odds)
