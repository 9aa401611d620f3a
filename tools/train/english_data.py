"""What the steps of the English training share: the configuration, the examples and their folds."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import brief
import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.encoder.reader import Passage, TurnWords

CONFIG: dict[str, Any] = brief.settings(Path(__file__).with_name("english.yaml"))
FOLDS: int = CONFIG["folds"]["count"]
DATA, STUDENT, UNSEEN, ERRORS = "data.json.gz", "student.safetensors", "unseen.npz", "errors.npy"
"""What the steps leave in the folder that they work in."""


class Example(NamedTuple):
    """A turn with its votes, where there are any."""

    dialogue: str
    turn: str
    passage: Passage
    counts: tuple[int, int, int] = (0, 0, 0)


class Swapped(NamedTuple):
    """A judged dialogue's talk with a system turn from elsewhere in the place of its own: nobody judged it."""

    example: Example
    source: str
    """The dialogue that the turn comes from."""


class Data(NamedTuple):
    """All that is learned from."""

    dbdc5: list[Example]
    dbdc3: list[Example]
    """The revised annotation first, then the original one."""
    topical: list[list[str]]
    """Conversations between people."""


def save_data(data: Data, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with gzip.open(folder / DATA, "wt", encoding="utf-8") as file:
        json.dump(data._asdict(), file, ensure_ascii=False)


def load_data(folder: Path) -> Data:
    with gzip.open(folder / DATA, "rt", encoding="utf-8") as file:
        found = json.load(file)
    return Data(
        [_example(*parts) for parts in found["dbdc5"]],
        [_example(*parts) for parts in found["dbdc3"]],
        found["topical"],
    )


def _example(
    dialogue: str, turn: str, passage: tuple[list[tuple[bool, str]], str], counts: list[int]
) -> Example:
    context, target = passage
    o, t, x = counts
    turns = tuple(TurnWords(bool(by_system), text) for by_system, text in context)
    return Example(dialogue, turn, Passage(turns, target), (o, t, x))


def shares(examples: Sequence[Example]) -> NDArray[np.float64]:
    """The shares of the votes for O, T and X."""
    counts = np.array([example.counts for example in examples], dtype=np.float64)
    return counts / counts.sum(axis=1, keepdims=True)


def fold_of(
    examples: Sequence[Example], count: int = FOLDS, seed: int = CONFIG["folds"]["seed"]
) -> NDArray[np.intp]:
    """For each example its fold. Turns of one dialogue fall together."""
    dialogues = sorted({example.dialogue for example in examples})
    random.Random(seed).shuffle(dialogues)
    fold = {dialogue: place % count for place, dialogue in enumerate(dialogues)}
    return np.array([fold[example.dialogue] for example in examples], dtype=np.intp)


def topical_pairs(
    conversations: Sequence[Sequence[str]], limit: int, seed: int = 0
) -> list[tuple[Example, float]]:
    """Human replies (1) and broken ones (0) to the same talk, in random order."""
    chance = random.Random(seed)
    everything = [turn for talk in conversations for turn in talk]
    pairs: list[tuple[Example, float]] = []
    for talk in conversations:
        for place in range(2, len(talk)):
            before = range(max(0, place - 6), place)
            context = tuple(TurnWords((place - earlier) % 2 == 0, talk[earlier]) for earlier in before)
            if chance.random() < 0.5:
                pairs.append((Example("", "", Passage(context, talk[place])), 1.0))
            pairs.append((Example("", "", Passage(context, _broken(chance, talk, place, everything))), 0.0))
    order = list(range(len(pairs)))
    chance.shuffle(order)
    return [pairs[place] for place in order[:limit]]


def _broken(chance: random.Random, talk: Sequence[str], place: int, everything: Sequence[str]) -> str:
    """Another conversation's turn, an own earlier one, any of this talk, or what the other has just said."""
    kind = chance.random()
    if kind < 0.5:
        return chance.choice(everything)
    if kind < 0.7:
        return talk[place - 2]
    if kind < 0.8:
        return talk[chance.choice(range(place - 2, -1, -2))]
    if kind < 0.9:
        return talk[chance.randrange(len(talk))]
    return talk[place - 1]


def swapped_turns(examples: Sequence[Example], times: int, seed: int = 0) -> list[Swapped]:
    """The talk of judged turns, each time with another turn: mostly another dialogue's, sometimes an earlier one."""
    chance = random.Random(seed)
    swapped = []
    for example in examples:
        if not example.passage.context:
            continue
        earlier = [turn.text for turn in example.passage.context if turn.by_system]
        for _ in range(times):
            other = chance.choice(examples)
            if earlier and chance.random() < 0.2:
                other = example._replace(passage=example.passage._replace(target=chance.choice(earlier)))
            passage = example.passage._replace(target=other.passage.target)
            swapped.append(Swapped(Example(example.dialogue, "", passage), other.dialogue))
    return swapped


def known_rows(swapped: Sequence[Swapped], hidden: set[str]) -> NDArray[np.intp]:
    """Those in which nothing comes from the hidden dialogues."""
    rows = [
        row
        for row, one in enumerate(swapped)
        if one.example.dialogue not in hidden and one.source not in hidden
    ]
    return np.array(rows, dtype=np.intp)
