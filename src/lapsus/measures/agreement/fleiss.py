"""Fleiss' kappa: agreement of any number of annotators on one label, beyond chance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lapsus.measures.agreement.chance import beyond_chance, ratio
from lapsus.measures.agreement.patterns import patterns
from lapsus.measures.agreement.percent import COLUMNS, percent_sums, percent_value
from lapsus.measures.bootstrap import USUAL, Bootstrap, Floats
from lapsus.measures.score import Score
from lapsus.model.votes import LabelVotes, ScaleVotes


def share_sums(counts: Floats, weights: Floats | None = None) -> Floats:
    """For each unit: what percent agreement needs, then the share of its votes that each label got."""
    shares = np.nan_to_num(ratio(counts, counts.sum(axis=1, keepdims=True)))
    return np.concatenate([percent_sums(counts, weights), shares], axis=1)


def label_shares(totals: Floats) -> Floats:
    """From totals of `share_sums`, how common each label is: the mean share over units with a vote."""
    shares = totals[..., COLUMNS:]
    return ratio(shares, shares.sum(axis=-1, keepdims=True))


def fleiss_value(totals: Floats) -> Floats:
    """Kappa from totals of `share_sums`."""
    return beyond_chance(percent_value(totals), (label_shares(totals) ** 2).sum(axis=-1))


def fleiss_kappa(
    votes: LabelVotes | ScaleVotes | NDArray[np.integer], *, bootstrap: Bootstrap | None = USUAL
) -> Score:
    """Fleiss' kappa of votes or of counts (a row a unit, a column a label). Units may differ in raters.

    Observed: the mean over units with two or more votes of the share of their pairs of votes that agree.
    Expected: the sum of the squared label shares, a label's share being the mean over units with a vote of
    the share of votes it got there. So each unit weighs the same however many judged it, and a unit with one
    vote counts only for how common labels are. Where all units have the same number of raters this is the
    classic definition of Fleiss (1971); otherwise it is the extension that Gwet describes.
    """
    found = patterns(votes, "fleiss").with_votes(1)
    return found.score("fleiss", share_sums(found.counts), fleiss_value, bootstrap, prior=share_sums)
