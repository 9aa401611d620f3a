"""A small invented challenge: dialogues, votes, and runs to hand in."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lapsus.challenge.testset import Track, tracks
from lapsus.model import Document, Entry, Judgment, Segment
from lapsus.store.challenge_records import GoldDocument

VOTES = ((8, 1, 1), (1, 2, 7), (2, 6, 2), (3, 3, 4))
LABELS = "OTX"
Labels = Mapping[str, Sequence[tuple[int, Any]]]


def gold(number: int, system: str = "Robin", language: str = "en", turns: int = 3) -> GoldDocument:
    """A dialogue in which the system says `turns` things and the user answers; the first turn is not scored."""
    roles = ("system", "user")
    segments = tuple(
        Segment(str(place), roles[place % 2], f"turn {place} of dialogue {number}")  # type: ignore[arg-type]
        for place in range(2 * turns - 1)
    )
    document = Document(f"{language}-{number}", segments, language, {"system": system, "rating": 5})
    votes = {str(place): VOTES[(number + place // 2) % 4] for place in range(2, 2 * turns - 1, 2)}
    return GoldDocument(document, language, votes)


def gold_set(dialogues: int = 6, languages: Sequence[str] = ("en",)) -> list[GoldDocument]:
    return [
        gold(number, ("Robin", "Wren")[number % 2], language)
        for language in languages
        for number in range(dialogues)
    ]


def judged(documents: Iterable[GoldDocument]) -> list[Entry]:
    """The same as people's judgments: what a challenge is made from."""
    found = []
    for one in documents:
        said = [
            Judgment(one.document.id, turn, f"judge {number}", "breakdown", "1.0", {"breakdown": name})
            for turn, counts in one.votes.items()
            for number, name in enumerate("".join(LABELS[n] * times for n, times in enumerate(counts)))
        ]
        found.append(Entry(one.document.id, one.document, tuple(said)))
    return found


def track(dialogues: int = 6) -> Track:
    return tracks(gold_set(dialogues))["en"]


def label(name: str = "O", shares: Sequence[Any] | None = (0.6, 0.3, 0.1), **more: Any) -> dict[str, Any]:
    given = dict(zip(("prob-O", "prob-T", "prob-X"), shares or (), strict=False))
    return {"breakdown": name, **given, **more}


def answers(documents: Iterable[GoldDocument], shift: int = 0) -> dict[str, list[tuple[int, Any]]]:
    """A sound run: of every system turn some label."""
    return {
        gold.document.id: [
            (int(segment.id), [label(LABELS[(int(segment.id) // 2 + place + shift) % 3])])
            for segment in gold.document.segments
            if segment.role == "system"
        ]
        for place, gold in enumerate(documents)
    }


def content(dialogue: str, turns: Sequence[tuple[int, Any]]) -> bytes:
    rows = [{"turn-index": index, "labels": labels} for index, labels in turns]
    return json.dumps({"dialogue-id": dialogue, "turns": rows}).encode()


def write_run(path: Path, run: Labels, more: Mapping[str, bytes] | None = None) -> Path:
    files = {f"{name}.labels.json": content(name, turns) for name, turns in run.items()}
    return write_zip(path, files | dict(more or {}))


def write_zip(path: Path, files: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path
