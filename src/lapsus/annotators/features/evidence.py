"""Evidence: the signs that speak for a breakdown, in words and with the turn that they point to.

A model says how likely a breakdown is; evidence says what a reader can check. What counts how much is data
(`evidence.yaml`).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

import msgspec
import regex

from lapsus.annotators.features.cues import SurfaceCues
from lapsus.annotators.features.signs import Sign, meaning, signs_in
from lapsus.annotators.features.statements import contradict
from lapsus.annotators.features.turn_context import TurnContext
from lapsus.model import Unit, in_language
from lapsus.word_files import word_file

_LEAST_WORDS = {False: 3, True: 6}
"""Words that a repeated turn must have; pairs of signs where there are no spaces. Thanks may come twice."""
_FAR = 200
"""Turns that are looked back on: logs of a whole day would take for ever."""
_STRONGEST = 3.0
_KEYWORDS = 4
_REPEATS = frozenset({"repeats-itself", "repeats-again", "rephrases-itself"})
_SAID_BEFORE = _REPEATS | {"echoes-user"}
"""Signs that point to an earlier turn although it may say the very same."""


class Evidence(NamedTuple):
    """A sign, what it was seen in, and where that stands."""

    kind: str
    sign: str
    quote: str
    segments: tuple[str, ...]
    """The earlier turns that the quote stands in."""
    weight: float

    @property
    def types(self) -> tuple[str, ...]:
        """The error types of the guideline that it points to."""
        data = _data()
        return tuple(data["types"].get(self.sign) or data["kinds"][self.kind]["types"])

    def says(self, language: str) -> str:
        """The evidence in words, in the reader's language."""
        words = _data()["words"].get(self.sign)
        if words is None:
            return meaning(Sign(self.sign, self.quote), language)
        return str(in_language(words, language)).replace("{quote}", self.quote)


def evidence(unit: Unit) -> list[Evidence]:
    """All evidence for a breakdown that is seen in a turn, the strongest first."""
    unit = msgspec.structs.replace(unit, context=unit.context[-_FAR:])
    found = [
        Evidence(kind, sign, quote, _segments(unit, sign, quote), weight)
        for sign, quote in _seen(unit).items()
        for kind, weight in _weights().get(sign, {}).items()
    ]
    return sorted(found, key=lambda one: -one.weight)


def strength(found: list[Evidence]) -> float:
    """What evidence adds to the log odds of a breakdown: the strongest sign of each kind, up to a limit."""
    best: dict[str, float] = {}
    for one in found:
        best[one.kind] = max(best.get(one.kind, 0.0), one.weight)
    return min(sum(best.values()), _STRONGEST)


def kind_name(kind: str, language: str) -> str:
    """What a kind of evidence is called."""
    return str(in_language(_data()["kinds"][kind]["name"], language))


def kinds() -> list[str]:
    """Every kind of evidence."""
    return list(_data()["kinds"])


def _seen(unit: Unit) -> dict[str, str]:
    scene = TurnContext.of(unit)
    found = dict(signs_in(scene))
    if len(scene.turn.words) < _LEAST_WORDS[scene.cues.spaceless]:
        found = {sign: quote for sign, quote in found.items() if sign not in _REPEATS}
    if not scene.turn.words:
        # Nothing, or a face: that is little, but not garbled.
        found.pop("garbled", None)
    # The rule of that name is quick to see a contradiction: good where it is weighed, not where it is shown.
    found.pop("contradicts-itself", None)
    if denied := _denied(scene, unit.language):
        found["contradicts-itself"] = denied
    if "ignores-question" in found:
        found.pop("wrong-answer", None)
    elif question := _evaded(scene):
        found["evades-question"] = question
    if "old-topic" in found:
        found.pop("leaves-topic", None)
        found["old-topic"] = _as_said(found["old-topic"], (*scene.own, *scene.others))
    elif "leaves-topic" in found and scene.user is not None:
        found["leaves-topic"] = ("、" if scene.cues.spaceless else ", ").join(_topic(scene.user))
    return found


def _denied(scene: TurnContext, language: str | None) -> str | None:
    """What the system said before that the turn excludes."""
    earlier = (seen.text for seen in scene.own)
    return next((text for text in earlier if contradict(scene.turn.text, text, language)), None)


def _evaded(scene: TurnContext) -> str | None:
    """A question of which the turn takes up no word. It may still be an answer: models tell that better."""
    user, turn = scene.user, scene.turn
    if user is None or user.asks is None or "unsure" in turn.does or turn.keywords & user.keywords:
        return None
    return user.text


def _topic(seen: SurfaceCues) -> list[str]:
    """The keywords of an utterance as they stand in it."""
    found = sorted((seen.plain.find(word), _as_said(word, (seen,))) for word in seen.keywords)
    return [word for _, word in found[:_KEYWORDS]]


def _as_said(keyword: str, looks: Iterable[SurfaceCues]) -> str:
    """A keyword with its endings, as somebody said it."""
    for seen in looks:
        if match := regex.search(rf"{regex.escape(keyword)}\w*", seen.plain if keyword.isascii() else ""):
            return match.group()
    return keyword


def _segments(unit: Unit, sign: str, quote: str) -> tuple[str, ...]:
    """The earlier turns that the sign was seen in. Where it was seen in the turn itself, there are none."""
    if not quote or (unit.target and quote == unit.target.text and sign not in _SAID_BEFORE):
        return ()
    return tuple(segment.id for segment in unit.context if segment.text == quote)


def _data() -> Any:
    return word_file("lapsus.annotators.features", "evidence.yaml")


@cache
def _weights() -> dict[str, dict[str, float]]:
    """For each sign its kind and what it counts."""
    return {
        sign: {kind: float(weight)}
        for kind, data in _data()["kinds"].items()
        for sign, weight in data["signs"].items()
    }
