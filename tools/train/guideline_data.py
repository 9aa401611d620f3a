"""What the judges of error types and of response quality learn from, read from the folder that LAPSUS_DATA names.

Every corpus becomes examples of the guideline: a turn with what came before it, and answers as people would give them.
Which ones a model is measured by is said too; the others only help it along.
"""

from __future__ import annotations

import json
import random
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import brief
import yaml
from pool import RECORDS, broken, folder, records, rude, talks

from lapsus.annotators.features.cues import look
from lapsus.formats import read
from lapsus.model import Answer, Segment, Unit, units
from lapsus.schemes import load_scheme

TYPED: dict[str, dict[str, dict[str, list[list[str]]]]] = yaml.safe_load(
    (Path(__file__).parent / "error_types.yaml").read_text(encoding="utf-8")
)
_PROPOSAL = re.compile(r"ましょう|ませんか|let's|shall we|why don't we|how about we", re.IGNORECASE)
_BEFORE: Final = 8
"""Turns before a reply that is made up, or rated as part of a whole dialogue."""
_FROM: Final = {"ja": ("chat_ja_realpersonachat", "chat_ja_mrmp"), "en": ("topical-chat", "chat_en_meena")}
_LOW, _HIGH = 1, 5
_TOLD, _REPAIRED, _FITS, _NEAR_MISS = 25, 3, 5, 15
"""How often count: turns of the challenges; of the Repair Corpus; written dialogues that fit; those that nearly do."""


class Example(NamedTuple):
    """A turn and the answers that people gave, a list a question; of one document with others of the same group."""

    unit: Unit
    votes: Mapping[str, Sequence[Answer]]
    corpus: str
    group: str
    measured: bool = False
    """Whether its votes are people's on this very question, so that a judge is measured by them."""
    times: int = 1
    """How often it counts; 0: it is held back, and measured alone."""
    beside: str = ""
    """For a near miss the type that it is not; nothing else is known of it."""


def typed() -> list[Example]:
    """Broken turns with their types."""
    made = brief.least(600, 20)
    return [
        *brief.few(_typed_here(), RECORDS),
        *brief.few(_repaired()),
        *_made_up(brief.least(200, 20)),
        *_made("ja", made),
        *_made("en", made),
        *brief.few(invented(), RECORDS),
    ]


def invented() -> Iterator[Example]:
    """Dialogues that were written for the guideline, with the type that they show or nearly show.

    A fifth of the topics is held back.
    """
    for language in ("en", "ja"):
        lines = (Path(__file__).parent / "data" / f"error-types.{language}.jsonl").read_text(encoding="utf-8")
        for place, row in enumerate(map(json.loads, lines.splitlines())):
            turns = [
                {"role": "user" if turn.startswith("U: ") else "system", "text": turn[3:]}
                for turn in row["context"]
            ]
            turns.append({"role": "system", "text": row["reply"]})
            unit = unit_of({"id": f"invented-{language}-{place}", "turns": turns, "lang": language})
            is_held = zlib.crc32(row["topic"].encode()) % 5 == 0
            name, group = f"invented-{language}", f"{language}-{row['topic']}"
            if row["fits"]:
                votes, times = {"types": [(row["type"],)]}, 0 if is_held else _FITS
                yield Example(unit, votes, name, group, is_held, times)
            else:
                times = 0 if is_held else _NEAR_MISS
                yield Example(unit, {"types": [()]}, name, group, times=times, beside=row["type"])


def _typed_here() -> Iterator[Example]:
    rule = load_scheme("error-types").unit
    for corpus, dialogues in TYPED.items():
        only = "*revised*" if corpus == "dbdc3-en" else None
        for entry in read(folder() / f"{corpus}.zip", only=only):
            for unit in units(entry.document, rule) if entry.document and entry.id in dialogues else ():
                if types := dialogues[entry.id].get(str(unit.key.segment)):
                    votes = {"types": [tuple(one) for one in types]}
                    yield Example(unit, votes, corpus, entry.id, measured=True, times=_TOLD)


def _repaired() -> Iterator[Example]:
    rule = load_scheme("error-types").unit
    for entry in read(folder() / "dbrc-ja.zip"):
        if entry.document is not None:
            *_, last = units(entry.document, rule)
            types = [entry.judgments[0].answers["types"]]
            yield Example(last, {"types": types}, "dbrc-ja", entry.id, measured=True, times=_REPAIRED)


def _made_up(count: int) -> Iterator[Example]:
    """Answers of a language model that people found to be made up."""
    labelled = (
        one for one in records("chat_en_halueval") if one["turns"][-1]["labels"]["hallucination"] == "yes"
    )
    for record in islice(labelled, count):
        votes = {"types": [("wrong-information",)]}
        yield Example(unit_of(record), votes, "chat_en_halueval", str(record["id"]))


