"""Gwet's AC1 and AC2: agreement beyond chance that holds out where nearly all votes are for one label."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lapsus.measures.agreement import distances
from lapsus.measures.agreement.answer_codes import choose
from lapsus.measures.agreement.chance import beyond_chance, ratio
from lapsus.measures.agreement.fleiss import label_shares, share_sums
from lapsus.measures.agreement.patterns import patterns
from lapsus.measures.agreement.percent import percent_value
from lapsus.measures.bootstrap import USUAL, Bootstrap, Floats
from lapsus.measures.score import Score
from lapsus.model.votes import LabelVotes, ScaleVotes

WEIGHTS = ("linear", "quadratic", "ordinal")


def gwet_value(totals: Floats, weights: Floats) -> Floats:
    """AC2 (AC1 where `weights` is the identity) from totals of `share_sums` under these weights."""
    labels = weights.shape[0]
    shares = label_shares(totals)
    expected = weights.sum() / (labels * (labels - 1)) * (shares * (1 - shares)).sum(axis=-1)
    return beyond_chance(percent_value(totals), expected)


def agreement_weights(numbers: Floats, weights: str) -> Floats:
    """How far each two labels agree: 1 if they are the same, 0 if they are as far apart as can be."""
    apart = distances.steps(len(numbers)) if weights == "ordinal" else distances.LINES[weights](numbers)
    return 1 - np.nan_to_num(ratio(apart, apart.max(initial=0)))


def gwet_ac1(
    votes: LabelVotes | ScaleVotes | NDArray[np.integer], *, bootstrap: Bootstrap | None = USUAL
) -> Score:
    """Gwet's AC1. Units may differ in raters; observed agreement and label shares are as in `fleiss_kappa`.

    All labels of the question count, also those that nobody chose; of a scale, only the numbers seen.
    """
    return _score("ac1", votes, "none", bootstrap)


def gwet_ac2(
    votes: LabelVotes | ScaleVotes | NDArray[np.integer],
    weights: str = "quadratic",
    *,
    bootstrap: Bootstrap | None = USUAL,
) -> Score:
    """Gwet's AC2: labels in order, near ones agree in part. Weights are linear, quadratic or ordinal.

    Linear and quadratic weights go by the labels' numbers, or by their places where they are no numbers.
    """
    return _score(f"ac2({choose('kind-weighting', weights, WEIGHTS)})", votes, weights, bootstrap)


def _score(measure: str, votes: object, weights: str, bootstrap: Bootstrap | None) -> Score:
    found = patterns(votes, measure).with_votes(1)
    table = agreement_weights(found.numbers, weights)
    return found.score(
        measure,
        share_sums(found.counts, table),
        lambda totals: gwet_value(totals, table),
        bootstrap,
        # No label but one: chance, as these coefficients see it, explains none of that agreement.
        if_same=1.0,
        prior=lambda counts: share_sums(counts, table),
    )
