"""Rules that plant a fault in a good reply of a chat, and the words they plant."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from lapsus.language import tokens
from lapsus.model import EMPTY, Answer, Document, Segment, Span, UnitRule
from lapsus.model.unit import SAMPLE, WHOLE
from lapsus.mutation.pair_rules import touches
from lapsus.word_files import word_file

NEED = {
    "question": re.compile(r"[?？]\s*$|か[。\s]*$"),
    "request": re.compile(r"\bplease\b|\b(could|can|would) you\b|ください|お願い|てほしい", re.I),
    "proposal": re.compile(r"\blet'?s\b|\bshall we\b|\bwhy don't we\b|ましょう|しようよ", re.I),
    "greeting": re.compile(
        r"\b(hi|hello|hey|good (morning|afternoon|evening|night)|bye|see you)\b"
        r"|こんにちは|こんばんは|おはよう|さようなら|はじめまして|またね",
        re.I,
    ),
}
"""What a user turn does, by its words."""
Means: TypeAlias = Literal["rule", "example", "model"]
"""How an error was planted: by rule, from the guideline's own examples, or by a language model."""


class Scene(NamedTuple):
    """A reply that is to be spoilt, what came before it, and where chance and wordings come from."""

    reply: str
    earlier: Sequence[str]
    """What the system said before, in order."""
    asked: str
    """What the user said last; empty where the system speaks first."""
    evidence: str
    """The last result of a tool, or the data behind the reply."""
    others: Sequence[str]
    """Replies of other conversations."""
    language: str
    chance: random.Random
    wordings: str = "both"
    """Which of the written lists are drawn from: known, held or both."""

    def written(self, kind: str) -> str:
        """One of the faulty replies that are written down for a kind."""
        lists = [words[key] for words in [_words()[kind]] for key in (self.language, "both") if key in words]
        sorts = ("known", "held") if self.wordings == "both" else (self.wordings,)
        return str(self.chance.choice([text for one in lists for sort in sorts for text in one[sort]]))


Rule: TypeAlias = Callable[[Scene], str | None]


def _words() -> dict[str, Any]:
    found: dict[str, Any] = word_file("lapsus.mutation", "plant_words.yaml")
    return found


def cut_off(scene: Scene) -> str | None:
    """The reply ends in the middle of a sentence."""
    text = scene.reply
    if len(text) < (60 if scene.language == "en" else 24):
        return None
    cut = text[: int(len(text) * scene.chance.uniform(0.3, 0.8))].rstrip()
    return cut if cut and cut[-1].isalnum() and "```" not in cut else None


def leak(scene: Scene) -> str:
    """Pieces of a prompt or a template stand in the reply."""
    return scene.written("leak").replace("{reply}", scene.reply)


def same_again(scene: Scene) -> str | None:
    """An earlier reply again, to another question; sometimes with a word before it."""
    earlier = [text for text in scene.earlier if len(text) > (30 if scene.language == "en" else 12)]
    if not earlier:
        return None
    opening = {"ja": ["", "", "はい。", "先ほどのとおり、"]}.get(
        scene.language, ["", "", "Sure! ", "As I said, "]
    )
    return scene.chance.choice(opening) + scene.chance.choice(earlier)


def looping(scene: Scene) -> str | None:
    """The end of the reply over and over."""
    text = scene.reply[:400]
    piece = text[-scene.chance.randint(12, 50) :].strip()
    again = "".join(f" {piece}" for _ in range(scene.chance.randint(6, 15)))
    return text + again if len(text) > (30 if scene.language == "en" else 10) else None


def broken_encoding(scene: Scene) -> str | None:
    """Read in a wrong encoding, escaped twice, or with letters lost."""
    text = scene.reply[:600]
    if scene.language == "en":
        text = text.replace("'", "’").replace('"', "”").replace(" - ", " – ")
    ways: list[Callable[[], str]] = [
        lambda: text.encode().decode("cp1252", "replace"),
        lambda: text.encode().decode("latin-1"),
        lambda: "".join("\ufffd" if scene.chance.random() < 0.06 else sign for sign in text),
        lambda: text.encode("ascii", "xmlcharrefreplace").decode(),
        lambda: text.encode("unicode_escape").decode(),
    ]
    if scene.language == "ja":
        ways.append(lambda: text.encode().decode("shift_jis", "replace"))
        ways.append(lambda: text.encode("shift_jis", "replace").decode("utf-8", "replace"))
    found = scene.chance.choice(ways)()
    return found if found != text and found != scene.reply else None


def another_chat(scene: Scene) -> str | None:
    """What was said in another conversation."""
    return scene.chance.choice(scene.others) if scene.others else None


def left(scene: Scene) -> str | None:
    """A question or a request gets words that fit anything."""
    asks = NEED["request"].search(scene.asked) or re.search("[?？]", scene.asked)
    return scene.written("left") if asks else None


