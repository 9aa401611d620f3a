"""Votes packed for models of annotators: the answers of several annotators to a unit in one number.

Such models go over all votes again and again. What the votes of five annotators say about a unit is then
looked up in one table instead of five, and counted in one table, so that an iteration is a few passes over
the units.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lapsus.measures.bootstrap import Floats
from lapsus.model.votes import LabelVotes

_TABLE = 1024
"""How many rows a table may have: few enough to stay in the processor's nearest cache."""

_SPARSE = 4
"""Where fewer than one in so many answers are there, votes are listed one by one instead of packed."""

_SAME = 1e-9
"""Up to which difference two labels are equally likely."""


class _Block(NamedTuple):
    annotators: range
    units: NDArray[np.intp] | slice
    cells: NDArray[np.intp]
    """For each unit, the annotators' codes plus one as digits of one number; 0 stands for no answer."""


class VoteCodes:
    """The votes of the units that anybody answered, whatever their number and however few each annotator
    gave.
    """

    def __init__(self, votes: LabelVotes) -> None:
        self.labels = len(votes.labels)
        self.annotators = len(votes.annotators)
        given = votes.codes >= 0
        self.voted: NDArray[np.bool_] = given.sum(axis=1) > 0
        self.active: NDArray[np.bool_] = given.sum(axis=0) > 0
        self.votes = int(given.sum())
        codes = votes.codes if self.voted.all() else votes.codes[self.voted]
        self.units = len(codes)
        self._listed = _listed(codes, self.labels) if _SPARSE * self.votes < codes.size else None
        if self._listed is not None:
            return
        width = max(1, int(math.log(_TABLE, max(self.labels, 1) + 1)))
        columns = np.ascontiguousarray(codes.T)
        self._blocks = [
            self._packed(columns, range(start, min(start + width, self.annotators)))
            for start in range(0, self.annotators, width)
        ]

    def _packed(self, columns: NDArray[np.signedinteger], annotators: range) -> _Block:
        cells = np.zeros(self.units, dtype=np.intp)
        for annotator in reversed(annotators):
            cells *= self.labels + 1
            cells += columns[annotator]
            cells += 1
        units = np.flatnonzero(cells)
        # Picking out units costs more than reading a zero for the others, unless these are many.
        if 2 * len(units) > self.units:
            return _Block(annotators, slice(None), cells)
        return _Block(annotators, units, cells[units])

    def shares(self) -> Floats:
        """For each label and unit, the share of votes that it got: `(labels, units)`."""
        same = np.broadcast_to(np.eye(self.labels), (self.annotators, self.labels, self.labels))
        counts = self.added_up(same)
        result: Floats = counts / counts.sum(axis=0)
        return result

    def added_up(self, worth: Floats) -> Floats:
        """For each label and unit, what the votes are worth together: `(labels, units)`.

        `worth[annotator, label, answer]` says what an annotator's answer is worth if the label is the true
        one.
        """
        if self._listed is not None:
            rows, whose = self._listed
            by_label = np.swapaxes(worth, 0, 1).reshape(self.labels, -1)
            return np.stack([np.bincount(rows, one[whose], self.units) for one in by_label])
        total = np.zeros((self.labels, self.units))
        for annotators, units, cells in self._blocks:
            table = np.zeros((self.labels, 1))
            for annotator in annotators:
                digit = np.concatenate([np.zeros((self.labels, 1)), worth[annotator]], axis=1)
                table = (digit[:, :, None] + table[:, None, :]).reshape(self.labels, -1)
            for label in range(self.labels):
                total[label, units] += table[label][cells]
        return total

    def expected_answers(self, posterior: Floats) -> Floats:
        """How often each annotator answered what to which label, labels counting as far as they are likely.

        From a posterior `(labels, units)` to counts `(annotators, labels, answers)`.
        """
        counts = np.empty((self.annotators, self.labels, self.labels))
        if self._listed is not None:
            rows, whose = self._listed
            for label in range(self.labels):
                found = np.bincount(whose, posterior[label][rows], self.annotators * self.labels)
                counts[:, label] = found.reshape(self.annotators, self.labels)
            return counts
        digits = self.labels + 1
        for annotators, units, cells in self._blocks:
            size = digits ** len(annotators)
            table = np.stack(
                [np.bincount(cells, posterior[label, units], size) for label in range(self.labels)]
            )
            for place, annotator in enumerate(annotators):
                grid = table.reshape(self.labels, -1, digits, digits**place)
                counts[annotator] = grid.sum(axis=(1, 3))[:, 1:]
        return counts


def _listed(codes: NDArray[np.signedinteger], labels: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """For each vote its unit, and whose vote for which label it is."""
    units, annotators = np.nonzero(codes >= 0)
    return units, annotators * labels + codes[units, annotators]


def normalised(log_joint: Floats) -> tuple[Floats, float]:
    """How likely each label of each unit is, and the log likelihood of the votes. The input is used up.

    Given is the logarithm of how likely each label and the unit's votes are together: `(labels, units)`.
    """
    top = log_joint.max(axis=0)
    log_joint -= top
    np.exp(log_joint, out=log_joint)
    total = log_joint.sum(axis=0)
    log_joint /= total
    return log_joint, float(top.sum() + np.log(total).sum())


def spread_out(posterior: Floats, voted: NDArray[np.bool_]) -> Floats:
    """A posterior `(labels, voted units)` as distributions `(units, labels)`, NaN where nobody voted."""
    rows = np.full((len(voted), len(posterior)), np.nan)
    rows[voted] = posterior.T
    return rows


def likeliest(distributions: Floats) -> NDArray[np.intp]:
    """The likeliest label of each unit, the earlier one where only rounding tells two apart."""
    known = np.nan_to_num(distributions)
    codes: NDArray[np.intp] = np.argmax(known >= known.max(axis=1, keepdims=True) - _SAME, axis=1)
    return codes
