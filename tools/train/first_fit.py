"""Where the fits of the shipped models begin, and what only they need: first maps, the table of words, cuts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.breakdown import ARGMAX, decision
from lapsus.annotators.encoder.calibration import LOGITS, Matrix
from lapsus.annotators.encoder.chat_reader import SIZE, places
from lapsus.annotators.encoder.large_reader import NUMBERS
from lapsus.annotators.encoder.reader import Passage
from lapsus.measures.scores.breakdown import BREAKDOWN_MEASURES, breakdown_tally

_AIMS: Final = ("accuracy", "f1_b", "f1_pb_b")
_FIRST: Final = 0.7
"""Logits of a network that has learned by heart are too sure of themselves."""


def tune_cuts(counts: NDArray[Any], rows: NDArray[np.float64], *, t: float = 0.0) -> str:
    """The cuts that do best on judged turns that the model has not learned from.

    Best is the sum of accuracy, F(B) and F(PB+B): one label must serve all three.
    """
    places = [list(BREAKDOWN_MEASURES).index(aim) for aim in _AIMS]
    groups = np.zeros(len(rows), dtype=np.intp)
    best, chosen = -1.0, ARGMAX
    for o, x in product(range(30, 61, 2), range(50, 151, 5)):
        rule = f"cuts({o / 100:g},{x / 100:g})"
        tally = breakdown_tally(counts, decision(rule)(rows), rows, groups, t=t)
        value = float(tally.values()[places].sum())
        if value > best:
            best, chosen = value, rule
    return chosen


def first_weights(width: int) -> Matrix:
    """Where fitting starts when nothing is known: take the reader at its word, or nearly."""
    weights = np.zeros((width, LOGITS))
    weights[:LOGITS] = _FIRST * np.eye(LOGITS)
    return weights


def first_map() -> Matrix:
    """The geometric mean of both readers' shares: where fitting starts."""
    weights = np.zeros((3 + 3 + NUMBERS - 9 + 1, 3))
    weights[:3] = weights[3:6] = 0.5 * np.eye(3)
    return weights


def word_matrix(passages: Sequence[Passage]) -> NDArray[np.float32]:
    """A row a passage, a column a place of the table: what a table is fitted on."""
    rows = np.zeros((len(passages), SIZE), dtype=np.float32)
    for row, passage in zip(rows, passages, strict=True):
        for plus, minus, weight in places(passage):
            np.add.at(row, plus, weight)
            np.subtract.at(row, minus, weight)
    return rows


def fit_words(
    rows: NDArray[np.float32], shares: NDArray[np.float64], penalty: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The table and the constant: ridge regression, solved among the examples, which are fewer than the places."""
    usual = shares.mean(axis=0)
    likeness = (rows @ rows.T).astype(np.float64)
    np.fill_diagonal(likeness, likeness.diagonal() + penalty)
    return rows.T.astype(np.float64) @ np.linalg.solve(likeness, shares - usual), usual
