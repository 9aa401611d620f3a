"""Scores of predicted ratings: how well they go along with people's, by unit, document or system."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from lapsus.errors import InputError, UsageError
from lapsus.measures.bootstrap import USUAL, Bootstrap, Floats
from lapsus.measures.score import SAME, Score, signature
from lapsus.measures.scores.correlation import kendall, pearson, spearman
from lapsus.measures.scores.tally import NOTHING, scores_of
from lapsus.measures.scores.weighted_kappa import Weights, weighted_kappa
from lapsus.model.votes import ScaleVotes
from lapsus.notices import Notice

Level: TypeAlias = Literal["unit", "document", "system"]

NEVER_VARIES = Notice("one-two-never-varies")
NOT_LEVELS = Notice("kappa-needs-whole-levels")
_WEIGHTS: tuple[Weights, Weights] = ("linear", "quadratic")
_MEASURES = {
    "pearson": "pearson",
    "spearman": "spearman",
    "kendall": "kendall",
    "mae": "MAE",
    "kappa_linear": "kappa(linear)",
    "kappa_quadratic": "kappa(quadratic)",
}


class RatingScores(msgspec.Struct, frozen=True):
    """Scores of one run's ratings."""

    pearson: Score
    spearman: Score
    kendall: Score
    mae: Score
    kappa_linear: Score
    kappa_quadratic: Score
    n: int
    """How many units, documents or systems were compared."""


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


def mean_ratings(votes: ScaleVotes) -> Floats:
    """The mean of the annotators' ratings of each unit, NaN where nobody rated it."""
    given = np.isfinite(votes.values)
    totals = np.where(given, votes.values, 0.0).sum(axis=1)
    counts = given.sum(axis=1)
    return np.where(counts > 0, totals / np.maximum(counts, 1), np.nan)


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
) -> RatingScores:
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
    scores = scores_of(
        tuple(_MEASURES.values()),
        _values(*pairs),
        drawn,
        bootstrap,
        n=len(pairs[0]),
        groups=len(ratings.starts),
        signature=line,
        note=lambda measure: _note(measure, *pairs),
    )
    return RatingScores(**dict(zip(_MEASURES, scores, strict=True)), n=len(pairs[0]))


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
