"""A turn that looks like a breakdown: what was said, what the model says of it, and what can be checked."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from lapsus.annotators.breakdown import QUESTION
from lapsus.annotators.features.evidence import Evidence, evidence, strength
from lapsus.measures.scores.breakdown_labels import LABELS
from lapsus.model import Judgment, Segment, Unit

SHOWN_BEFORE = 4
"""Turns before the judged one that are always shown."""
_LEAST = 1e-3
LISTED = 0.5
"""Risk from which a turn stands out."""
PLAIN = 1.5
"""What evidence must count for a turn to stand out whatever the model says: it said this before, or the opposite."""


class Finding(NamedTuple):
    """A judged turn with its evidence."""

    document: str
    system: str | None
    language: str | None
    turn: Segment
    context: tuple[Segment, ...]
    """What came before, as far as it is shown: the last turns, and earlier ones that evidence points to."""
    left_out: tuple[int, ...]
    """For each turn of the context how many before it are not shown."""
    label: str
    shares: tuple[float, float, float]
    evidence: tuple[Evidence, ...]
    risk: float
    unit: Unit
    types: tuple[tuple[str, float], ...] = ()
    """The error types that it is likely to have, the likeliest first, with the shares of people who would name them."""

    @property
    def stands_out(self) -> bool:
        """Whether it is worth a look.

        The label is not asked: it is decided so as to miss no breakdown, and in a log that goes well most alarms
        would be false. A sign that hardly ever comes up in good talk is enough by itself.
        """
        return self.risk >= LISTED or strength(list(self.evidence)) >= PLAIN

    @property
    def kinds(self) -> list[str]:
        """The kinds of its evidence, the strongest first."""
        return list(dict.fromkeys(one.kind for one in self.evidence))

    def as_data(self, language: str) -> dict[str, Any]:
        """For another program."""
        return {
            "document": self.document,
            "system": self.system,
            "segment": self.turn.id,
            "text": self.turn.text,
            "label": self.label,
            "distribution": dict(zip(LABELS, self.shares, strict=True)),
            "risk": round(self.risk, 4),
            "evidence": [
                {
                    "kind": one.kind,
                    "sign": one.sign,
                    "types": one.types,
                    "says": one.says(language),
                    "quote": one.quote,
                    "segments": one.segments,
                    "weight": one.weight,
                }
                for one in self.evidence
            ],
            "types": [{"type": type, "share": round(share, 4)} for type, share in self.types],
            "context": [
                {"segment": segment.id, "role": segment.role, "text": segment.text}
                for segment in self.context
            ],
        }


def find(unit: Unit, judgment: Judgment, system: str | None) -> Finding:
    """What there is to say of one judged turn."""
    if unit.target is None:
        raise ValueError("a whole document is no turn")
    # Who gives one answer and no shares, as a language model that is asked once, is taken at their word.
    shares = judgment.distributions.get(QUESTION) or {str(judgment.answers[QUESTION]): 1.0}
    o, t, x = (float(shares.get(label, 0.0)) for label in LABELS)
    found = evidence(unit)
    context, left_out = _shown(unit, {id for one in found if one.weight for id in one.segments})
    return Finding(
        unit.document,
        system,
        unit.language,
        unit.target,
        context,
        left_out,
        str(judgment.answers[QUESTION]),
        (o, t, x),
        tuple(found),
        risk(o, t, x, strength(found)),
        unit,
    )


def risk(o: float, t: float, x: float, counted: float) -> float:
    """From 0 to 1: half of the doubt and all of the breakdown, with the evidence added as log odds."""
    share = min(max(x + t / 2, _LEAST), 1 - _LEAST)
    return 1 / (1 + math.exp(-(math.log(share / (1 - share)) + counted)))


def _shown(unit: Unit, pointed: set[str]) -> tuple[tuple[Segment, ...], tuple[int, ...]]:
    """The last turns and those that evidence points to, and how many are left out before each."""
    first = len(unit.context) - SHOWN_BEFORE
    wanted = {place for place, segment in enumerate(unit.context) if place >= first or segment.id in pointed}
    # A gap of one turn takes as much room as the turn itself.
    kept = [
        place
        for place in range(len(unit.context))
        if place in wanted or (place + 1 in wanted and (place == 0 or place - 1 in wanted))
    ]
    gaps = (after - before - 1 for before, after in zip([-1, *kept], kept, strict=False))
    return tuple(unit.context[place] for place in kept), tuple(gaps)
