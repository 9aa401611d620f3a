"""Gold by Dawid and Skene (1979): annotators are weighed by the mistakes they seem to make.

Each annotator has a confusion matrix: how likely each answer is, given the true label. EM estimates these
matrices and how common the labels are, together with how likely each label is for each unit.

Such models go over all votes again and again. What the votes of five annotators say about a unit is then
looked up in one table instead of five, and counted in one table, so that an iteration is a few passes over
the units.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lapsus.errors import UsageError
from lapsus.measures.agreement.answer_codes import require_names
from lapsus.measures.bootstrap import Floats
from lapsus.measures.gold.result import NOBODY, Gold, label_answers, label_rates, raters
from lapsus.measures.score import signature
from lapsus.model.votes import LabelVotes
from lapsus.notices import Notice

_LEAST = np.finfo(np.float64).tiny
"""What an impossible answer counts as, so that its logarithm is a number."""
_TABLE = 1024
"""How many rows a table may have: few enough to stay in the processor's nearest cache."""
_SPARSE = 4
"""Where fewer than one in so many answers are there, votes are listed one by one instead of packed."""
_SAME = 1e-9
"""Up to which difference two labels are equally likely."""


class _Fit(NamedTuple):
    posterior: Floats
    confusion: Floats
    prior: Floats
    log_likelihood: float
    iterations: int
    converged: bool


def dawid_skene(
    votes: LabelVotes, *, smoothing: float = 0.01, iterations: int = 100, tolerance: float = 1e-6
) -> Gold:
    """The likeliest label of each unit, and each annotator's confusion matrix.

    EM starts from the shares of votes and ends when the log likelihood grows by less than `tolerance` a vote,
    or after so many iterations; nothing in it is random. `smoothing` is added to every cell of the counts
    that make a confusion matrix, and to how often each label is expected, so that what was never seen stays
    possible; with 0 the estimates are those of greatest likelihood. An annotator's reliability is how likely
    the answer is right: the diagonal of the confusion matrix, weighed by how common the labels are; where one label is
    common that hides mistakes with the others, so `details["rates"]` has sensitivity and specificity by label. Ties
    go to the earlier label.
    """
    return counted_dawid_skene(votes, None, smoothing, iterations, tolerance)


def counted_dawid_skene(
    votes: LabelVotes,
    times: NDArray[np.intp] | None,
    smoothing: float,
    iterations: int,
    tolerance: float = 1e-6,
) -> Gold:
    """The same where each unit stands for so many that were answered alike, one at least."""
    if smoothing < 0 or iterations < 1 or tolerance < 0:
        raise UsageError("dawid-skene-needs-smoothing-tolerance")
    require_names(votes, "dawid_skene", "majority or distribution")
    line = signature(
        method="dawid-skene",
        smoothing=float(smoothing),
        iterations=iterations,
        tolerance=float(tolerance),
        raters=raters(votes.answered.sum(axis=1)),
    )
    packed = VoteCodes(votes, times)
    if not packed.votes:
        return Gold(votes.units, "dawid-skene", line, (None,) * len(votes.units), votes.labels, note=NOBODY)
    return _gold(votes, packed, _fit(packed, smoothing, iterations, tolerance), line)


def _gold(votes: LabelVotes, packed: VoteCodes, fit: _Fit, line: str) -> Gold:
    distributions = spread_out(fit.posterior, packed.voted)
    right = np.diagonal(fit.confusion, axis1=1, axis2=2) @ fit.prior
    return Gold(
        votes.units,
        "dawid-skene",
        line,
        label_answers(votes.labels, likeliest(distributions), packed.voted),
        votes.labels,
        distributions,
        {name: float(right[place]) for place, name in enumerate(votes.annotators) if packed.active[place]},
        details={
            "confusion": dict(zip(votes.annotators, fit.confusion, strict=True)),
            "rates": {
                name: label_rates(table, fit.prior, votes.labels)
                for name, table, is_active in zip(votes.annotators, fit.confusion, packed.active, strict=True)
                if is_active
            },
            "prior": fit.prior,
            "log_likelihood": fit.log_likelihood,
            "iterations": fit.iterations,
            "converged": fit.converged,
        },
        note=None if fit.converged else Notice("not-settled-after-iterations", iterations=fit.iterations),
    )


def _fit(packed: VoteCodes, smoothing: float, iterations: int, tolerance: float) -> _Fit:
    posterior, before = packed.shares(), -np.inf
    for iteration in range(1, iterations + 1):
        counted = posterior if packed.times is None else posterior * packed.times
        confusion, prior = _estimates(packed, counted, smoothing)
        joint = packed.added_up(np.log(np.maximum(confusion, _LEAST)))
        joint += np.log(np.maximum(prior, _LEAST))[:, None]
        posterior, log_likelihood = normalised(joint, packed.times)
        # Smoothing may make it shrink by a hair at the very end; that is settled, too.
        if log_likelihood - before <= tolerance * packed.votes:
            return _Fit(posterior, confusion, prior, log_likelihood, iteration, True)
        before = log_likelihood
    return _Fit(posterior, confusion, prior, log_likelihood, iterations, False)


def _estimates(packed: VoteCodes, posterior: Floats, smoothing: float) -> tuple[Floats, Floats]:
    """The confusion matrices `(annotators, labels, answers)` and the shares of the labels."""
    counts = packed.expected_answers(posterior) + smoothing
    totals = counts.sum(axis=2, keepdims=True)
    # Without smoothing, a label that an annotator never met says nothing about the annotator.
    confusion = np.divide(counts, totals, out=np.full(counts.shape, 1 / packed.labels), where=totals > 0)
    prior = posterior.sum(axis=1) + smoothing
    return confusion, prior / prior.sum()


class _Block(NamedTuple):
    annotators: range
    units: NDArray[np.intp] | slice
    cells: NDArray[np.intp]
    """For each unit, the annotators' codes plus one as digits of one number; 0 stands for no answer."""


class VoteCodes:
    """The votes of the units that anybody answered, whatever their number and however few each annotator
    gave.
    """

    def __init__(self, votes: LabelVotes, times: NDArray[np.intp] | None = None) -> None:
        self.labels = len(votes.labels)
        self.annotators = len(votes.annotators)
        given = votes.answered
        self.voted: NDArray[np.bool_] = given.sum(axis=1) > 0
        self.active: NDArray[np.bool_] = given.sum(axis=0) > 0
        listed = int(given.sum())
        self.votes = listed if times is None else int(given.sum(axis=1) @ times)
        self.times = None if times is None else times[self.voted].astype(np.float64)
        codes = votes.codes if self.voted.all() else votes.codes[self.voted]
        self.units = len(codes)
        self._listed = _listed(codes, self.labels) if _SPARSE * listed < codes.size else None
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


def normalised(log_joint: Floats, times: Floats | None = None) -> tuple[Floats, float]:
    """How likely each label of each unit is, and the log likelihood of the votes. The input is used up.

    Given is the logarithm of how likely each label and the unit's votes are together: `(labels, units)`; `times` is
    how many each unit stands for.
    """
    top = log_joint.max(axis=0)
    log_joint -= top
    np.exp(log_joint, out=log_joint)
    total = log_joint.sum(axis=0)
    log_joint /= total
    if times is not None:
        return log_joint, float((top + np.log(total)) @ times)
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
