"""Scott's pi: agreement of two annotators beyond chance, taken to have the same habits."""

from __future__ import annotations

from lapsus.measures.agreement.chance import ratio
from lapsus.measures.agreement.distances import nominal
from lapsus.measures.agreement.pairs import PairMatrix, mean_over_pairs, pair_matrix, pair_tables
from lapsus.measures.bootstrap import USUAL, Bootstrap, Floats
from lapsus.measures.score import Score
from lapsus.model.votes import LabelVotes, ScaleVotes


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
