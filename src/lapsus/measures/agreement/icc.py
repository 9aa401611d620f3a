"""Intraclass correlation (Shrout and Fleiss 1979) and Kendall's W: how much of the variation lies between units."""

import numpy as np
from numpy.typing import NDArray

from lapsus.measures.agreement.answer_codes import choose, ratio, require, require_names, scale_values
from lapsus.measures.agreement.patterns import ALONE, distinct_sums
from lapsus.measures.bootstrap import SHARE, USUAL, Bootstrap, Floats, bootstrap_interval, bootstrap_rows
from lapsus.measures.score import SAME, Score, signature, spread
from lapsus.model.votes import ScaleVotes
from lapsus.notices import Notice

INCOMPLETE = Notice("no-unit-rated-all")
LEVEL = Notice("units-do-not-differ")
SINGLE = Notice("only-one-unit")
_TINY = 1e-12
TIED = Notice("nobody-told-units-apart")


def one_way_sums(numbers: Floats, answered: NDArray[np.bool_]) -> Floats:
    """For each unit: 1, number of ratings, its square, their sum, squared sum over number, sum of squares."""
    raters = answered.sum(axis=1)
    total = numbers.sum(axis=1)
    ones = np.ones(len(numbers))
    return np.stack([ones, raters, raters**2, total, total**2 / raters, (numbers**2).sum(axis=1)], axis=1)


def one_way_value(totals: Floats, mean: bool) -> Floats:
    """ICC(1,1) or ICC(1,k) from totals of `one_way_sums`. Units may differ in their number of ratings."""
    units, raters, squares, total, explained, second = np.moveaxis(totals, -1, 0)
    between = _cut(explained - ratio(total**2, raters), second)
    within = _cut(second - explained, second)
    units_mean = ratio(between, units - 1)
    rest_mean = ratio(within, raters - units)
    # Ratings a unit; where units differ, the mean that analysis of variance asks for, below the plain one.
    each = ratio(raters - ratio(squares, raters), units - 1)
    return ratio(units_mean - rest_mean, units_mean + (0 if mean else (each - 1) * rest_mean))


def two_way_sums(numbers: Floats) -> Floats:
    """For each unit: 1, squared sum over the number of raters, sum of squares, and each rater's rating."""
    ones = np.ones(len(numbers))
    head = np.stack([ones, numbers.sum(axis=1) ** 2 / numbers.shape[1], (numbers**2).sum(axis=1)], axis=1)
    return np.concatenate([head, numbers], axis=1)


def two_way_value(totals: Floats, model: str, mean: bool) -> Floats:
    """ICC(2,·) or ICC(3,·) from totals of `two_way_sums`."""
    units, explained, second = np.moveaxis(totals[..., :3], -1, 0)
    columns = totals[..., 3:]
    raters = columns.shape[-1]
    grand = ratio(columns.sum(axis=-1) ** 2, units * raters)
    rows = _cut(explained - grand, second)
    judges = _cut(ratio((columns**2).sum(axis=-1), units) - grand, second)
    rest = _cut(second - grand - rows - judges, second)
    row_mean = ratio(rows, units - 1)
    judge_mean = judges / (raters - 1)
    rest_mean = ratio(rest, (units - 1) * (raters - 1))
    bias = ratio(judge_mean - rest_mean, units) if model == "2" else 0
    noise = bias if mean else (raters - 1) * rest_mean + raters * bias
    # Units that differ less than raters do by chance leave nothing to be a share of.
    return ratio(row_mean - rest_mean, np.maximum(row_mean + noise, 0.0))


def icc(
    votes: ScaleVotes, model: str = "2", ratings: str = "1", *, bootstrap: Bootstrap | None = USUAL
) -> Score:
    """The intraclass correlation ICC(model, ratings): of a single rating (`1`) or of the mean of all (`k`).

    Model 1: each unit was rated by whoever. Units with at least two ratings count, and may differ in number.
    Model 2: the annotators are a sample of many; how high or low each rates counts against agreement.
    Model 3: these annotators and no others; it does not count.
    Models 2 and 3 need every annotator on every unit: units with a missing rating are left out.
    """
    measure = (
        f"icc({choose('model', str(model), ('1', '2', '3'))},{choose('mean', str(ratings), ('1', 'k'))})"
    )
    require(votes, measure, ScaleVotes)
    if str(model) != "1":
        require_names(votes, measure, f"icc(1,{ratings})")
    values = scale_values(votes)
    answered = ~np.isnan(values)
    kept = answered.sum(axis=1) >= 2 if str(model) == "1" else answered.all(axis=1) & (values.shape[1] >= 2)
    values, answered = values[kept], answered[kept]
    line = signature(raters=spread(answered.sum(axis=1)))
    if len(values) == 0:
        alone = str(model) == "1" or values.shape[1] < 2
        return Score(measure, None, 0, note=ALONE if alone else INCOMPLETE, signature=line)
    numbers = np.where(answered, values - np.nanmin(values), 0.0)
    if not numbers.any():
        return Score(measure, None, len(values), note=SAME, signature=line)
    return _score(measure, str(model), str(ratings) == "k", numbers, answered, bootstrap)


def _score(
    measure: str,
    model: str,
    mean: bool,
    numbers: Floats,
    answered: NDArray[np.bool_],
    bootstrap: Bootstrap | None,
) -> Score:
    def value(totals: Floats) -> Floats:
        return one_way_value(totals, mean) if model == "1" else two_way_value(totals, model, mean)

    sums, times = distinct_sums(one_way_sums(numbers, answered) if model == "1" else two_way_sums(numbers))
    found = float(value(times @ sums))
    undefined = np.isnan(found)
    around = None if undefined else bootstrap_interval(sums, value, bootstrap, times)
    note = None if not undefined else LEVEL if len(numbers) > 1 else SINGLE
    line = signature(raters=spread(answered.sum(axis=1)), boot=bootstrap if around else None)
    return Score(measure, None if undefined else found, len(numbers), around, note, line)


def _cut(squares: Floats, scale: Floats) -> Floats:
    """A sum of squares; what rounding leaves of nothing is nothing."""
    cut: Floats = np.where(squares > _TINY * scale, squares, 0.0)
    return cut


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
