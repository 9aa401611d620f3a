"""Talk of many kinds to learn from: real replies, wrong ones made from them, and replies that people rated.

Read from the folder that LAPSUS_DATA names: `pool`, Topical-Chat and FED. Which corpora a model learns from is in
`chat.yaml`.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import random
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import brief
import numpy as np

from lapsus.annotators.encoder.reader import LONGEST, WINDOW, Passage, TurnWords

CONFIG: dict[str, Any] = brief.settings(Path(__file__).with_name("chat.yaml"))
REAL, RANDOM, REPEATED, LATER, BROKEN, RUDE = "real", "random", "repeated", "later", "broken", "rude"
VOTES, RATED = "votes", "rated"
FAULTY = "faulty"
"""Of replies that people found broken, or wrote so."""
RECORDS = 100
"""Of a file, in brief: fewer would not show all that a file has."""
TRAIN, TEST = "train", "test"


class Talk(NamedTuple):
    """A dialogue: who said what, and what its people thought of it, from 0 to 1, where they were asked."""

    corpus: str
    id: str
    turns: tuple[TurnWords, ...]
    rating: float | None = None


class Reply(NamedTuple):
    """A turn after some others, how it came there, and the dialogue it is from."""

    passage: Passage
    way: str
    corpus: str
    dialogue: str
    rating: float | None = None

    @property
    def part(self) -> str:
        """Whether it is to learn from or kept back: the same for a whole dialogue."""
        return part_of(self.corpus, self.dialogue)


class Row(NamedTuple):
    """A turn to learn from: the shares of O, T and X that are wanted, and where it is from."""

    passage: Passage
    wanted: tuple[float, float, float]
    way: str
    corpus: str
    part: str
    dialogue: str


def part_of(corpus: str, dialogue: str) -> str:
    """By a hash of the dialogue: eight in ten to learn from, two to calibrate with and to measure on."""
    place = hashlib.blake2b(f"{corpus}/{dialogue}".encode(), digest_size=4).digest()[0] / 256
    return TRAIN if place < 0.8 else TEST


def folder() -> Path:
    """Where the corpora are."""
    if "LAPSUS_DATA" not in os.environ:
        raise SystemExit("LAPSUS_DATA must name the folder with the corpora")
    return Path(os.environ["LAPSUS_DATA"])


def records(name: str) -> Iterator[dict[str, Any]]:
    """The records of a file of the pool."""
    with gzip.open(folder() / "pool" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        yield from map(json.loads, brief.few(file, RECORDS))


def talks(name: str) -> list[Talk]:
    """The dialogues of a corpus, by the name it has in `chat.yaml`."""
    if name == "topical-chat":
        return list(_topical())
    file, _, only = name.partition(":")
    rated = CONFIG["rated"].get(file)
    found = []
    for place, record in enumerate(records(file)):
        if only and not str(record.get("bot", "")).startswith(only):
            continue
        turns = tuple(TurnWords(turn["role"] == "system", turn["text"].strip()) for turn in record["turns"])
        if record.get("note") == "last turn by bot" and not only:
            turns = turns[:-1]
        found.append(Talk(name, f"{record['id']}-{place}", turns, _rating(record, rated)))
    return found


def _rating(record: dict[str, Any], rated: dict[str, Any] | None) -> float | None:
    if not rated or record.get("note") == "rater FAILED QC":
        return None
    given = record.get("dialogue_ratings", {}).get(rated["by"])
    least, most = rated["from"], rated["to"]
    return None if not given else (sum(given) / len(given) - least) / (most - least)


def _topical() -> Iterator[Talk]:
    with zipfile.ZipFile(folder() / "topical-chat.zip") as archive:
        for member in sorted(name for name in archive.namelist() if name.endswith(".json")):
            for id, found in brief.few(json.loads(archive.read(member)).items(), RECORDS):
                turns = (
                    TurnWords(turn["agent"] == "agent_2", turn["message"].strip())
                    for turn in found["content"]
                )
                yield Talk("topical-chat", id, tuple(turns))


def fed() -> Iterator[tuple[Passage, dict[str, float]]]:
    """FED's rated replies: what people said of each on the mean, question by question."""
    for record in brief.few(json.loads((folder() / "fed.json").read_text(encoding="utf-8")), RECORDS):
        if "response" in record:
            said = [line.partition(": ") for line in record["context"].split("\n") if ": " in line]
            turns = tuple(TurnWords(who == "System", text) for who, _, text in said)
            given = {
                name: [value for value in values if isinstance(value, int | float)]
                for name, values in record["annotations"].items()
            }
            means = {name: sum(values) / len(values) for name, values in given.items() if values}
            yield Passage(turns, record["response"].partition(": ")[2]), means