def _made(language: str, count: int) -> Iterator[Example]:
    """Replies that do not belong where they stand; what is wrong with them follows from how they were made."""
    rng = random.Random(language)
    found = [
        talk
        for name in _FROM[language]
        for talk in rng.sample(talks(name), brief.least(300, 60))
        if len(talk.turns) > 3
    ]
    said = [turn.text for talk in found for turn in talk.turns if turn.text]
    made = 0
    while made < count:
        talk = rng.choice(found)
        place = rng.randrange(2, len(talk.turns))
        by, before = talk.turns[place].by_system, talk.turns[:place]
        own = [turn.text for turn in before if turn.by_system == by]
        if before[-1].by_system == by or not own:
            continue
        text, types = _wrong(talk.turns[place].text, before[-1].text, own, rng, said, language)
        context = tuple(
            Segment(str(number), "system" if turn.by_system == by else "user", turn.text)
            for number, turn in enumerate(before[-_BEFORE:])
        )
        unit = Unit(
            f"{language}-{talk.corpus}-{talk.id}", language, Segment("reply", "system", text), context
        )
        yield Example(unit, {"types": [(one,) for one in types]}, f"made-{language}", unit.document)
        made += 1


def _wrong(
    real: str, user: str, own: Sequence[str], rng: random.Random, said: Sequence[str], language: str
) -> tuple[str, tuple[str, ...]]:
    draw, seen = rng.random(), look(user, language)
    if draw < 0.12:
        return rng.choice(own[-4:]), ("repetition",)
    if draw < 0.2:
        return broken(real, rng), ("uninterpretable", "grammatical-error")
    if draw < 0.26:
        return rude(real, rng), ("lack-of-sociality",)
    if _PROPOSAL.search(user):
        return rng.choice(said), ("ignore-proposal",)
    if "request" in seen.does:
        return rng.choice(said), ("ignore-request",)
    if seen.asks:
        return rng.choice(said), ("ignore-question",)
    if "greeting" in seen.does:
        return rng.choice(said), ("ignore-greeting",)
    return rng.choice(said), ("topic-transition-error", "unclear-intention")


def rated() -> list[Example]:
    """Replies with ratings."""
    return [
        *fed(),
        *_attributed(brief.least(400, 40)),
        *_known_quality(brief.least(600, 60)),
        *_felt(brief.least(500, 40)),
    ]


def fed() -> Iterator[Example]:
    """FED: five people's ratings of a reply, brought to the guideline's levels."""
    for record in brief.few(json.loads((folder() / "fed.json").read_text(encoding="utf-8")), RECORDS):
        if "response" not in record:
            continue
        said = [line.partition(": ") for line in record["context"].split("\n") if ": " in line]
        turns = [{"role": "system" if who == "System" else "user", "text": text} for who, _, text in said]
        turns.append({"role": "system", "text": record["response"].partition(": ")[2]})
        given = record["annotations"]
        people = [_one_person(given, number) for number in range(max(map(len, given.values())))]
        votes = {id: [one[id] for one in people if id in one] for id in {id for one in people for id in one}}
        yield Example(
            unit_of({"id": record["context"], "turns": turns}), votes, "fed", record["context"][:80], True, 12
        )


def _one_person(given: Mapping[str, Sequence[Any]], number: int) -> dict[str, Answer]:
    """One person's ratings as answers under the guideline."""

    def share(*names: str) -> float | None:
        found = [
            float(given[name][number]) / _MOST.get(name, 2)
            for name in names
            if number < len(given[name]) and isinstance(given[name][number], int | float)
        ]
        return sum(found) / len(found) if len(found) == len(names) else None

    wanted = {id: share(*names) for id, names in _FED.items()}
    answers: dict[str, Answer] = {id: level(one) for id, one in wanted.items() if one is not None}
    for id, name in (("dialogue-act", "Semantically appropriate"), ("communicative-goal", "Overall")):
        if (one := share(name)) is not None:
            answers[id] = grade(one)
    return answers


_MOST: Final = {"Understandable": 1, "Overall": 4}
"""The highest rating of what is not rated from 0 to 2."""
_FED: Final = {
    "soundness": ("Correct",),
    "completeness": ("Interesting", "Engaging", "Specific"),
    "relevance": ("Relevant", "Relevant", "Specific"),
    "clarity": ("Understandable", "Fluent"),
    "coherence": ("Semantically appropriate", "Relevant"),
}


def level(share: float) -> int:
    """From 0 to 1 to the levels of a scale."""
    return round(_LOW + (_HIGH - _LOW) * min(max(share, 0.0), 1.0))


def grade(share: float) -> str:
    """From 0 to 1 to yes, part and no."""
    return "Y" if share > 0.6 else "P" if share > 0.35 else "N"


