"""People and judges made up for the commands of trust."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from lapsus.cli.app import app
from lapsus.errors import LapsusError
from lapsus.formats import convert
from lapsus.model import Document, Entry, Judgment, Segment

LABELS = ("O", "T", "X")
TURNS = 6


def run(*arguments: object, code: int = 0) -> str:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done.stdout


def refused(*arguments: object) -> str:
    with pytest.raises(LapsusError) as caught:
        run(*arguments)
    return str(caught.value)


def document(number: int) -> Document:
    roles = ("user", "system")
    segments = [
        Segment(str(place), roles[place % 2], f"words {place} of {number}") for place in range(2 * TURNS)
    ]
    return Document(f"d{number}", tuple(segments), "en", {"system": f"S{number % 2}"})


def say(number: int, turn: int, who: str, label: str, **more: Any) -> Judgment:
    return Judgment(f"d{number}", str(2 * turn + 1), who, "breakdown", "1.0", {"breakdown": label}, **more)


def entries(documents: int, judged: int, seed: int = 0) -> list[Entry]:
    """Chats in which the judge is right four times of five, and so are people; people judged the first few."""
    rng = np.random.default_rng(seed)

    def answer(truth: int, right: float) -> str:
        return LABELS[truth if rng.random() < right else int(rng.integers(0, 3))]

    found = []
    for number in range(documents):
        judgments = []
        for turn in range(TURNS):
            truth = int(rng.integers(0, 3))
            sure = float(rng.choice([0.5, 0.9]))
            label = answer(truth, sure)
            rest = dict.fromkeys(LABELS, (1 - sure) / 2)
            shares = {"breakdown": rest | {label: sure}}
            setting = {"setting": {"model": "m1", "prompt": "abc"}}
            judgments.append(say(number, turn, "robot", label, distributions=shares, metadata=setting))
            if number < judged:
                judgments += [say(number, turn, who, answer(truth, 0.8)) for who in ("ann", "bo", "cy")]
        found.append(Entry(f"d{number}", document(number), tuple(judgments)))
    return found


@pytest.fixture
def write(tmp_path: Path) -> Callable[[list[Entry], str], Path]:
    def put(given: list[Entry], name: str = "data.jsonl") -> Path:
        convert(iter(given), tmp_path / name, "jsonl", overwrite=True)
        return tmp_path / name

    return put
