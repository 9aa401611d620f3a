"""A judgment in a few words, for lists."""

from __future__ import annotations

from collections.abc import Mapping

from lapsus.kinds import kinds_of, likely_kind
from lapsus.kinds.text import shortened
from lapsus.model import Answer, Scheme, Unit


def in_words(scheme: Scheme, answers: Mapping[str, Answer], language: str) -> list[str]:
    """What was said, question by question, with labels by their names; how many of each, of spans."""
    kinds = kinds_of(scheme)
    found: list[str] = []
    for id, kind in kinds.items():
        if (answer := answers.get(id)) is not None:
            is_only = sum(type(other) is type(kind) for other in kinds.values()) == 1
            fitting = kind if kind.holds(answer) else likely_kind(answer)(kind.question, kind.labels)
            found.extend(fitting.in_words(answer, language, is_only))
    return found


def excerpt(unit: Unit) -> str:
    """The text that was judged, or its beginning; of a whole document, the last there is to read."""
    segment = unit.target or unit.visible[-1]
    return shortened(segment.text)
