"""What Japanese students learn from, drawn out of the folder that `japanese_talk.py` left. Needs numpy alone."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

TOKENS, TURNS = 160, 6
CLS, SEP, USER, SYSTEM = 2, 3, 5, 6
FOLDS: Final = 5
ALWAYS: Final = FOLDS
"""The fold of what every reader may learn from; the reader that leaves it out leaves out nothing."""
ASSISTANTS, CHALLENGE = "logs_ja_mtbench", "dbdc2-ja.zip"
REAL, RANDOM, REPEATED, LATER, BROKEN, RUDE = "real", "random", "repeated", "later", "broken", "rude"
WAYS: Final = {REAL: 0, RANDOM: 1, REPEATED: 2, LATER: 3}
NO_WAY: Final = -100
"""For replies of no such way; the value that cross entropy leaves out."""
Tokens: TypeAlias = NDArray[np.int16]
Encoded: TypeAlias = tuple[NDArray[np.integer[Any]], NDArray[np.integer[Any]]]


class Place(NamedTuple):
    """A turn: its number among all turns, the first turn of its dialogue, and the one after the last."""

    turn: int
    begin: int
    end: int


class Texts:
    """Texts as tokens, by number."""

    def __init__(self, found: Any, name: str) -> None:
        self._said, self._ends = found[name], found[f"{name}.ends"].tolist()

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, number: int) -> Tokens:
        said: Tokens = self._said[self._ends[number] : self._ends[number + 1]]
        return said


class Talk:
    """The folder's dialogues, of which a reader learns from all but those of a fold."""

    def __init__(self, folder: Path, fold: int) -> None:
        found = np.load(folder / "talk.npz")
        self.settings: dict[str, Any] = json.loads((folder / "settings.json").read_text())
        self.turns, self.broken, self.rude = (Texts(found, name) for name in ("turns", "broken", "rude"))
        self.by_system: list[bool] = found["by_system"].tolist()
        ends, corpus = found["talks.ends"].tolist(), found["corpus"].tolist()
        names = found["corpora"].tolist()
        learned = (found["fold"] != fold) | (found["fold"] == ALWAYS)
        spans = list(pairwise(ends))
        self.dialogues: dict[str, list[tuple[int, int]]] = {name: [] for name in names}
        for span, number, is_learned in zip(spans, corpus, learned.tolist(), strict=True):
            if is_learned and span[1] - span[0] > 1:
                self.dialogues[names[number]].append(span)
        of_talk, place = found["votes"].T.tolist()
        known = [Place(spans[talk][0] + own, *spans[talk]) for talk, own in zip(of_talk, place, strict=True)]
        taken = learned[found["votes"][:, 0]]
        self.judged = [one for one, is_taken in zip(known, taken.tolist(), strict=True) if is_taken]
        self.shares = found["shares"][taken]
        self._chats = [name for name in names if name not in (ASSISTANTS, CHALLENGE)]
        self._often = [math.sqrt(sum(end - begin for begin, end in self.dialogues[n])) for n in self._chats]

    def row(self, place: Place, said: Tokens | None = None) -> Encoded:
        """A turn laid out with those before it; `said` in its place. Whoever says it counts as the system."""
        by = self.by_system[place.turn]
        target = self.turns[place.turn] if said is None else said
        parts: list[Any] = []
        for number in range(max(place.begin, place.turn - TURNS), place.turn):
            parts += [[SYSTEM if self.by_system[number] == by else USER], self.turns[number]]
        before = (
            np.concatenate(parts)[-(TOKENS - 4 - len(target)) :] if parts else np.zeros(0, dtype=np.int16)
        )
        ids = np.concatenate([[CLS], before, [SEP, SYSTEM], target, [SEP]])
        own = np.zeros(len(ids), dtype=np.int8)
        own[len(before) + 2 :] = 1
        return ids, own

    def place(self, corpus: str, rng: random.Random) -> Place:
        """A turn of one of a corpus's dialogues; an assistant's own where it answers."""
        begin, end = rng.choice(self.dialogues[corpus])
        if corpus == ASSISTANTS:
            return Place(rng.choice([n for n in range(begin, end) if self.by_system[n]]), begin, end)
        first = begin if rng.random() < self.settings["openings"] else begin + 1
        return Place(rng.randrange(first, end), begin, end)

    def any_turn(self, rng: random.Random, corpus: str = "") -> Tokens:
        """A turn of a corpus, by default of any chat."""
        begin, end = rng.choice(self.dialogues[corpus or rng.choices(self._chats, self._often)[0]])
        turns = [n for n in range(begin, end) if self.by_system[n] or corpus != ASSISTANTS]
        return self.turns[rng.choice(turns)]

    def reply(self, rng: random.Random, corpus: str = "") -> tuple[Encoded, str]:
        """A reply of a corpus, by default of a chat by the root of its size: half of the time a wrong one."""
        corpus = corpus or rng.choices(self._chats, self._often)[0]
        while True:
            place = self.place(corpus, rng)
            way, said = (REAL, None) if rng.random() < 0.5 else self._wrong(place, corpus, rng)
            if len(self.turns[place.turn] if said is None else said):
                return self.row(place, said), way

    def _wrong(self, place: Place, corpus: str, rng: random.Random) -> tuple[str, Tokens]:
        """A way that cannot be gone at the place leaves its share to the next one; what is left over is random."""
        draw, (turn, begin, end) = rng.random(), place
        for way, most in self.settings["wrong"].items():
            if draw < most:
                if way in (BROKEN, RUDE):
                    texts = self.broken if way == BROKEN else self.rude
                    return way, texts[rng.randrange(len(texts))]
                if way == REPEATED and turn - begin >= 2:
                    return way, self.turns[rng.randrange(max(begin, turn - 6), turn)]
                if way == LATER and turn + 3 < end:
                    return way, self.turns[rng.randrange(turn + 2, end)]
        return RANDOM, self.any_turn(rng, corpus if rng.random() < self.settings["students"]["same"] else "")

    def unjudged(self, rng: random.Random) -> list[Encoded]:
        """The challenge's talk with other turns in it; replies in talk; talk with the challenge's turns in it."""
        counts, rows = self.settings["unjudged"], []
        for _ in range(counts["swapped"]):
            own = rng.random() < self.settings["swapped_in"]
            other = self.turns[rng.choice(self.judged).turn] if own else self.any_turn(rng)
            rows.append(self.row(rng.choice(self.judged), other))
        rows += [self.reply(rng)[0] for _ in range(counts["talk"])]
        for _ in range(counts["mixed"]):
            place = self.place(rng.choices(self._chats, self._often)[0], rng)
            rows.append(self.row(place, self.turns[rng.choice(self.judged).turn]))
        return rows


def by_length(rows: Sequence[Any], parts: int) -> list[list[Any]]:
    """Rows that begin with their tokens in so many parts of about one length each."""
    ordered, size = sorted(rows, key=lambda one: len(one[0][0])), len(rows) // parts
    return [ordered[part * size : (part + 1) * size] for part in range(parts)]
