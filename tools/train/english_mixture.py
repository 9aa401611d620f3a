"""What the upper layers of the English reader learn from: turns, and what each of them teaches."""

from __future__ import annotations

import math
import random
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from japanese_data import read_challenge
from numpy.typing import NDArray
from pool import (
    CONFIG,
    RATED,
    REAL,
    TRAIN,
    Reply,
    Talk,
    cut,
    folder,
    part_of,
    records,
    reply_at,
    talks,
    wanted,
)

from lapsus.annotators.encoder.reader import Passage, TurnWords

EMOTIONS: Final = 28
PLACES: Final = {
    "shares": slice(0, 3),
    "fits": slice(3, 4),
    "rating": slice(4, 5),
    "contradiction": slice(5, 6),
    "dbdc5": slice(6, 9),
    "dbdc3": slice(9, 12),
    "emotions": slice(12, 12 + EMOTIONS),
}
"""Where the network says what: O, T and X in general, four other matters, and O, T and X as two crowds voted."""
NUMBERS: Final = 12 + EMOTIONS


class Lesson(NamedTuple):
    """A turn, and the numbers that the network should say of it; NaN where the turn does not tell."""

    passage: Passage
    aim: NDArray[np.float32]


def lesson(passage: Passage, **told: Any) -> Lesson:
    """By the names of PLACES."""
    aim = np.full(NUMBERS, np.nan, dtype=np.float32)
    for name, values in told.items():
        aim[PLACES[name]] = values
    return Lesson(cut(passage), aim)


class Mixture:
    """Draws lessons: replies of talk between people and with systems, and what people said of others."""

    def __init__(self, found: Mapping[str, Sequence[Talk]]) -> None:
        self._talks = {
            corpus: [talk for talk in some if len(talk.turns) > 1] for corpus, some in found.items()
        }
        self._said = {
            corpus: [turn.text for talk in some for turn in talk.turns if turn.text]
            for corpus, some in self._talks.items()
        }
        self._names = sorted(self._talks)
        self._often = [math.sqrt(sum(len(talk.turns) for talk in self._talks[name])) for name in self._names]

    def talk(self, rng: random.Random) -> Lesson:
        """A reply, real or wrong, from a corpus by the root of its size."""
        while True:
            corpus = rng.choices(self._names, self._often)[0]
            talk = rng.choice(self._talks[corpus])
            place = rng.randrange(0 if rng.random() < CONFIG["openings"]["en"] else 1, len(talk.turns))
            away = rng.random() < CONFIG["elsewhere"]
            said = self._said[rng.choice(self._names) if away else corpus]
            wrong = CONFIG["wrong"]["en"] if rng.random() < 0.5 else None
            reply = reply_at(talk, place, said, rng, wrong)
            if reply.passage.target and talk.turns[place].text:
                return _fitting(reply.passage, reply.way)


def read_talks(part: str) -> tuple[dict[str, list[Talk]], list[Lesson]]:
    """The part's dialogues by corpus, and what the ratings of others teach of each of their system turns."""
    plain: dict[str, list[Talk]] = {}
    rated: list[Lesson] = []
    for corpus in CONFIG["english"]:
        found = [talk for talk in talks(corpus) if part_of(corpus, talk.id) == part]
        if corpus in CONFIG["rated"]:
            rated += [one for talk in found for one in _rated(talk)]
        else:
            plain[corpus] = found
    return plain, rated


def _fitting(passage: Passage, way: str) -> Lesson:
    return lesson(passage, shares=wanted(way, None), fits=CONFIG["fits"][way])


def _rated(talk: Talk) -> Iterator[Lesson]:
    for place, turn in enumerate(talk.turns):
        if talk.rating is not None and turn.by_system and turn.text:
            passage = Passage(talk.turns[:place], turn.text)
            yield lesson(passage, shares=wanted(RATED, talk.rating), rating=talk.rating)


def candidates(part: str) -> list[tuple[str, Lesson]]:
    """Replies of DailyDialog++ with their ways: people wrote good ones, and bad ones that look good."""
    found = []
    for record in records("cand_en_dailydialogpp"):
        before, way = record["context"], REAL if record["label"] == "positive" else record["label"]
        if record["response"] and part_of("ddpp", " ".join(before)) == part:
            turns = (TurnWords((len(before) - place) % 2 == 0, text) for place, text in enumerate(before))
            found.append((way, _fitting(Passage(tuple(turns), record["response"]), way)))
    return found


def votes() -> list[Lesson]:
    """The turns of the challenges as each crowd voted. Every other lesson counts in general too."""
    found = []
    for corpus, within, _ in CONFIG["votes"]["english"]:
        judged = read_challenge(corpus, within)
        for passage, shares in zip(judged.passages, judged.shares, strict=True):
            crowd = {corpus[:5]: shares}
            found += [lesson(passage, **crowd), lesson(passage, shares=shares, **crowd)]
    return found


def contradictions() -> list[Lesson]:
    """Replies, and the share of three people who found that they contradict what was said before."""
    fine, bad = (np.array(CONFIG["wanted"][name]) for name in ("consistent", "contradicting"))
    found = []
    for record in records("chat_en_rgm_contradiction"):
        if part_of("rgm", record["id"]) == TRAIN:
            *before, last = record["turns"]
            share = last["ratings"]["contradiction_votes_of_3"][0] / 3
            shares = (1 - share) * fine + share * bad
            found.append(lesson(_passage(before, last), shares=shares, contradiction=share))
    return found


def emotions() -> list[Lesson]:
    """Comments alone, and the emotions that people saw in them."""
    found = []
    with zipfile.ZipFile(folder() / "goemotions.zip") as archive:
        for line in archive.read("goemotions/train.tsv").decode("utf-8").splitlines():
            text, seen, *_ = line.split("\t")
            if text:
                marks = np.zeros(EMOTIONS)
                marks[[int(number) for number in seen.split(",")]] = 1
                found.append(lesson(Passage((), text), emotions=marks))
    return found


def rated_replies(name: str) -> list[Reply]:
    """Replies with the mean rating of the first question that they were rated by; none of them is learned from."""
    found = []
    for place, record in enumerate(records(name)):
        *before, last = record["turns"]
        for values in [*last.get("ratings", {}).values()][:1]:
            rating = float(np.mean(values))
            found.append(Reply(cut(_passage(before, last)), RATED, name, str(place), rating))
    return found


def _passage(before: Sequence[Mapping[str, Any]], last: Mapping[str, Any]) -> Passage:
    turns = tuple(TurnWords(turn["role"] == "system", turn["text"]) for turn in before)
    return Passage(turns, last["text"])
