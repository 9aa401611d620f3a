"""Kendall's W: how far annotators put the units in the same order."""

from __future__ import annotations

import numpy as np

from lapsus.measures.agreement.answer_codes import require, require_names, scale_values
from lapsus.measures.agreement.icc import INCOMPLETE, SINGLE
from lapsus.measures.agreement.patterns import ALONE
from lapsus.measures.bootstrap import SHARE, USUAL, Bootstrap, Floats, bootstrap_rows
from lapsus.measures.score import SAME, Score, signature
from lapsus.model.votes import ScaleVotes
from lapsus.notices import Notice

TIED = Notice("nobody-told-units-apart")


def ranked(column: Floats) -> tuple[Floats, float]:
    """The ranks of numbers, ties sharing their mean rank, and the sum of t³ - t over the groups of t tied."""
    _, place, sizes = np.unique(column, return_inverse=True, return_counts=True)
    ranks = sizes.cumsum() - (sizes - 1) / 2
    ties = sizes.astype(np.float64)
    return ranks[place], float((ties**3 - ties).sum())


def concordance(values: Floats) -> float:
    """Kendall's W of complete ratings `(units, annotators)`, corrected for ties; NaN where all are tied."""
    units, annotators = values.shape
    ranks, ties = zip(*(ranked(column) for column in values.T), strict=True)
    totals = np.sum(ranks, axis=0)
    spread = ((totals - totals.mean()) ** 2).sum()
    most = annotators**2 * (float(units) ** 3 - units) - annotators * sum(ties)
    return float(12 * spread / most) if most > 0 else np.nan


def kendall_w(votes: ScaleVotes, *, bootstrap: Bootstrap | None = USUAL) -> Score:
    """Kendall's W with the correction for ties, on the units that every annotator rated.

    0 where the orders have nothing in common, 1 where they are the same. Ranks depend on all units, so each
    resample is ranked anew.
    """
    require(votes, "kendall_w", ScaleVotes)
    require_names(votes, "kendall_w", "alpha(ordinal)")
    values = scale_values(votes)
    values = values[~np.isnan(values).any(axis=1)]
    units, annotators = values.shape
    line = signature(raters=annotators)
    if annotators < 2 or units == 0:
        return Score("kendall_w", None, 0, note=ALONE if annotators < 2 else INCOMPLETE, signature=line)
    value = concordance(values)
    if np.isnan(value):
        note = SAME if (values == values.flat[0]).all() else TIED if units > 1 else SINGLE
        return Score("kendall_w", None, units, note=note, signature=line)
    around = bootstrap_rows(units, lambda rows: concordance(values[rows]), bootstrap, SHARE)
    line = signature(raters=annotators, boot=bootstrap if around else None)
    return Score("kendall_w", value, units, around, signature=line)
