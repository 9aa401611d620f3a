"""Scores of runs against gold: breakdown labels, label sets, ratings, spans."""

from collections.abc import Callable

from lapsus.measures.score import Score
from lapsus.measures.scores.breakdown import BREAKDOWN_MEASURES as BREAKDOWN_MEASURES
from lapsus.measures.scores.breakdown import LOWER_IS_BETTER as LOWER_IS_BETTER
from lapsus.measures.scores.breakdown import BreakdownScores as BreakdownScores
from lapsus.measures.scores.breakdown import breakdown_scores as breakdown_scores
from lapsus.measures.scores.breakdown import breakdown_tally as breakdown_tally
from lapsus.measures.scores.breakdown_floors import constant_floor as constant_floor
from lapsus.measures.scores.breakdown_floors import half_floor as half_floor
from lapsus.measures.scores.breakdown_labels import breakdown_counts as breakdown_counts
from lapsus.measures.scores.breakdown_labels import strict_labels as strict_labels
from lapsus.measures.scores.breakdown_labels import vote_shares as vote_shares
from lapsus.measures.scores.label_sets import label_set_scores as label_set_scores
from lapsus.measures.scores.ratings import rating_scores as rating_scores
from lapsus.measures.scores.runs import AlignedRun as AlignedRun
from lapsus.measures.scores.runs import align_run as align_run
from lapsus.measures.scores.runs import match_run as match_run
from lapsus.measures.scores.spans import element_scores as element_scores
from lapsus.measures.scores.spans import omitted_elements as omitted_elements
from lapsus.measures.scores.spans import span_scores as span_scores
from lapsus.measures.scores.tally import Tally as Tally
from lapsus.registry import Registry

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
