"""Makes the sample data of `lapsus.samples` out of `tools/samples/*.yaml`.

The dialogues and texts are invented, and so are the annotators: each has a strictness and a care of its own, and
answers by chance around what the source says a crowd would think. The same seed gives the same files.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from lapsus.formats.jsonl import Jsonl
from lapsus.model import Document, Entry, Judgment, Segment, Span
from lapsus.schemes import broken_rules, load_scheme

HERE = Path(__file__).parent
SOURCES = HERE / "samples"
TARGET = HERE.parent / "src" / "lapsus" / "samples"
BEGUN = datetime(2026, 1, 5, 9, tzinfo=UTC)
LABELS = ("O", "T", "X")
SCALES = ("soundness", "conciseness", "completeness", "relevance", "clarity", "brevity", "coherence")
CHOICES = ("dialogue-act", "emotion", "communicative-goal")
CROWD = {
    "en": [
        "avery",
        "blake",
        "casey",
        "drew",
        "ellis",
        "frankie",
        "gray",
        "harper",
        "indigo",
        "jules",
        "kit",
        "lane",
    ],
    "ja": ["葵", "伊吹", "渚", "楓", "薫", "千尋", "翼", "遥", "光", "真琴", "律", "玲"],
}
VERSIONS = {"breakdown": "1.0", "error-types": "1.2", "response-quality": "1.0", "semantic-errors": "1.0"}
"""The guidelines that these people were given; answers mean the same under the later ones."""
NO_BREAKDOWN = {"en": "I see no breakdown here.", "ja": "私には破綻と思えませんでした。"}
ELEMENTS = {"subject": (0,), "predicate": (1,), "object": (2,), "all": (0, 1, 2)}


class Annotator:
    """Somebody invented: how strict, how careful and how quick they are."""

    def __init__(self, name: str, seed: str) -> None:
        self.name = name
        self.dice = random.Random(f"{seed}/{name}")
        self.strictness = self.dice.gauss(0, 0.45)
        self.slips = self.dice.choice([0.02, 0.04, 0.06, 0.2])
        self.pace = self.dice.uniform(4, 11)
        self.clock = BEGUN + timedelta(minutes=self.dice.randrange(600))

    def judgment(
        self, document: Document, segment: str | None, scheme: str, answers: dict[str, Any]
    ) -> Judgment:
        seconds = round(self.pace * self.dice.lognormvariate(0, 0.5), 1)
        self.clock += timedelta(seconds=round(seconds) + 1)
        broken = broken_rules(load_scheme(scheme), answers, document, segment)
        if broken:
            raise ValueError(f"{document.id} {segment}: {[rule.message() for rule in broken]}")
        version = VERSIONS[scheme]
        return Judgment(
            document.id, segment, self.name, scheme, version, answers, at=self.clock, seconds=seconds
        )

    def breakdown(self, mind: list[float]) -> str:
        if self.dice.random() < self.slips:
            return self.dice.choice(LABELS)
        tilt = (2.7**-self.strictness, 1.0, 2.7**self.strictness)
        return self.dice.choices(LABELS, [share * factor for share, factor in zip(mind, tilt, strict=True)])[
            0
        ]

    def types(self, chances: dict[str, float]) -> tuple[str, ...]:
        question = load_scheme("error-types").questions[0]
        order = {label.id: label.number or 0 for label in question.labels}
        chosen = {id for id, chance in chances.items() if self.dice.random() < chance}
        chosen = chosen or {max(chances, key=lambda id: chances[id])}
        for pair in question.apart:
            if chosen >= set(pair):
                chosen.discard(min(pair, key=lambda id: chances[id]))
        alone = chosen & set(question.alone)
        return tuple(sorted({max(alone)} if alone else chosen, key=lambda id: order[id]))

    def quality(self, code: str) -> dict[str, Any]:
        levels, choices = code.split(" ")
        answers: dict[str, Any] = {}
        for scale, level in zip(SCALES, levels, strict=True):
            step = self.dice.choices((-1, 0, 1), (0.12, 0.76, 0.12))[0]
            answers[scale] = min(5, max(1, int(level) + step))
        for question, choice in zip(CHOICES, choices, strict=True):
            answers[question] = self.dice.choice("YPN") if self.dice.random() < 0.1 else choice
        return answers

    def spans(self, document: Document, errors: list[dict[str, Any]]) -> tuple[Span, ...]:
        """Tied errors are seen together or not at all."""
        seen: dict[str, bool] = {}
        found: list[Span] = []
        for place, error in enumerate(errors):
            key = error.get("tie", f"#{place}")
            if seen.setdefault(key, self.dice.random() < error["chance"]):
                found.extend(_spans(document, error))
        return tuple(found)


def _spans(document: Document, error: dict[str, Any]) -> Iterator[Span]:
    tie = error.get("tie")
    if error["label"] == "omission":
        triple = document.segments[error["triple"] - 1]
        for place in ELEMENTS[error["element"]]:
            element = triple.elements()[place]
            yield Span(triple.id, element.start, element.end, "omission", tie)
        return
    text = document.segments[-1]
    start = -1
    for _ in range(error.get("nth", 1)):
        start = text.text.index(error["quote"], start + 1)
    yield Span(text.id, start, start + len(error["quote"]), error["label"], tie)


def dialogues(language: str) -> Iterator[Entry]:
    crowd = [Annotator(name, f"breakdown/{language}") for name in CROWD[language]]
    experts = [Annotator(name, f"types/{language}") for name in CROWD[language][:4]]
    raters = [Annotator(name, f"quality/{language}") for name in CROWD[language][4:9]]
    target = load_scheme("error-types").target
    for raw in _load(f"dialogues-{language}"):
        turns = raw["turns"]
        segments = tuple(
            Segment(str(place), "system" if "s" in turn else "user", turn.get("s", turn.get("u")))
            for place, turn in enumerate(turns)
        )
        metadata = {"system": raw["system"], "topic": raw["topic"], "invented": True}
        document = Document(raw["id"], segments, language, metadata)
        judgments: list[Judgment] = []
        for segment, turn in zip(segments, turns, strict=True):
            if "mind" not in turn:
                continue
            votes = [
                who.judgment(document, segment.id, "breakdown", {"breakdown": who.breakdown(turn["mind"])})
                for who in crowd
            ]
            judgments += votes
            counts = {label: sum(vote.answers["breakdown"] == label for vote in votes) for label in LABELS}
            if target and target.admits(counts) and "types" in turn:
                judgments += [
                    who.judgment(document, segment.id, "error-types", _types(who, turn)) for who in experts
                ]
            judgments += [
                who.judgment(document, segment.id, "response-quality", who.quality(turn["quality"]))
                for who in raters
            ]
        yield Entry(document.id, document, tuple(judgments))


def _types(who: Annotator, turn: dict[str, Any]) -> dict[str, Any]:
    answers: dict[str, Any] = {"types": who.types(turn["types"])}
    if who.dice.random() < turn["mind"][0] / 2:
        answers["remark"] = NO_BREAKDOWN["ja" if who.name in CROWD["ja"] else "en"]
    return answers


def pairs(language: str) -> Iterator[Entry]:
    annotators = [Annotator(name, f"pairs/{language}") for name in CROWD[language][2:7]]
    for raw in _load(f"pairs-{language}"):
        triples = [
            Segment.triple(f"t{place}", *triple.split(" | "))
            for place, triple in enumerate(raw["triples"], 1)
        ]
        metadata = {"system": raw["system"], "category": raw["category"], "invented": True}
        document = Document(raw["id"], (*triples, Segment("text", "text", raw["text"])), language, metadata)
        judgments = [
            who.judgment(document, None, "semantic-errors", {"errors": who.spans(document, raw["errors"])})
            for who in annotators
        ]
        yield Entry(document.id, document, tuple(judgments))


def _load(name: str) -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = yaml.safe_load((SOURCES / f"{name}.yaml").read_text(encoding="utf-8"))
    return loaded


def main() -> None:
    for language in CROWD:
        for kind, make in (("dialogues", dialogues), ("pairs", pairs)):
            path = TARGET / f"{kind}-{language}.jsonl"
            path.unlink(missing_ok=True)
            Jsonl().write(make(language), path)
            print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
