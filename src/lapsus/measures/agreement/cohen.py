"""Cohen's kappa and Scott's pi: agreement of two annotators beyond chance."""

from lapsus.measures.agreement.answer_codes import choose
from lapsus.measures.agreement.distances import LINES, nominal, ratio
from lapsus.measures.agreement.pairs import PairMatrix, mean_over_pairs, pair_matrix, pair_tables
from lapsus.measures.bootstrap import USUAL, Bootstrap, Floats
from lapsus.measures.score import Score
from lapsus.model.votes import LabelVotes, ScaleVotes

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
