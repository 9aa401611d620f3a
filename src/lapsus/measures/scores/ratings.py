"""Scores of predicted ratings: how well they go along with people's, by unit, document or system."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lapsus.errors import InputError, UsageError
from lapsus.measures.bootstrap import USUAL, Bootstrap, Floats
from lapsus.measures.score import SAME, Score, signature
from lapsus.measures.scores.tally import NOTHING, scores_of
from lapsus.notices import Notice

Level: TypeAlias = Literal["unit", "document", "system"]

NEVER_VARIES = Notice("one-two-never-varies")
NOT_LEVELS = Notice("kappa-needs-whole-levels")
_WEIGHTS: tuple[Weights, Weights] = ("linear", "quadratic")
_MEASURES = ("pearson", "spearman", "kendall", "MAE", "kappa(linear)", "kappa(quadratic)")
Weights: TypeAlias = Literal["linear", "quadratic"]
_FLAT = 1e-12
"""A spread below this part of the values' own size is rounding, not variation."""


class _Ratings(NamedTuple):
    """The pairs of ratings, sorted by what is drawn, and where each of the things to draw begins."""

    predicted: Floats
    gold: Floats
    means_of: NDArray[np.intp] | None
    """What to take means of before comparing, such as systems."""
    starts: NDArray[np.intp]
    sizes: NDArray[np.intp]

    def pairs(self, drawn: NDArray[np.intp] | None = None) -> tuple[Floats, Floats]:
        """The two lists to compare, of all or of the things drawn."""
        rows: Any = slice(None) if drawn is None else _rows(self.starts[drawn], self.sizes[drawn])
        predicted, gold = self.predicted[rows], self.gold[rows]
        if self.means_of is None:
            return predicted, gold
        return group_means(predicted, self.means_of[rows]), group_means(gold, self.means_of[rows])


def group_means(values: Floats, groups: NDArray[np.intp]) -> Floats:
    """The mean of each group that has values, by the groups' numbers."""
    counts = np.bincount(groups)
    there = counts > 0
    means: Floats = np.bincount(groups, values)[there] / counts[there]
    return means


def rating_scores(
    predicted: Floats,
    gold: Floats,
    *,
    documents: NDArray[np.intp] | None = None,
    systems: NDArray[np.intp] | None = None,
    level: Level = "unit",
    bootstrap: Bootstrap | None = USUAL,
) -> dict[str, Score]:
    """Score predicted ratings `(n,)` against people's. A unit without one of the two (NaN) is left out.

    `documents` and `systems` number each unit's document and system. On the level of documents or systems,
    means are compared. Intervals come from drawing documents, or units where documents are not given; since
    each resample is ranked anew, they take a while for many units.
    """
    ratings = _prepared(predicted, gold, documents, systems, level)
    bootstrap = bootstrap if len(ratings.starts) > 1 else None
    over = "units" if documents is None else "documents"
    line = signature(level=level, over=over if bootstrap else None, boot=bootstrap)
    pairs = ratings.pairs()
    drawn = None if bootstrap is None else _resampled(ratings, bootstrap)
    return scores_of(
        _MEASURES,
        _values(*pairs),
        drawn,
        bootstrap,
        n=len(pairs[0]),
        groups=len(ratings.starts),
        signature=line,
        note=lambda measure: _note(measure, *pairs),
    )


def _prepared(
    predicted: Floats,
    gold: Floats,
    documents: NDArray[np.intp] | None,
    systems: NDArray[np.intp] | None,
    level: Level,
) -> _Ratings:
    given = [array for array in (predicted, gold, documents, systems) if array is not None]
    if any(array.shape != (len(predicted),) for array in given):
        raise InputError("ratings-do-not-fit", given=", ".join(str(array.shape) for array in given))
    by = systems if level == "system" else documents
    if by is None and level != "unit":
        raise UsageError("cannot-score-without-knowing", level=level)
    both = np.flatnonzero(np.isfinite(predicted) & np.isfinite(gold))
    if documents is None:
        drawn = np.arange(len(both))
    else:
        both = both[np.argsort(documents[both], kind="stable")]
        drawn = documents[both]
    _, starts, sizes = np.unique(drawn, return_index=True, return_counts=True)
    if level == "document":
        # A document that is drawn twice counts twice, so its mean is taken before the drawing.
        means = group_means(predicted[both], drawn), group_means(gold[both], drawn)
        return _Ratings(means[0], means[1], None, np.arange(len(starts)), np.ones_like(sizes))
    means_of = by[both] if by is not None and level == "system" else None
    return _Ratings(predicted[both], gold[both], means_of, starts, sizes)


def _values(predicted: Floats, gold: Floats) -> Floats:
    if not len(gold):
        return np.full(len(_MEASURES), np.nan)
    linear = quadratic = np.nan
    if _whole(predicted, gold):
        linear, quadratic = (weighted_kappa(predicted, gold, how) for how in _WEIGHTS)
    error = float(np.abs(predicted - gold).mean())
    correlations = [measure(predicted, gold) for measure in (pearson, spearman, kendall)]
    return np.array([*correlations, error, linear, quadratic])


