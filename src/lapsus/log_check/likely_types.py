"""What is likely to be wrong with turns that stand out: their error types, by the judge that is shipped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from lapsus.annotators import Annotator
from lapsus.annotators.library import default_model, load_model
from lapsus.errors import UsageError
from lapsus.log_check.finding import Finding

SCHEME: Final = "error-types"
QUESTION: Final = "types"
MOST: Final = 3
LEAST: Final = 0.15
"""The share from which a further type is named beside the first."""


def with_types(findings: Sequence[Finding]) -> list[Finding]:
    """The findings with their likely types. Where no judge of types is installed, they stay as they are."""
    judge = _judge() if findings else None
    if judge is None:
        return list(findings)
    return [
        finding._replace(types=_likely(opinion.distributions.get(QUESTION, {})))
        for finding, opinion in zip(findings, judge.opinions([one.unit for one in findings]), strict=True)
    ]


@cache
def _judge() -> Annotator | None:
    try:
        return load_model(default_model("en", SCHEME))
    except UsageError:
        return None


def _likely(shares: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    ranked = sorted(shares.items(), key=lambda item: -item[1])[:MOST]
    return tuple(item for place, item in enumerate(ranked) if not place or item[1] >= LEAST)
