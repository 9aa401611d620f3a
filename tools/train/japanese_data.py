"""What the Japanese reader learns from, read from the folder that LAPSUS_DATA names."""

from __future__ import annotations

import json
import os
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import brief
import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.encoder.reader import Passage, TurnWords

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


def read_challenge(name: str, within: str) -> Judged:
    """The judged turns of a corpus of the breakdown detection challenge, or of a folder of it."""
    passages, counts, dialogues, systems = [], [], [], []
    for path, dialogue in _logs(name, within):
        said: list[TurnWords] = []
        for turn in dialogue["turns"]:
            by_system = turn["speaker"] == "S"
            if by_system and turn["annotations"]:
                votes = Counter(note["breakdown"] for note in turn["annotations"])
                passages.append(Passage(tuple(said), turn["utterance"]))
                counts.append([votes[label] for label in LABELS])
                dialogues.append(f"{path.parent.name}/{dialogue['dialogue-id']}")
                systems.append(path.parent.name)
            said.append(TurnWords(by_system, turn["utterance"]))
    return Judged(passages, np.array(counts, dtype=np.float64), np.array(dialogues), np.array(systems))


def read_dbdc2() -> tuple[Judged, NDArray[np.bool_]]:
    """The Japanese challenge, development data first; and which turns are of the test data."""
    dev, ref = (read_challenge("dbdc2-ja.zip", part) for part in ("dev", "ref"))
    judged = Judged(
        dev.passages + ref.passages,
        np.vstack([dev.counts, ref.counts]),
        np.concatenate([dev.dialogues, np.char.add("ref/", ref.dialogues)]),
        np.concatenate([dev.systems, ref.systems]),
    )
    return judged, np.arange(len(judged.passages)) >= len(dev.passages)


def _logs(name: str, within: str) -> Iterator[tuple[PurePosixPath, dict[str, Any]]]:
    with zipfile.ZipFile(_folder() / name) as archive:
        members = [
            member
            for member in sorted(archive.namelist())
            if member.endswith(".log.json") and f"/{within}/" in f"/{member}"
        ]
        for member in brief.few(members):
            yield PurePosixPath(member), json.loads(archive.read(member).decode("utf-8-sig"))


def _folder() -> Path:
    if "LAPSUS_DATA" not in os.environ:
        raise SystemExit("LAPSUS_DATA must name the folder with dbdc2-ja.zip and the other corpora")
    return Path(os.environ["LAPSUS_DATA"])
