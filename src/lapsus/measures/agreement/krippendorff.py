"""Krippendorff's alpha: for labels, ranks, numbers and sets, any number of annotators, and missing answers.

Alpha is 1 less observed over expected disagreement. Each unit with m >= 2 answers adds the distances between
its answers, over m - 1; other units are left out. Expected are the distances between any two of the answers.
"""

import numpy as np
from numpy.typing import NDArray

from lapsus.errors import UsageError
from lapsus.measures.agreement.answer_codes import (
    SETS,
    choose,
    coded,
    compact,
    nominal,
    ratio,
    relative,
    scale_values,
    squared,
    unsuitable,
    within_rows,
)
from lapsus.measures.agreement.patterns import ALONE, Patterns, distinct_rows, distinct_sums, patterns
from lapsus.measures.bootstrap import USUAL, Bootstrap, Floats, bootstrap_interval, interval, resampled_times
from lapsus.measures.score import SAME, Score, signature, spread
from lapsus.model.votes import MISSING, LabelSetVotes, LabelVotes, ScaleVotes

METRICS = ("nominal", "ordinal", "interval", "ratio", "masi", "jaccard")
_TINY = 1e-12


def alpha_sums(counts: Floats, distance: Floats) -> Floats:
    """For each unit with two or more votes: its counts, and the disagreement within it."""
    within = (counts @ distance * counts).sum(axis=1) / (counts.sum(axis=1) - 1)
    return np.concatenate([counts, within[:, None]], axis=1)


def alpha_value(totals: Floats, distance: Floats) -> Floats:
    """Alpha from totals of `alpha_sums` under the same distance."""
    counts, within = totals[..., :-1], totals[..., -1]
    between = (counts @ distance * counts).sum(axis=-1)
    return 1 - ratio((counts.sum(axis=-1) - 1) * within, between)


def moment_sums(raters: Floats, first: Floats, second: Floats) -> Floats:
    """For each unit with two or more numbers: how many, their sum, sum of squares, disagreement within."""
    within = 2 * (raters * second - first**2) / (raters - 1)
    return np.stack([raters, first, second, within], axis=1)


def interval_value(totals: Floats) -> Floats:
    """Alpha for numbers on an interval scale from totals of `moment_sums`."""
    raters, first, second, within = np.moveaxis(totals, -1, 0)
    between = 2 * (raters * second - first**2)
    # What rounding leaves of equal numbers is no variation.
    between = np.where(between > _TINY * raters * second, between, 0)
    return 1 - ratio((raters - 1) * within, between)


def coincidences(counts: Floats, times: NDArray[np.integer]) -> Floats:
    """How often each two labels met in a unit, each unit weighing as much as it has votes."""
    weighted = counts * (times / (counts.sum(axis=1) - 1))[:, None]
    table: Floats = weighted.T @ counts - np.diag(weighted.sum(axis=0))
    return table


def ordinal_value(table: Floats) -> Floats:
    """Alpha for labels in order from their coincidences: labels are as far apart as their mean ranks."""
    totals = table.sum(axis=0)
    distance = squared(totals.cumsum() - totals / 2)
    between = totals @ distance @ totals
    return np.float64(1) - ratio((totals.sum() - 1) * (table * distance).sum(), between)


def krippendorff_alpha(
    votes: LabelVotes | ScaleVotes | LabelSetVotes | NDArray[np.integer] | Patterns,
    metric: str = "nominal",
    *,
    bootstrap: Bootstrap | None = USUAL,
) -> Score:
    """Krippendorff's alpha of votes or of counts (a row a unit, a column a label).

    The metric is nominal, ordinal (labels in their order), interval or ratio (labels that are numbers;
    interval also takes others, as evenly spaced), or masi or jaccard for several labels from each annotator.
    """
    measure = f"alpha({choose('kind-metric', metric, METRICS)})"
    if metric == "interval" and isinstance(votes, ScaleVotes):
        return _alpha_of_numbers(measure, scale_values(votes), bootstrap)
    if isinstance(votes, LabelSetVotes):
        return _alpha_of_sets(measure, metric, votes, bootstrap)
    if metric in ("masi", "jaccard"):
        raise unsuitable(votes, measure)
    found = patterns(votes, measure).with_votes(2)
    if metric == "ordinal":
        return _ordinal_alpha(measure, found, bootstrap)
    if metric == "interval" and isinstance(votes, Patterns) and found.answers is not None:
        return _alpha_of_steps(measure, found, bootstrap)
    if metric == "interval":
        return found.score(measure, _moments(found), interval_value, bootstrap)
    distance = _distance(measure, metric, found)
    sums = alpha_sums(found.counts, distance)
    return found.score(
        measure,
        sums,
        lambda totals: alpha_value(totals, distance),
        bootstrap,
        prior=lambda counts: alpha_sums(counts, distance),
    )


