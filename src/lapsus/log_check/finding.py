"""A judged turn: what was said, what the model says of it, what can be checked, and how it ranks."""

import math
from typing import Any, NamedTuple

from lapsus.annotators.breakdown import QUESTION
from lapsus.annotators.features.evidence import Evidence, evidence, strength
from lapsus.measures.scores.breakdown_labels import LABELS
from lapsus.model import Judgment, Segment, Unit

SHOWN_BEFORE = 4
"""Turns before the judged one that are always shown."""
_LEAST = 1e-3
_LOWEST = -1.0
"""What a model says against a fault counts no more than this, in log odds: a plain sign outweighs it."""
CUT = 1.3
"""The score from which a turn is called likely, unless `--adapt` moves it."""
PLAIN = 3.0
"""What evidence must weigh for a turn to be called likely whatever the model says."""


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
    score: float
    """Log odds of a fault: what turns are ranked by."""
    unit: Unit
    types: tuple[tuple[str, float], ...] = ()
    """The error types that it is likely to have, the likeliest first, with the shares of people who would name them."""

    @property
    def risk(self) -> float:
        """The score as a share, from 0 to 1."""
        return 1 / (1 + math.exp(-self.score))

    def is_likely(self, cut: float = CUT) -> bool:
        """Whether it is called likely: its score reaches the cut, or its evidence is plain."""
        return self.score >= cut or strength(self.evidence) >= PLAIN

    def rests_on_signs(self, cut: float = CUT) -> bool:
        """Whether it is called likely for its signs, where the model alone would not call it so."""
        return self.is_likely(cut) and score(*self.shares[1:], 0.0) < cut

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
                    "source": one.source,
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


def find(unit: Unit, judgment: Judgment, system: str | None, more: Evidence | None = None) -> Finding:
    """What there is to say of one judged turn; `more` is evidence that was found elsewhere."""
    if unit.target is None:
        raise ValueError("a whole document is no turn")
    # Who gives one answer and no shares, as a language model that is asked once, is taken at their word.
    shares = judgment.distributions.get(QUESTION) or {str(judgment.answers[QUESTION]): 1.0}
    o, t, x = (float(shares.get(label, 0.0)) for label in LABELS)
    found = sorted([*evidence(unit), *([more] if more else [])], key=lambda one: -one.weight)
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
        score(t, x, strength(found)),
        unit,
    )


def score(t: float, x: float, counted: float) -> float:
    """Log odds of the breakdown and half of the doubt, with what the evidence weighs added."""
    share = min(max(x + t / 2, _LEAST), 1 - _LEAST)
    return max(math.log(share / (1 - share)), _LOWEST) + counted


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
