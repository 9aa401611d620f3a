"""Unanimity: on how many units everybody agrees."""

from __future__ import annotations

import numpy as np

from lapsus.measures.agreement.patterns import patterns
from lapsus.measures.bootstrap import USUAL, Bootstrap, Floats
from lapsus.measures.score import Score
from lapsus.model.votes import LabelVotes, ScaleVotes


def unanimity(votes: LabelVotes | ScaleVotes, *, bootstrap: Bootstrap | None = USUAL) -> Score:
    """The share of units with two or more votes on which all votes are the same."""
    found = patterns(votes, "unanimity").with_votes(2)
    agreed = found.counts.max(axis=1) == found.raters
    sums = np.stack([np.ones(len(agreed)), agreed.astype(np.float64)], axis=1)
    return found.score("unanimity", sums, _share, bootstrap, if_same=1.0)


def _share(totals: Floats) -> Floats:
    """Of sums over units (or over resampled ones): how many agreed, of how many."""
    share: Floats = totals[..., 1] / totals[..., 0]
    return share
