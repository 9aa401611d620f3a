"""Gold by Dawid and Skene (1979): annotators are weighed by the mistakes they seem to make.

Each annotator has a confusion matrix: how likely each answer is, given the true label. EM estimates these
matrices and how common the labels are, together with how likely each label is for each unit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lapsus.errors import UsageError
from lapsus.measures.agreement.answer_codes import require_names
from lapsus.measures.bootstrap import Floats
from lapsus.measures.gold.result import NOBODY, Gold, label_answers, label_rates, raters
from lapsus.measures.gold.vote_codes import VoteCodes, likeliest, normalised, spread_out
from lapsus.measures.score import signature
from lapsus.model.votes import LabelVotes
from lapsus.notices import Notice

_LEAST = np.finfo(np.float64).tiny
"""What an impossible answer counts as, so that its logarithm is a number."""


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
    if smoothing < 0 or iterations < 1 or tolerance < 0:
        raise UsageError("dawid-skene-needs-smoothing-tolerance")
    require_names(votes, "dawid_skene", "majority or distribution")
    line = signature(
        method="dawid-skene",
        smoothing=float(smoothing),
        iterations=iterations,
        tolerance=float(tolerance),
        raters=raters((votes.codes >= 0).sum(axis=1)),
    )
    packed = VoteCodes(votes)
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
        confusion, prior = _estimates(packed, posterior, smoothing)
        joint = packed.added_up(np.log(np.maximum(confusion, _LEAST)))
        joint += np.log(np.maximum(prior, _LEAST))[:, None]
        posterior, log_likelihood = normalised(joint)
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
