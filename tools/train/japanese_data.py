"""What the Japanese reader learns from, read from the folder that LAPSUS_DATA names."""

from __future__ import annotations

import gzip
import json
import os
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.encoder.features import Turn
from lapsus.annotators.encoder.reader import Passage

LABELS = ("O", "T", "X")


class Judged(NamedTuple):
    """Turns and how people voted on them."""

    passages: list[Passage]
    counts: NDArray[np.float64]
    dialogues: NDArray[np.str_]
    systems: NDArray[np.str_]

    @property
    def shares(self) -> NDArray[np.float64]:
        """The shares of the votes for O, T and X."""
        return self.counts / self.counts.sum(axis=1, keepdims=True)

    def at(self, rows: NDArray[np.intp]) -> Judged:
        """Some of the turns."""
        passages = [self.passages[row] for row in rows]
        return Judged(passages, self.counts[rows], self.dialogues[rows], self.systems[rows])


class Made(NamedTuple):
    """Made turns, and how their maker judged them."""

    passages: list[Passage]
    shares: NDArray[np.float64]


def made_path(folder: Path, part: str) -> Path:
    """Where the dialogues are that were made after a part of the data."""
    return folder / f"made-{part}.json.gz"


def read_made(path: Path) -> Made:
    """The judged turns of made dialogues."""
    passages, shares = [], []
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for lines, judged in json.load(file):
            turns = [Turn(bool(by_system), text) for by_system, text in lines]
            places = [place for place, turn in enumerate(turns) if turn.by_system]
            passages += [Passage(tuple(turns[:place]), turns[place].text) for place in places]
            shares += judged
    return Made(passages, np.array(shares, dtype=np.float64))


def read_challenge(name: str, within: str) -> Judged:
    """The judged turns of a corpus of the breakdown detection challenge, or of a folder of it."""
    passages, counts, dialogues, systems = [], [], [], []
    for path, dialogue in _logs(name, within):
        said: list[Turn] = []
        for turn in dialogue["turns"]:
            by_system = turn["speaker"] == "S"
            if by_system and turn["annotations"]:
                votes = Counter(note["breakdown"] for note in turn["annotations"])
                passages.append(Passage(tuple(said), turn["utterance"]))
                counts.append([votes[label] for label in LABELS])
                dialogues.append(f"{path.parent.name}/{dialogue['dialogue-id']}")
                systems.append(path.parent.name)
            said.append(Turn(by_system, turn["utterance"]))
    return Judged(passages, np.array(counts, dtype=np.float64), np.array(dialogues), np.array(systems))


def read_talk(name: str) -> list[list[str]]:
    """What people said to each other, a list a conversation."""
    talk = []
    with zipfile.ZipFile(_folder() / name) as archive:
        for member in sorted(archive.namelist()):
            if member.endswith(".json"):
                conversations = json.loads(archive.read(member)).values()
                talk += [[turn["message"] for turn in found["content"]] for found in conversations]
    return talk


def _logs(name: str, within: str) -> Iterator[tuple[PurePosixPath, dict[str, Any]]]:
    with zipfile.ZipFile(_folder() / name) as archive:
        for member in sorted(archive.namelist()):
            if member.endswith(".log.json") and f"/{within}/" in f"/{member}":
                yield PurePosixPath(member), json.loads(archive.read(member).decode("utf-8-sig"))


def _folder() -> Path:
    if "LAPSUS_DATA" not in os.environ:
        raise SystemExit("LAPSUS_DATA must name the folder with dbdc2-ja.zip and the other corpora")
    return Path(os.environ["LAPSUS_DATA"])
