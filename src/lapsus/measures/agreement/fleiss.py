"""Agreement of any number of annotators: in percent; beyond chance Fleiss' kappa, plain and weighted, and Gwet's AC."""

import numpy as np
from numpy.typing import NDArray

from lapsus.measures.agreement.answer_codes import LINES, beyond_chance, choose, ratio, require, steps
from lapsus.measures.agreement.patterns import ALONE, patterns
from lapsus.measures.bootstrap import SHARE, USUAL, Bootstrap, Floats, bootstrap_interval
from lapsus.measures.score import SAME, Score, signature, spread
from lapsus.model.votes import LabelSetVotes, LabelVotes, ScaleVotes

WEIGHTS = ("linear", "quadratic", "ordinal")
_COLUMNS = 2
"""Columns of `percent_sums`."""


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


def share_sums(counts: Floats, weights: Floats | None = None) -> Floats:
    """For each unit: what percent agreement needs, then the share of its votes that each label got."""
    shares = np.nan_to_num(ratio(counts, counts.sum(axis=1, keepdims=True)))
    return np.concatenate([percent_sums(counts, weights), shares], axis=1)


def label_shares(totals: Floats) -> Floats:
    """From totals of `share_sums`, how common each label is: the mean share over units with a vote."""
    shares = totals[..., _COLUMNS:]
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


def gwet_value(totals: Floats, weights: Floats) -> Floats:
    """AC2 (AC1 where `weights` is the identity) from totals of `share_sums` under these weights."""
    labels = weights.shape[0]
    shares = label_shares(totals)
    expected = weights.sum() / (labels * (labels - 1)) * (shares * (1 - shares)).sum(axis=-1)
    return beyond_chance(percent_value(totals), expected)


def agreement_weights(numbers: Floats, weights: str) -> Floats:
    """How far each two labels agree: 1 if they are the same, 0 if they are as far apart as can be."""
    apart = steps(len(numbers)) if weights == "ordinal" else LINES[weights](numbers)
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


def answer_vectors(chosen: NDArray[np.bool_], answered: NDArray[np.bool_]) -> Floats:
    """Each answer as weights `(units, annotators, labels + 1)`: 1/m on each of its m labels.

    The last column is for answers without a label: choosing none is a choice too. All 0 without an answer.
    """
    none = answered & ~chosen.any(axis=2)
    held = np.concatenate([chosen & answered[:, :, None], none[:, :, None]], axis=2).astype(np.float64)
    vectors: Floats = held / np.maximum(held.sum(axis=2, keepdims=True), 1)
    return vectors


def item_agreement(vectors: Floats, raters: NDArray[np.integer]) -> Floats:
    """For each unit, the sum of its pairs' products over that of their mean squares, both in closed form."""
    squares = (vectors**2).sum(axis=(1, 2))
    products = ((vectors.sum(axis=1) ** 2).sum(axis=1) - squares) / 2
    agreement: Floats = ratio(products, (raters - 1) * squares / 2)
    return agreement


def weighted_fleiss_sums(vectors: Floats, answered: NDArray[np.bool_]) -> Floats:
    """For each unit: 1, its agreement, who answered, and the weights that each annotator gave each label."""
    head = np.stack([np.ones(len(vectors)), item_agreement(vectors, answered.sum(axis=1))], axis=1)
    return np.concatenate([head, answered, vectors.reshape(len(vectors), -1)], axis=1)


def weighted_fleiss_value(totals: Floats, annotators: int) -> Floats:
    """Kappa from totals of `weighted_fleiss_sums`."""
    observed = ratio(totals[..., 1], totals[..., 0])
    answers = totals[..., 2 : 2 + annotators]
    weights = totals[..., 2 + annotators :].reshape(*answers.shape, -1)
    means = np.nan_to_num(ratio(weights, answers[..., None]))
    active = (answers > 0).sum(axis=-1)
    products = (means.sum(axis=-2) ** 2).sum(axis=-1) - (means**2).sum(axis=(-1, -2))
    return beyond_chance(observed, ratio(products, active * (active - 1)))


def weighted_fleiss_kappa(votes: LabelSetVotes, *, bootstrap: Bootstrap | None = USUAL) -> Score:
    """Weighted Fleiss kappa of several labels from each annotator.

    An answer of m labels puts 1/m on each. A unit's agreement is the sum over pairs of answers of their inner
    product, over the sum of the means of their squared lengths; observed is the mean over units. Expected is
    the mean over pairs of annotators of the inner product of their mean answers. Units with fewer than two
    answers are left out.
    """
    require(votes, "weighted_fleiss", LabelSetVotes)
    kept = votes.answered.sum(axis=1) >= 2
    answered = votes.answered[kept]
    parts = {"raters": spread(answered.sum(axis=1)), "labels": len(votes.labels)}
    if len(answered) == 0:
        return Score("weighted_fleiss", None, 0, note=ALONE, signature=signature(**parts))
    vectors = answer_vectors(votes.chosen[kept], answered)
    given = vectors[answered]
    if (given == given[0]).all():
        return Score("weighted_fleiss", None, len(vectors), note=SAME, signature=signature(**parts))
    sums = weighted_fleiss_sums(vectors, answered)
    annotators = answered.shape[1]
    value = float(weighted_fleiss_value(sums.sum(axis=0), annotators))
    around = bootstrap_interval(sums, lambda totals: weighted_fleiss_value(totals, annotators), bootstrap)
    line = signature(**parts, boot=bootstrap if around else None)
    return Score("weighted_fleiss", value, len(vectors), around, signature=line)
