"""Scores of runs against gold: breakdown labels, label sets, ratings, spans."""

from collections.abc import Callable

from lapsus.measures.score import Score
from lapsus.measures.scores.breakdown import (
    BREAKDOWN_MEASURES,
    LOWER_IS_BETTER,
    BreakdownScores,
    breakdown_scores,
    breakdown_tally,
)
from lapsus.measures.scores.breakdown_floors import constant_floor, half_floor, majority_accuracy
from lapsus.measures.scores.breakdown_labels import (
    breakdown_counts,
    lenient_labels,
    strict_labels,
    vote_shares,
)
from lapsus.measures.scores.label_sets import Against, LabelSetScores, label_set_scores, label_set_tally
from lapsus.measures.scores.ratings import Level, RatingScores, mean_ratings, rating_scores
from lapsus.measures.scores.runs import AlignedRun, align_run, match_run
from lapsus.measures.scores.spans import (
    ElementScores,
    SpanScores,
    element_scores,
    element_tally,
    omitted_elements,
    span_scores,
    span_tally,
)
from lapsus.measures.scores.tally import PrecisionRecall, Tally
from lapsus.registry import Registry

__all__ = [
    "BREAKDOWN_MEASURES",
    "LOWER_IS_BETTER",
    "SCORES",
    "Against",
    "AlignedRun",
    "BreakdownScores",
    "ElementScores",
    "LabelSetScores",
    "Level",
    "PrecisionRecall",
    "RatingScores",
    "SpanScores",
    "Tally",
    "align_run",
    "breakdown_counts",
    "breakdown_scores",
    "breakdown_tally",
    "constant_floor",
    "element_scores",
    "element_tally",
    "half_floor",
    "label_set_scores",
    "label_set_tally",
    "lenient_labels",
    "majority_accuracy",
    "match_run",
    "mean_ratings",
    "omitted_elements",
    "rating_scores",
    "span_scores",
    "span_tally",
    "strict_labels",
    "vote_shares",
]

_FAMILIES = "lapsus.measures.scores.families"

SCORES: Registry[Callable[..., dict[str, Score]]] = Registry(
    "kind-score",
    "lapsus.measures.scores",
    {
        "label_f1": f"{_FAMILIES}:label_f1",
        "label_sets_f1": f"{_FAMILIES}:label_sets_f1",
        "ratings": f"{_FAMILIES}:ratings",
        "span_f1": f"{_FAMILIES}:span_f1",
        "likeness": f"{_FAMILIES}:likeness",
        "challenge": f"{_FAMILIES}:challenge",
    },
)
"""Each is a function `(run, votes, kind, bootstrap, **parameters)` that gives scores by name."""
