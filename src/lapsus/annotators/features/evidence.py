"""Evidence: what speaks for a fault in a reply, in words and with the segments that it points to.

A model says how likely a breakdown is; evidence says what a reader can check. Signs on replies of any length are seen
by `reply_signs`; signs of chats, such as a question without an answer, are looked for in short replies only. Kinds,
measured worth and words of signs are data (`evidence.yaml`).
"""

import math
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

import msgspec
import regex

from lapsus.annotators.features.cues import SurfaceCues, TurnContext
from lapsus.annotators.features.reply_signs import RULES, Reply, Seen
from lapsus.annotators.features.sign_rules import Sign, meaning, signs_in
from lapsus.annotators.features.statements import contradict
from lapsus.model import Unit, in_language
from lapsus.word_files import word_file

_FAR = 60
"""Segments that are looked back on: logs of a whole day would take for ever."""
_CHAT = 220
"""Characters up to which a reply is looked at as a turn of a chat."""
_OWN = 120
"""Letters of statements about oneself: beyond them talk is about the world, where much is denied and affirmed."""
STRONGEST = 6.0
"""What all evidence together adds at most to the log odds."""
_HEAVIEST = 5.0
_KEYWORDS = 4
_DOUBT = 1.5
"""Planted faults are plainer than real ones: what is taken off a measured worth."""


class Evidence(NamedTuple):
    """A sign, what it was seen in, and where that stands."""

    kind: str
    sign: str
    quote: str
    segments: tuple[str, ...]
    """The earlier segments that the sign points to."""
    weight: float
    source: str = ""
    """What a source says instead."""

    @property
    def types(self) -> tuple[str, ...]:
        """The error types of the guideline that it points to."""
        return tuple(_signs()[self.sign].get("types") or _data()["kinds"][self.kind]["types"])

    def says(self, language: str) -> str:
        """The evidence in words, in the reader's language."""
        words = _signs()[self.sign].get("says")
        if words is None:
            return meaning(Sign(self.sign, self.quote), language)
        # Not str.format: a quote may hold braces of its own.
        return (
            str(in_language(words, language)).replace("{source}", self.source).replace("{quote}", self.quote)
        )


def evidence(unit: Unit) -> list[Evidence]:
    """All evidence that is seen in a turn, the strongest first."""
    reply = Reply.of(unit)
    found = {name: seen for name, rule in RULES.items() if (seen := rule(reply)) is not None}
    if reply.letters and len(reply.turn.text) <= _CHAT:
        found = {**dict(_chat_signs(unit, set(found))), **found}
    return sorted((made(sign, seen) for sign, seen in found.items()), key=lambda one: -one.weight)


def made(sign: str, seen: Seen) -> Evidence:
    """Evidence of a sign, with its kind and what it weighs."""
    return Evidence(_signs()[sign]["kind"], sign, seen.quote, seen.segments, weight(sign), seen.source)


def strength(found: Iterable[Evidence]) -> float:
    """What evidence adds to the log odds of a fault: the strongest sign of each kind, up to a limit."""
    best: dict[str, float] = {}
    for one in found:
        best[one.kind] = max(best.get(one.kind, 0.0), one.weight)
    return min(sum(best.values()), STRONGEST)


@cache
def weight(sign: str) -> float:
    """What a sign is worth in log odds: how much oftener it is seen in faulty replies than in good ones."""
    told = _signs()[sign]
    if "found" not in told:
        return float(told["weight"])
    (hits, faults), (alarms, replies) = told["found"], told["alarms"]
    # Half a case more on either side: what was never seen may still come.
    worth = math.log((hits + 0.5) / (faults + 1)) - math.log((alarms + 0.5) / (replies + 1))
    return round(min(max(worth - _DOUBT, 0.0), _HEAVIEST), 1)


def kind_name(kind: str, language: str) -> str:
    """What a kind of evidence is called."""
    return str(in_language(_data()["kinds"][kind]["name"], language))


def kind_of(sign: str) -> str:
    """The kind of evidence that a sign is."""
    return str(_signs()[sign]["kind"])


def kinds() -> list[str]:
    """Every kind of evidence."""
    return list(_data()["kinds"])


def sign_table() -> dict[str, dict[str, Any]]:
    """Every sign with its kind and what was measured."""
    return {name: {**told, "weight": weight(name)} for name, told in _signs().items()}


def _chat_signs(unit: Unit, seen: set[str]) -> Iterator[tuple[str, Seen]]:
    """Signs of chats in a short turn, those aside that say the same as what was seen already."""
    scene = TurnContext.of(msgspec.structs.replace(unit, context=unit.context[-_FAR:]))
    found = {sign: quote for sign, quote in signs_in(scene) if sign in _signs()}
    # The rule of that name is quick to see a contradiction: good where it is weighed, not where it is shown.
    found.pop("contradicts-itself", None)
    if denied := _denied(scene, unit.language):
        found["contradicts-itself"] = denied
    if "same-again" in seen:
        found.pop("rephrases-itself", None)
    if scene.user is not None and len(scene.user.text) > _OWN:
        # Whoever has lost the thread says so in a few words.
        found.pop("ignores-trouble", None)
    if "ignores-question" in found:
        found.pop("wrong-answer", None)
    elif question := _evaded(scene):
        found["evades-question"] = question
    if "old-topic" in found:
        found.pop("leaves-topic", None)
        found["old-topic"] = _as_said(found["old-topic"], (*scene.own, *scene.others))
    elif "leaves-topic" in found and scene.user is not None:
        found["leaves-topic"] = ("、" if scene.cues.spaceless else ", ").join(_topic(scene.user))
    for sign, quote in found.items():
        yield sign, Seen(quote, _segments(unit, sign, quote))


def _denied(scene: TurnContext, language: str | None) -> str | None:
    """What the system said of itself before that the turn excludes."""
    if len(scene.turn.text) > _OWN:
        return None
    earlier = (seen.text for seen in scene.own if len(seen.text) <= _OWN)
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
    if not quote or (unit.target and quote == unit.target.text and sign != "echoes-user"):
        return ()
    return tuple(segment.id for segment in unit.context if segment.text == quote)


def _data() -> Any:
    return word_file("lapsus.annotators.features", "evidence.yaml")


def _signs() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = _data()["signs"]
    return found
