"""Vote patterns: how many annotators gave each label to a unit, and how many units have these very counts.

A million units are often only a few hundred patterns.

Coefficients that only need to know how often each label was given to each unit start here. All the
arithmetic, and every resample of the bootstrap, is then done on patterns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lapsus.errors import UsageError
from lapsus.measures.agreement.answer_codes import Coded, coded
from lapsus.measures.bootstrap import (
    SIGNED,
    TELLING,
    Bootstrap,
    Bounds,
    Floats,
    bootstrap_interval,
    resampled_sums,
    smoothed_interval,
)
from lapsus.measures.score import SAME, Interval, Score, signature, spread
from lapsus.model.votes import LabelVotes, ScaleVotes, count_labels
from lapsus.notices import Notice

ALONE = Notice("no-unit-answers-two")
"""The note of a score that is undefined because nobody can be compared."""
_HALF = 0.5
_FEW = 1 << 22
"""Up to how many possible patterns are counted in a table instead of being sorted."""
_LARGE = 1 << 62
"""From how many possible patterns on they cannot be numbered."""


class Patterns(NamedTuple):
    """Rows of label counts, each once, with the number of units that have it."""

    counts: Floats
    """A row a pattern, a column a label: how many annotators gave it."""
    times: NDArray[np.int64]
    """How many units have the pattern."""
    labels: str
    """The labels, for signatures."""
    answers: Coded | None = None
    """The answers that were counted; None where only counts were given."""

    @property
    def raters(self) -> Floats:
        """How many annotators voted on a unit of each pattern."""
        raters: Floats = self.counts.sum(axis=1)
        return raters

    @property
    def numbers(self) -> Floats:
        """The number of each label, for ordinal and interval weights: its own, or its place in the order."""
        if self.answers is None:
            return np.arange(self.counts.shape[1], dtype=np.float64)
        return self.answers.numbers

    def merged(self, groups: Sequence[Sequence[int]], labels: Sequence[str]) -> Patterns:
        """The same votes on merged labels: `groups` of columns, each column in one group, called `labels`."""
        counts = np.stack([self.counts[:, list(group)].sum(axis=1) for group in groups], axis=1)
        return histogram(counts.astype(np.int64), self.times, ",".join(labels))

    def with_votes(self, least: int) -> Patterns:
        """Only the units that at least so many voted on."""
        kept = self.raters >= least
        return self._replace(counts=self.counts[kept], times=self.times[kept])

    def score(
        self,
        measure: str,
        sums: Floats,
        value: Callable[[Floats], Floats],
        bootstrap: Bootstrap | None,
        *,
        if_same: float | None = None,
        bounds: Bounds = SIGNED,
        prior: Callable[[Floats], Floats] | None = None,
    ) -> Score:
        """The score of a measure, with its interval: `value` of the sum over units of `sums`, a row a pattern.

        `if_same` is what the measure is where everybody chose the same; None: it is undefined then. `prior` gives the
        sums of other patterns, for intervals where few units say anything.
        """
        if (undefined := self.undefined(measure)) is not None:
            if undefined.note != SAME or if_same is None:
                return undefined
            around = self._interval(sums, value, bootstrap, bounds, prior)
            return self.scored(measure, if_same, around, bootstrap, SAME)
        point = float(value(self.times @ sums))
        around = self._interval(sums, value, bootstrap, bounds, prior)
        return self.scored(measure, point, around, bootstrap)

    def _interval(
        self,
        sums: Floats,
        value: Callable[[Floats], Floats],
        bootstrap: Bootstrap | None,
        bounds: Bounds,
        prior: Callable[[Floats], Floats] | None,
    ) -> Interval | None:
        """The bootstrap's interval; where few units say anything, with what such units might have said.

        Units on which all gave the usual label tell nothing of agreement on another one. With fewer than `TELLING`
        others, each resample also holds a random part of a unit (half a one on average, as in Jeffreys' prior) on
        which all gave a label, and of one that is split, for each unusual label; the interval is `smoothed_interval`.
        """
        usual = int((self.times @ self.counts).argmax())
        telling = int(self.times[self.counts[:, usual] < self.raters].sum())
        if bootstrap is None or prior is None or telling >= TELLING or self.times.sum() < 2:
            return bootstrap_interval(sums, value, bootstrap, self.times, bounds)
        possible = prior(_unseen(self.counts.shape[1], usual, max(2, int(np.median(self.raters)))))
        chance = np.random.default_rng((bootstrap.seed, len(possible)))
        weights = chance.gamma(_HALF, size=(bootstrap.resamples, len(possible)))
        drawn = np.concatenate(list(resampled_sums(sums, bootstrap, self.times))) + weights @ possible
        with np.errstate(divide="ignore", invalid="ignore"):
            return smoothed_interval(
                value(drawn),
                bootstrap.level,
                value=float(value(self.times @ sums)),
                smoothed=float(value(self.times @ sums + _HALF * possible.sum(axis=0))),
                groups=int(self.times.sum()),
            )

    def undefined(self, measure: str) -> Score | None:
        """The score where nothing can be said of agreement: nobody to agree with, or nothing to agree on."""
        pairable = self.with_votes(2)
        if len(pairable.times) == 0:
            return self.scored(measure, None, None, None, ALONE)
        if np.count_nonzero(pairable.counts.any(axis=0)) < 2:
            return self.scored(measure, None, None, None, SAME)
        return None

    def scored(
        self,
        measure: str,
        value: float | None,
        around: Interval | None,
        bootstrap: Bootstrap | None,
        note: str | None = None,
    ) -> Score:
        """A score over the units that at least two annotators voted on."""
        pairable = self.with_votes(2)
        if value is not None and not np.isfinite(value):
            note = SAME
        line = signature(
            raters=spread(pairable.raters), labels=self.labels, boot=bootstrap if around else None
        )
        return Score(measure, value, int(pairable.times.sum()), around, note, line)


def _unseen(labels: int, usual: int, raters: int) -> Floats:
    """For each unusual label, a unit on which all gave it, and one on which half gave it and half the usual one."""
    rows = []
    for label in range(labels):
        if label != usual:
            for votes in (raters, raters // 2):
                row = np.zeros(labels)
                row[label], row[usual] = votes, raters - votes
                rows.append(row)
    return np.array(rows).reshape(-1, labels)


def patterns(votes: object, measure: str) -> Patterns:
    """The patterns of votes for one label or number each, or of an array of counts; or patterns as they are."""
    if isinstance(votes, Patterns):
        return votes
    if isinstance(votes, np.ndarray):
        counts = _checked(votes)
        return Patterns(*_counted(counts), labels=str(counts.shape[1]))
    answers = coded(votes, measure, LabelVotes, ScaleVotes)
    counts = count_labels(answers.codes, len(answers.names))
    labels = ",".join(answers.names) if isinstance(votes, LabelVotes) else str(len(answers.names))
    return Patterns(*_counted(counts), labels=labels, answers=answers)


def histogram(rows: NDArray[Any], times: NDArray[Any], labels: str, answers: Coded | None = None) -> Patterns:
    """Patterns that were counted elsewhere, some of them perhaps more than once, in the order of our own.

    The bootstrap draws pattern by pattern, so the same order gives the same intervals.
    """
    base = int(rows.max(initial=0)) + 1
    columns = rows.T if base ** rows.shape[1] >= _LARGE else rows.T[::-1]
    order = np.lexsort(columns) if len(rows) else np.zeros(0, dtype=np.intp)
    counts, many = _joined(rows[order], np.asarray(times, dtype=np.int64)[order])
    return Patterns(counts.astype(np.float64), many, labels, answers)


def distinct_rows(rows: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The different rows of whole numbers from 0, and how often each comes."""
    base = int(rows.max(initial=0)) + 1
    possible = base ** rows.shape[1]
    if possible >= _LARGE:
        return distinct_sums(rows)
    keys = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:
        keys = keys * base + column.astype(np.int64)
    if possible <= _FEW:
        times = np.bincount(keys)
        present = np.flatnonzero(times)
        times = times[present]
    else:
        present, times = np.unique(keys, return_counts=True)
    powers = [base**place for place in range(rows.shape[1])]
    columns = [(present // power % base).astype(rows.dtype) for power in reversed(powers)]
    return np.stack(columns, axis=1) if columns else rows[:1], times.astype(np.int64)


def distinct_sums(
    sums: NDArray[Any], times: NDArray[Any] | None = None
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The different rows of any numbers, and how often each comes; `times` says how many rows each stands for."""
    if len(sums) == 0:
        return sums, np.zeros(0, dtype=np.int64)
    order = np.lexsort(sums.T)
    many = np.ones(len(sums), dtype=np.int64) if times is None else times[order].astype(np.int64)
    return _joined(sums[order], many)


def _joined(ordered: NDArray[Any], times: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Equal rows that follow each other, as one."""
    if len(ordered) == 0:
        return ordered, times
    starts = np.flatnonzero(np.r_[True, (ordered[1:] != ordered[:-1]).any(axis=1)])
    return ordered[starts], np.add.reduceat(times, starts)


def _counted(counts: NDArray[Any]) -> tuple[Floats, NDArray[np.int64]]:
    rows, times = distinct_rows(counts)
    return rows.astype(np.float64), times


def _checked(counts: NDArray[Any]) -> NDArray[Any]:
    kind = counts.dtype.kind
    whole = kind in "iu" or (kind == "f" and bool(np.isfinite(counts).all() and (counts % 1 == 0).all()))
    if counts.ndim != 2 or not whole or (counts.size and counts.min() < 0):
        raise UsageError(
            "array-shape-type-does", hint="give-whole-numbers-0", shape=counts.shape, dtype=counts.dtype
        )
    return counts.astype(np.int64) if kind == "f" else counts
