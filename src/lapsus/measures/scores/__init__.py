"""Scores of runs against gold: breakdown labels, label sets, ratings, spans."""

from collections.abc import Callable

from lapsus.measures.score import Score
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
