"""Weighted Fleiss kappa: agreement on several labels at once, as reported for error types in chat."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lapsus.measures.agreement.answer_codes import require
from lapsus.measures.agreement.chance import beyond_chance, ratio
from lapsus.measures.agreement.patterns import ALONE, spread
from lapsus.measures.bootstrap import USUAL, Bootstrap, Floats, bootstrap_interval
from lapsus.measures.score import SAME, Score, signature
from lapsus.model.votes import LabelSetVotes


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
