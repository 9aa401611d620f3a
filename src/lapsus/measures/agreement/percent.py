"""Percent agreement: how often two annotators of a unit chose the same."""

import numpy as np
from numpy.typing import NDArray

from lapsus.measures.agreement.distances import ratio
from lapsus.measures.agreement.patterns import patterns
from lapsus.measures.bootstrap import SHARE, USUAL, Bootstrap, Floats
from lapsus.measures.score import Score
from lapsus.model.votes import LabelVotes, ScaleVotes

COLUMNS = 2


def unit_agreement(counts: Floats, weights: Floats | None = None) -> Floats:
    """For each unit, the share of its pairs of votes that agree; 0 where it has fewer than two votes.

    `weights` says how far two labels agree, from 0 to 1; without it only equal ones do.
    """
    raters = counts.sum(axis=1)
    same = counts if weights is None else counts @ weights
    agreeing = (counts * same).sum(axis=1) - raters
    return np.nan_to_num(ratio(agreeing, raters * (raters - 1)))


def percent_sums(counts: Floats, weights: Floats | None = None) -> Floats:
    """For each unit: whether it has a pair of votes, and the share of its pairs that agree."""
    return np.stack([counts.sum(axis=1) >= 2, unit_agreement(counts, weights)], axis=1)


def percent_value(totals: Floats) -> Floats:
    """The mean share over the units that have a pair."""
    return ratio(totals[..., 1], totals[..., 0])


def percent_agreement(
    votes: LabelVotes | ScaleVotes | NDArray[np.integer], *, bootstrap: Bootstrap | None = USUAL
) -> Score:
    """How often two annotators of a unit chose the same: the mean over units, each unit weighing the same.

    A unit with fewer than two votes is left out. Chance is not taken out, so the share says little by itself;
    it is 1 where everybody always chose the same label.
    """
    found = patterns(votes, "percent").with_votes(2)
    return found.score(
        "percent", percent_sums(found.counts), percent_value, bootstrap, if_same=1.0, bounds=SHARE
    )
