"""Several judges as one: the answer that agrees best with the others' of the same unit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lapsus.kinds.similarity import Answers, Codes

JURY = "(jury)"


def jury(answers: Answers, judges: Sequence[int]) -> Codes:
    """For each unit the answer of the judge who is nearest to the others; of equals, that of the one named first.

    For single labels that is what most of them said. It is always an answer that somebody gave, so the guideline's
    rules hold for it. -1 where no judge answered.
    """
    given = answers.codes[:, list(judges)]
    there = given >= 0
    rows = np.flatnonzero(there.any(axis=1))
    found = np.full(len(given), -1, dtype=np.intp)
    # Where one is missing, an answer of another stands in for it and counts for nothing.
    some = np.take_along_axis(given[rows], there[rows].argmax(axis=1)[:, None], axis=1)
    filled = np.where(there[rows], given[rows], some)
    near = np.where(there[rows][:, None, :], answers.near(filled, filled), 0.0).sum(axis=2)
    best = np.where(there[rows], near, -np.inf).argmax(axis=1)
    found[rows] = np.take_along_axis(filled, best[:, None], axis=1)[:, 0]
    return found