def replies(found: Sequence[Talk], count: int, rng: random.Random) -> Iterator[Reply]:
    """So many replies, half of them real and half of them wrong, each at another place of another dialogue.

    The speaker whose reply it is counts as the system, so both sides of a talk between people are learned from.
    """
    said = [turn.text for talk in found for turn in talk.turns if turn.text]
    usable = [talk for talk in found if len(talk.turns) > 1]
    for number in range(count):
        talk = usable[rng.randrange(len(usable))] if count < len(usable) else usable[number % len(usable)]
        place = rng.randrange(0 if rng.random() < 0.1 else 1, len(talk.turns))
        if talk.rating is not None:
            places = [place for place, turn in enumerate(talk.turns) if turn.by_system]
            place = rng.choice(places) if places else place
        yield reply_at(talk, place, said, rng, None if number % 2 == 0 else CONFIG["wrong"]["measured"])


def reply_at(
    talk: Talk, place: int, said: Sequence[str], rng: random.Random, wrong: Mapping[str, float] | None
) -> Reply:
    """The turn at a place, or a wrong one there: `wrong` has the ways with their shares, added up in order.

    A way that cannot be gone at the place leaves its share to the next one; what is left over is RANDOM, out of `said`.
    """
    by = talk.turns[place].by_system
    before = tuple(TurnWords(turn.by_system == by, turn.text) for turn in talk.turns[:place])
    if wrong is None:
        return Reply(Passage(before, talk.turns[place].text), REAL, talk.corpus, talk.id, talk.rating)
    draw = rng.random()
    for way, most in wrong.items():
        if draw < most and (text := _wrong(way, talk, place, rng)) is not None:
            return Reply(Passage(before, text), way, talk.corpus, talk.id)
    return Reply(Passage(before, said[rng.randrange(len(said))]), RANDOM, talk.corpus, talk.id)


def _wrong(way: str, talk: Talk, place: int, rng: random.Random) -> str | None:
    """A reply that does not belong here; nothing where there is none of this kind."""
    if way == REPEATED:
        return talk.turns[rng.randrange(max(0, place - 6), place)].text if place >= 2 else None
    if way == LATER:
        last = len(talk.turns)
        return talk.turns[rng.randrange(place + 2, last)].text if place + 3 < last else None
    return {BROKEN: broken, RUDE: rude}[way](talk.turns[place].text, rng)


def rude(text: str, rng: random.Random) -> str:
    """Abuse, alone or before what was said."""
    words = rng.choice(CONFIG["rude"][_language(text)])
    return words if rng.random() < 0.7 else f"{words} {text}"


def _language(text: str) -> str:
    return "ja" if any(letter > "\u3000" for letter in text) else "en"


def broken(text: str, rng: random.Random) -> str:
    """No language any more: the words in another order, letters at random, or a part of it over and over."""
    words = text.split() if " " in text else list(text)
    draw = rng.random()
    if draw < 0.4 and len(words) > 5:
        rng.shuffle(words)
        return (" " if " " in text else "").join(words)
    if draw < 0.8:
        letters = CONFIG["letters"][_language(text)]
        return "".join(rng.choice(letters) for _ in range(rng.randrange(4, 30)))
    return ((" " if " " in text else "").join(words[:2]) + " ") * rng.randrange(3, 6)


def wanted(way: str, rating: float | None) -> tuple[float, float, float]:
    """The shares that a reply should get."""
    if rating is None:
        return tuple(CONFIG["wanted"][way])
    liked, disliked = (np.array(CONFIG["wanted"][name]) for name in ("liked", "disliked"))
    return tuple((rating * liked + (1 - rating) * disliked).tolist())


def cut(passage: Passage) -> Passage:
    """As much of it as readers are shown."""
    context = tuple(TurnWords(turn.by_system, turn.text[:LONGEST]) for turn in passage.context[-WINDOW:])
    return Passage(context, passage.target[:LONGEST])
