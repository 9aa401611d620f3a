"""Every two annotators who judged a unit together: how often which of their answers met.

Cohen's kappa and Scott's pi, coefficients of two annotators, are worked out for all pairs at once from these
tables, and their mean over pairs is the coefficient of more than two.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lapsus.measures.agreement.answer_codes import LINES, Coded, choose, coded, nominal, ratio, require_names
from lapsus.measures.agreement.patterns import ALONE, distinct_rows
from lapsus.measures.bootstrap import (
    TELLING,
    USUAL,
    Bootstrap,
    Floats,
    interval,
    resampled_times,
    smoothed_interval,
)
from lapsus.measures.score import SAME, Interval, Score, signature
from lapsus.model.votes import MISSING, LabelVotes, ScaleVotes

_BLOCK = 1 << 22
"""How many meetings of answers are looked at together."""
_KEPT = 1 << 25
"""Up to how many meetings are kept for the bootstrap; more are found again for each resample."""

PairKernel: TypeAlias = Callable[[Floats], Floats]
"""From tables of answers by answers `(..., K, K)` to a coefficient `(...)`, NaN where it is undefined."""


class Meetings(NamedTuple):
    """Two annotators answered the same unit: which pattern of the unit, and which cell of their table."""

    pattern: NDArray[np.intp]
    cell: NDArray[np.intp]


class PairMatrix(NamedTuple):
    """A coefficient for every two annotators, NaN where undefined, and on how many units they met."""

    annotators: tuple[str, ...]
    values: Floats
    shared: NDArray[np.int64]


class PairTables:
    """The tables of all pairs of annotators, for the units as they are or as often as a resample has them."""

    def __init__(self, answers: Coded) -> None:
        # Codes from 0 on; wider, since the highest code of the narrow type would fall off the end.
        wide = answers.codes.astype(np.promote_types(answers.codes.dtype, np.int16))
        rows, self.times = distinct_rows(wide - MISSING)
        self.codes = rows + MISSING
        self.labels = len(answers.names)
        self.annotators = answers.codes.shape[1]
        self.raters = (self.codes >= 0).sum(axis=1)
        self.shared = self._shared()
        self.pairs = np.argwhere(self.shared)
        self._number = np.full(self.shared.shape, -1)
        self._number[tuple(self.pairs.T)] = np.arange(len(self.pairs))
        few = (self.raters * (self.raters - 1) // 2).sum() <= _KEPT
        self._kept = [self._placed(meeting) for meeting in self._meetings()] if few else None

    def tables(self, times: NDArray[np.integer]) -> Floats:
        """For each pair `(pairs, K, K)`, how often each two answers met, patterns counting so many times."""
        total = np.zeros(len(self.pairs) * self.labels**2)
        found = map(self._placed, self._meetings()) if self._kept is None else self._kept
        for pattern, cell in found:
            total += np.bincount(cell, times[pattern], len(total))
        return total.reshape(len(self.pairs), self.labels, self.labels)

    def unseen(self, times: NDArray[np.integer]) -> tuple[int, Floats]:
        """How many units hold anything but the usual label, and a table of what they might have held besides.

        As for coefficients of counts: for each unusual label half a unit on which both gave it and half a split one.
        """
        used = np.array([((self.codes == label).sum(axis=1) * times).sum() for label in range(self.labels)])
        usual = int(used.argmax())
        telling = int(times[((self.codes >= 0) & (self.codes != usual)).any(axis=1)].sum())
        table = np.zeros((self.labels, self.labels))
        for label in range(self.labels):
            if label != usual:
                table[label, label] = 0.5
                table[label, usual] = table[usual, label] = 0.25
        return telling, table

    def _meetings(self) -> Iterator[tuple[NDArray[np.intp], ...]]:
        """Pattern, left and right annotator, and both answers, of all meetings, in blocks."""
        step = max(1, _BLOCK // max(1, int(self.raters.max(initial=0)) ** 2))
        for raters in np.unique(self.raters[self.raters >= 2]):
            here = np.flatnonzero(self.raters == raters)
            left, right = np.triu_indices(raters, 1)
            for start in range(0, len(here), step):
                rows = here[start : start + step]
                who = np.nonzero(self.codes[rows] >= 0)[1].reshape(-1, raters)
                what = np.take_along_axis(self.codes[rows], who, axis=1)
                patterns = np.repeat(rows, len(left))
                yield (
                    patterns,
                    *(part.ravel() for side in (who, what) for part in (side[:, left], side[:, right])),
                )

    def _shared(self) -> NDArray[np.int64]:
        """On how many units each two annotators met, above the diagonal."""
        shared = np.zeros(self.annotators**2)
        for pattern, left, right, _, _ in self._meetings():
            shared += np.bincount(left * self.annotators + right, self.times[pattern], len(shared))
        return shared.astype(np.int64).reshape(self.annotators, self.annotators)

    def _placed(self, meeting: tuple[NDArray[np.intp], ...]) -> Meetings:
        pattern, left, right, one, other = meeting
        return Meetings(pattern, (self._number[left, right] * self.labels + one) * self.labels + other)


def pair_tables(votes: LabelVotes | ScaleVotes, measure: str) -> tuple[Coded, PairTables]:
    """The tables of all pairs of annotators, if the votes say who gave them."""
    answers = coded(votes, measure, LabelVotes, ScaleVotes)
    require_names(votes, measure, "fleiss, alpha or ac1")
    return answers, PairTables(answers)


def mean_over_pairs(
    measure: str, answers: Coded, found: PairTables, kernel: PairKernel, bootstrap: Bootstrap | None
) -> Score:
    """The plain mean of a coefficient over the pairs of annotators for which it is defined."""
    n = int(found.times[found.raters >= 2].sum())
    parts = {"pairs": len(found.pairs), "labels": ",".join(answers.names)}
    values = kernel(found.tables(found.times))
    value = _mean(values)
    if np.isnan(value):
        return Score(measure, None, n, note=SAME if n else ALONE, signature=signature(**parts))
    around = _interval(found, kernel, bootstrap, value)
    line = signature(**parts, boot=bootstrap if around else None)
    details = {"pairs": len(values), "undefined": int(np.isnan(values).sum())}
    return Score(measure, value, n, around, signature=line, details=details)


def pair_matrix(annotators: tuple[str, ...], found: PairTables, kernel: PairKernel) -> PairMatrix:
    """A coefficient for every two annotators."""
    values = np.full(found.shared.shape, np.nan)
    values[tuple(found.pairs.T)] = kernel(found.tables(found.times))
    return PairMatrix(annotators, np.fmax(values, values.T), found.shared + found.shared.T)


def _mean(values: Floats) -> float:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else np.nan


def _interval(
    found: PairTables, kernel: PairKernel, bootstrap: Bootstrap | None, value: float
) -> Interval | None:
    met = found.raters >= 2
    if bootstrap is None or found.times[met].sum() < 2:
        return None
    times = np.where(met, found.times, 0)
    groups = int(times.sum())
    draws = (draw for block in resampled_times(times, bootstrap) for draw in block)
    telling, unseen = found.unseen(times)
    if telling >= TELLING:
        drawn = [_mean(kernel(found.tables(draw))) for draw in draws]
        return interval(np.array(drawn), bootstrap.level, value=value, groups=groups)
    chance = np.random.default_rng((bootstrap.seed, found.labels))
    drawn = [_mean(kernel(found.tables(draw) + chance.gamma(unseen))) for draw in draws]
    smoothed = _mean(kernel(found.tables(times) + unseen))
    return smoothed_interval(np.array(drawn), bootstrap.level, value=value, smoothed=smoothed, groups=groups)


WEIGHTS = tuple(LINES)


def cohen_value(tables: Floats, distance: Floats) -> Floats:
    """Kappa of tables of the one's answers by the other's `(..., K, K)`; `distance` is the cost of a miss."""
    one, other = tables.sum(axis=-1), tables.sum(axis=-2)
    expected = (one @ distance * other).sum(axis=-1)
    kappa: Floats = 1 - ratio((tables * distance).sum(axis=(-1, -2)) * one.sum(axis=-1), expected)
    return kappa


def cohen_kappa(
    votes: LabelVotes | ScaleVotes, weights: str = "none", *, bootstrap: Bootstrap | None = USUAL
) -> Score:
    """Cohen's kappa of two annotators on the units that both judged; of more, the plain mean over pairs.

    Linear and quadratic weights are for labels in order: a miss costs the distance between the labels'
    numbers (between their places, where they are no numbers), or its square. Pairs without a unit in common,
    or without any variation, are left out of the mean; `details` says how many had no variation.
    """
    measure = "cohen" if choose("kind-weighting", weights, WEIGHTS) == "none" else f"cohen({weights})"
    answers, found = pair_tables(votes, measure)
    distance = LINES[weights](answers.numbers)
    return mean_over_pairs(measure, answers, found, lambda tables: cohen_value(tables, distance), bootstrap)


def cohen_matrix(votes: LabelVotes | ScaleVotes, weights: str = "none") -> PairMatrix:
    """Cohen's kappa of every two annotators."""
    choose("kind-weighting", weights, WEIGHTS)
    answers, found = pair_tables(votes, "cohen")
    distance = LINES[weights](answers.numbers)
    return pair_matrix(votes.annotators, found, lambda tables: cohen_value(tables, distance))


def scott_value(tables: Floats) -> Floats:
    """Pi of tables of the one's answers by the other's `(..., K, K)`."""
    distance = nominal(tables.shape[-1])
    both = tables.sum(axis=-1) + tables.sum(axis=-2)
    expected = (both @ distance * both).sum(axis=-1)
    pi: Floats = 1 - ratio(2 * (tables * distance).sum(axis=(-1, -2)) * both.sum(axis=-1), expected)
    return pi


def scott_pi(votes: LabelVotes | ScaleVotes, *, bootstrap: Bootstrap | None = USUAL) -> Score:
    """Scott's pi of two annotators on the units that both judged; of more, the plain mean over pairs.

    For more than two annotators at once, Fleiss' kappa is the same idea.
    """
    answers, found = pair_tables(votes, "scott")
    return mean_over_pairs("scott", answers, found, scott_value, bootstrap)


def scott_matrix(votes: LabelVotes | ScaleVotes) -> PairMatrix:
    """Scott's pi of every two annotators."""
    _, found = pair_tables(votes, "scott")
    return pair_matrix(votes.annotators, found, scott_value)