def _resampled(ratings: _Ratings, bootstrap: Bootstrap) -> Floats:
    generator = np.random.default_rng(bootstrap.seed)
    count = len(ratings.starts)
    draws = (generator.integers(0, count, count) for _ in range(bootstrap.resamples))
    return np.array([_values(*ratings.pairs(drawn)) for drawn in draws])


def _rows(starts: NDArray[np.intp], sizes: NDArray[np.intp]) -> NDArray[np.intp]:
    """All places from each start on, as many as its size says."""
    ends = np.cumsum(sizes)
    rows: NDArray[np.intp] = np.arange(ends[-1]) + np.repeat(starts - (ends - sizes), sizes)
    return rows


def _whole(predicted: Floats, gold: Floats) -> bool:
    return bool((predicted == np.rint(predicted)).all() and (gold == np.rint(gold)).all())


def _note(measure: str, predicted: Floats, gold: Floats) -> str:
    if not len(gold):
        return NOTHING
    if not measure.startswith("kappa"):
        return NEVER_VARIES
    return SAME if _whole(predicted, gold) else NOT_LEVELS


def weighted_kappa(x: Floats, y: Floats, weights: Weights) -> float:
    """1 less the mean distance of the pairs over the mean distance of any x to any y; NaN where that is 0.

    Distances are differences of levels, or their squares. Levels that nobody used change nothing.
    """
    if weights == "quadratic":
        observed = float(np.square(x - y).mean()) if len(x) else 0.0
        expected = float(x.var() + y.var() + (x.mean() - y.mean()) ** 2) if len(x) else 0.0
    else:
        observed = float(np.abs(x - y).mean()) if len(x) else 0.0
        expected = _mean_distance(x, y)
    return 1 - observed / expected if expected > 0 else np.nan


def _mean_distance(x: Floats, y: Floats) -> float:
    """The mean of |a - b| over every a of x and b of y: each gap between levels by the pairs that span it."""
    if not len(x):
        return 0.0
    levels = np.unique(np.concatenate([x, y]))
    below_x = np.searchsorted(np.sort(x), levels[:-1], side="right") / len(x)
    below_y = np.searchsorted(np.sort(y), levels[:-1], side="right") / len(y)
    return float(np.diff(levels) @ (below_x * (1 - below_y) + below_y * (1 - below_x)))


def pearson(x: Floats, y: Floats) -> float:
    """The product-moment correlation."""
    if is_flat(x) or is_flat(y):
        return np.nan
    x, y = x - x.mean(), y - y.mean()
    # Scaled first, so that squares of very large or small numbers stay in range.
    x, y = x / np.abs(x).max(), y / np.abs(y).max()
    return float(np.clip((x @ y) / np.sqrt((x @ x) * (y @ y)), -1.0, 1.0))


def spearman(x: Floats, y: Floats) -> float:
    """The correlation of ranks; ties share the mean of their ranks."""
    return pearson(mean_ranks(x), mean_ranks(y))


def kendall(x: Floats, y: Floats) -> float:
    """Kendall's tau-b: pairs in the same order less pairs in opposite order, ties taken into account.

    Sorting does it in n log n steps instead of looking at all pairs (Knight's method).
    """
    ranks_x, ranks_y = _dense(x), _dense(y)
    order = np.lexsort((ranks_y, ranks_x))
    ranks_x, ranks_y = ranks_x[order], ranks_y[order]
    pairs = len(x) * (len(x) - 1) // 2
    tied_x, tied_y = _tied(ranks_x), _tied(ranks_y)
    tied_both = _tied(_dense(ranks_x * (int(ranks_y.max(initial=0)) + 1) + ranks_y))
    spread = float(pairs - tied_x) * float(pairs - tied_y)
    if spread == 0:
        return np.nan
    same_less_opposite = pairs - tied_x - tied_y + tied_both - 2 * inversions(ranks_y)
    return same_less_opposite / float(np.sqrt(spread))


def is_flat(values: Floats) -> bool:
    """Whether the values are all the same, or there are fewer than two."""
    if len(values) < 2:
        return True
    low, high = float(values.min()), float(values.max())
    return high - low <= _FLAT * max(abs(low), abs(high))


def mean_ranks(values: Floats) -> Floats:
    """Ranks from 1; equal values share the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[place]


def inversions(values: NDArray[np.integer[Any]]) -> int:
    """How many pairs stand in the wrong order, counted while merging ever longer sorted stretches."""
    n = len(values)
    size = 1 << max(n - 1, 0).bit_length()
    # Fillers are larger than everything and stand at the end, so they are in no inversion.
    line = np.full(size, np.iinfo(np.int64).max)
    line[:n] = values
    places = np.arange(size)
    found, width = 0, 1
    while width < size:
        pairs = line.reshape(-1, 2 * width)
        order = np.argsort(pairs, axis=1, kind="stable")
        # Merging moves each value of the left stretch behind all smaller ones of the right.
        left_now, left_before = np.flatnonzero(order < width), places.reshape(-1, 2 * width)[:, :width]
        found += int(left_now.sum() - left_before.sum())
        line = np.take_along_axis(pairs, order, axis=1).ravel()
        width *= 2
    return found


def _dense(values: NDArray[Any]) -> NDArray[np.int64]:
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def _tied(ranks: NDArray[np.int64]) -> int:
    counts = np.bincount(ranks)
    return int((counts * (counts - 1) // 2).sum())