_ATTRIBUTED: Final = {
    "Fully attributable": (5, 5),
    "Not fully attributable": (2, 4),
    "Generic": (4, 2),
}
"""How sound and how complete a reply is, for what it makes of the knowledge that was there."""


def _attributed(count: int) -> Iterator[Example]:
    found = [one for one in records("chat_en_begin") if one.get("knowledge")]
    for place, record in enumerate(random.Random(0).sample(found, count)):
        sound, complete = _ATTRIBUTED[record["turns"][-1]["labels"]["attribution"]]
        votes = {"soundness": [sound], "completeness": [complete]}
        yield Example(unit_of(record), votes, "chat_en_begin", f"begin-{place}")


def _known_quality(count: int) -> Iterator[Example]:
    """Replies of people, and others put in their place."""
    rng = random.Random(0)
    found = [talk for talk in talks("topical-chat") if len(talk.turns) > 4]
    said = [turn.text for talk in found for turn in talk.turns if turn.text]
    for number in range(count):
        talk = found[rng.randrange(len(found))]
        place = rng.randrange(2, len(talk.turns))
        by, text = talk.turns[place].by_system, talk.turns[place].text
        own = [turn.text for turn in talk.turns[:place] if turn.by_system == by] or [text]
        text, votes = _of_known_quality(number % 6, text, own, said, rng)
        before = talk.turns[max(0, place - _BEFORE) : place]
        turns = [{"role": "system" if turn.by_system == by else "user", "text": turn.text} for turn in before]
        record = {"id": talk.id, "turns": [*turns, {"role": "system", "text": text}]}
        yield Example(unit_of(record), votes, "topical-chat", talk.id)


def _of_known_quality(
    kind: int, text: str, own: Sequence[str], said: Sequence[str], rng: random.Random
) -> tuple[str, dict[str, Sequence[Answer]]]:
    if kind < 3:
        grades = {"dialogue-act": ["Y"], "communicative-goal": ["Y"]}
        return text, {"relevance": [5], "clarity": [5], "coherence": [5], **grades}
    if kind == 3:
        return rng.choice(said), {
            "relevance": [1],
            "coherence": [1],
            "dialogue-act": ["N"],
            "communicative-goal": ["N"],
        }
    if kind == 4:
        return broken(text, rng), {"clarity": [1], "coherence": [1], "dialogue-act": ["N"]}
    return rng.choice(own), {"relevance": [2], "coherence": [2], "communicative-goal": ["N"]}


def _felt(count: int) -> Iterator[Example]:
    """The last reply of chats whose users said how well it went with how they felt."""
    found = [one for one in records("chat_en_ieval") if one["turns"][-1]["role"] == "system"]
    for record in random.Random(0).sample(found, count):
        felt = (sum(record["dialogue_ratings"]["ER"]) / len(record["dialogue_ratings"]["ER"]) - 1) / 4
        yield Example(
            unit_of(record), {"emotion": [grade(felt)]}, "chat_en_ieval", str(record["id"]), measured=True
        )


def emotions(split: str, count: int) -> list[Example]:
    """GoEmotions: comments and the emotions that they show."""
    with zipfile.ZipFile(folder() / "goemotions.zip") as archive:
        names = {Path(name).name: name for name in archive.namelist()}
        labels = archive.read(names["labels.txt"]).decode().split()
        rows = [line.split("\t") for line in archive.read(names[f"{split}.tsv"]).decode().splitlines()]
    return [
        Example(
            unit_of({"id": id, "turns": [{"role": "system", "text": text}]}),
            {"shown-emotions": [tuple(labels[int(one)] for one in told.split(","))]},
            "goemotions",
            id,
            measured=True,
        )
        for text, told, id in random.Random(0).sample(rows, count)
    ]


def measured_elsewhere() -> dict[str, list[tuple[Unit, float]]]:
    """Replies with ratings of coherence or fitness that nothing was learned from: no licence is stated."""
    keys = {"grade": "coherence_1to5", "gupta": "appropriateness_mean5", "holistic": "context_coherence_1to5"}
    found: dict[str, list[tuple[Unit, float]]] = {}
    for name, key in keys.items():
        for record in records(f"resp_en_{name}"):
            given = record["turns"][-1]["ratings"][key]
            data = f"{name} {record['dataset'].removesuffix('_EVAL')}" if "dataset" in record else name
            found.setdefault(data, []).append((unit_of(record), sum(given) / len(given)))
    return found


def unit_of(record: Mapping[str, Any]) -> Unit:
    """The last turn of a record as a unit, with the knowledge that it could rest on."""
    turns = [Segment(str(n), turn["role"], turn["text"].strip()) for n, turn in enumerate(record["turns"])]
    known = record.get("knowledge")
    context = [Segment("knowledge", "context", known)] if known else []
    return Unit(str(record["id"]), record.get("lang", "en"), turns[-1], (*context, *turns[:-1]))