def _distance(measure: str, metric: str, found: Patterns) -> Floats:
    if metric == "nominal":
        return nominal(found.counts.shape[1])
    if found.answers is None or not found.answers.measured:
        raise UsageError("numbers-labels-none", hint="use-alpha-ordinal", measure=measure)
    return relative(found.answers.numbers)


def _moments(found: Patterns) -> Floats:
    numbers = found.numbers - found.numbers[:1]
    return moment_sums(found.raters, found.counts @ numbers, found.counts @ numbers**2)


def _ordinal_alpha(measure: str, found: Patterns, bootstrap: Bootstrap | None) -> Score:
    """The ranks depend on all votes, so each resample is worked out from its coincidences."""
    if (undefined := found.undefined(measure)) is not None:
        return undefined
    value = float(ordinal_value(coincidences(found.counts, found.times)))
    around = None
    if bootstrap is not None and found.times.sum() > 1:
        drawn = [
            ordinal_value(coincidences(found.counts, times))
            for block in resampled_times(found.times, bootstrap)
            for times in block
        ]
        around = interval(np.array(drawn), bootstrap.level, value=value, groups=int(found.times.sum()))
    return found.scored(measure, value, around, bootstrap)


def _alpha_of_numbers(measure: str, values: Floats, bootstrap: Bootstrap | None) -> Score:
    """Sums and sums of squares are enough, so numbers may be as fine as they like."""
    answered = ~np.isnan(values)
    raters = answered.sum(axis=1)
    values, answered, raters = (part[raters >= 2] for part in (values, answered, raters))
    rated = spread(raters)
    if len(values) == 0:
        return Score(measure, None, 0, note=ALONE, signature=signature(raters=rated))
    numbers = np.where(answered, values - np.nanmin(values), 0.0)
    if not numbers.any():
        return Score(measure, None, len(values), note=SAME, signature=signature(raters=rated))
    first, second = numbers.sum(axis=1), (numbers**2).sum(axis=1)
    sums = moment_sums(raters.astype(np.float64), first, second)
    return _alpha_of_moments(measure, rated, *distinct_sums(sums), bootstrap)


def _alpha_of_steps(measure: str, found: Patterns, bootstrap: Bootstrap | None) -> Score:
    """The same for a scale whose steps were counted."""
    rated = spread(found.raters)
    if (undefined := found.undefined(measure)) is not None:
        return Score(measure, None, undefined.n, note=undefined.note, signature=signature(raters=rated))
    numbers = found.numbers - found.numbers[found.counts.any(axis=0)].min()
    sums = moment_sums(found.raters, found.counts @ numbers, found.counts @ numbers**2)
    return _alpha_of_moments(measure, rated, *distinct_sums(sums, found.times), bootstrap)


def _alpha_of_moments(
    measure: str, rated: str | None, sums: Floats, times: NDArray[np.int64], bootstrap: Bootstrap | None
) -> Score:
    value = float(interval_value(times @ sums))
    around = bootstrap_interval(sums, interval_value, bootstrap, times)
    line = signature(raters=rated, boot=bootstrap if around else None)
    return Score(measure, value, int(times.sum()), around, signature=line)


def _alpha_of_sets(measure: str, metric: str, votes: LabelSetVotes, bootstrap: Bootstrap | None) -> Score:
    """There may be thousands of different sets, each seen once: answers are looked up, not counted."""
    if metric not in SETS:
        raise unsuitable(votes, measure)
    answers = coded(votes, measure, LabelSetVotes)
    raters = (answers.codes >= 0).sum(axis=1)
    codes, times = distinct_rows(compact(answers.codes[raters >= 2]) - MISSING)
    n = int(times.sum())
    parts = {"raters": spread(raters[raters >= 2]), "labels": len(votes.labels)}
    if len(np.unique(codes[codes > 0])) < 2:
        return Score(measure, None, n, note=SAME if n else ALONE, signature=signature(**parts))
    distance = SETS[metric](answers.members)
    within = 2 * within_rows(codes + MISSING, distance) / ((codes > 0).sum(axis=1) - 1)

    def value(draws: NDArray[np.integer]) -> Floats:
        """Alpha where the rows come so many times: `(resamples, rows)`."""
        width, sets = codes.shape[1], len(distance)
        totals = [np.bincount(codes.ravel(), np.repeat(draw, width), sets + 1)[1:] for draw in draws]
        return alpha_value(np.column_stack([np.array(totals), draws @ within]), distance)

    point = float(value(times[None])[0])
    around = None
    if bootstrap is not None and n > 1:
        drawn = [value(block) for block in resampled_times(times, bootstrap)]
        around = interval(np.concatenate(drawn), bootstrap.level, value=point, groups=n)
    line = signature(**parts, boot=bootstrap if around else None)
    return Score(measure, point, n, around, signature=line)