def against_tool(scene: Scene) -> str | None:
    """A number in the reply that stands in the tool's last results becomes another."""
    known = set(re.findall(r"\d+(?:\.\d+)?", scene.evidence.replace(",", "")))
    places = [
        match
        for match in re.finditer(r"(?<![A-Za-z\d.,_-])\d[\d,]*(?:\.\d+)?(?![A-Za-z\d_-])", scene.reply)
        if match[0].replace(",", "") in known and match[0] != "0"
    ]
    if not places:
        return None
    match = scene.chance.choice(places)
    value = float(match[0].replace(",", ""))
    other = value + scene.chance.choice([1, 2, 3, 10]) * (1 if value < 50 else 7)
    whole = f"{int(other):,}" if "," in match[0] else f"{int(other)}"
    shown = f"{other:,.2f}" if "." in match[0] else whole
    return f"{scene.reply[: match.start()]}{shown}{scene.reply[match.end() :]}"


def gibberish(scene: Scene) -> str | None:
    """Letters drawn from the reply, in heaps that are no words."""
    letters = [sign for sign in scene.reply if sign.isalpha()]
    if len(letters) < 8:
        return None
    heaps = (
        "".join(scene.chance.choices(letters, k=scene.chance.randint(2, 7)))
        for _ in range(scene.chance.randint(4, 8))
    )
    return (" ".join(heaps) if scene.language == "en" else "".join(heaps)).lower()


def word_order(scene: Scene) -> str | None:
    """The words of the reply in an order that makes no sentence."""
    text = scene.reply[:300]
    words = [text[one.start : one.end].strip(".,!?;:、。！？") for one in tokens(text, scene.language)]
    words = [one for one in words if any(map(str.isalnum, one))]
    if len(words) < 6:
        return None
    for _ in range(10):
        mixed = scene.chance.sample(words, len(words))
        kept = len(set(pairwise(words)) & set(pairwise(mixed)))
        if kept <= len(words) // 5:
            return (" ".join(mixed) if scene.language == "en" else "".join(mixed)) + scene.reply.rstrip()[-1]
    return None


def ignored(what: str) -> Rule:
    """A question, request, proposal or greeting gets what was said in another conversation."""
    return lambda scene: another_chat(scene) if NEED[what].search(scene.asked) else None


def changed_topic(scene: Scene) -> str | None:
    """The user tells of something, and gets what was said in another conversation."""
    does = any(pattern.search(scene.asked) for pattern in NEED.values())
    return another_chat(scene) if len(scene.asked) > 15 and not does else None


def _list(kind: str) -> Rule:
    return lambda scene: scene.written(kind)


RULES: dict[str, Rule] = {
    "empty": _list("empty"),
    "cut-off": cut_off,
    "refusal": _list("refusal"),
    "other-language": _list("other-language"),
    "error-text": _list("error"),
    "leak": leak,
    "same-again": same_again,
    "looping": looping,
    "abuse": _list("abuse"),
    "encoding": broken_encoding,
    "another-chat": another_chat,
    "left": left,
    "against-tool": against_tool,
    "gibberish": gibberish,
    "word-order": word_order,
    "ignored-question": ignored("question"),
    "ignored-request": ignored("request"),
    "ignored-proposal": ignored("proposal"),
    "ignored-greeting": ignored("greeting"),
    "changed-topic": changed_topic,
}


class Expected(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answers to one question that find an error."""

    question: str
    labels: tuple[str, ...] = ()
    at_most: float | None = None
    """On a scale: this level or a lower one."""
    places: tuple[tuple[str, int, int], ...] = ()
    """Of marks: they must touch one of these places; none: wherever they are."""

    def is_met(self, answers: Mapping[str, Answer]) -> bool:
        """Whether a judge's answers find it."""
        answer = answers.get(self.question)
        if isinstance(answer, tuple):
            return any(self._is_one(part) for part in answer)
        if isinstance(answer, str):
            return answer in self.labels
        return answer is not None and self.at_most is not None and answer <= self.at_most

    def anywhere(self) -> Expected:
        """The same without places: what would be a false alarm in a unit left as it was."""
        return msgspec.structs.replace(self, places=())

    def _is_one(self, part: str | Span) -> bool:
        if isinstance(part, str):
            return part in self.labels
        return part.label in self.labels and (
            not self.places or any(touches(part, one) for one in self.places)
        )


class Plant(msgspec.Struct, frozen=True, omit_defaults=True):
    """A unit for judges: with an error planted in it, or left as it was (no type, nothing expected)."""

    document: Document
    source: str
    """The document that it was made from: units of one document are no independent draws."""
    text: str
    """What is judged, as it reads now."""
    type: str = ""
    means: Means | None = None
    expected: Expected | None = None
    before: str = ""
    """What stood there."""


def alone(segments: tuple[Segment, ...], place: int | None, language: str | None, rule: UnitRule) -> Document:
    """A document in which one unit alone is judged; ids are numbers, so that they tell nothing."""
    renamed = tuple(msgspec.structs.replace(one, id=str(n), metadata=EMPTY) for n, one in enumerate(segments))
    chosen = WHOLE if place is None else str(place)
    sample: dict[str, Any] = {"role": rule.role, "units": {chosen: {"weight": 1}}}
    return Document("unnamed", renamed, language, {SAMPLE: sample})


def named(plant: Plant, id: str) -> Plant:
    """The same plant under another document id."""
    return msgspec.structs.replace(plant, document=msgspec.structs.replace(plant.document, id=id))
