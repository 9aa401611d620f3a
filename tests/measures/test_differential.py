"""Does what sets two groups apart move their answers? Against plain sums, and on invented crowds."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from lapsus.formats.jsonl import Jsonl
from lapsus.measures.bootstrap import Bootstrap
from lapsus.measures.differential import shifts
from lapsus.model import Document, Entry, Judgment, Segment, UnitKey
from lapsus.model.votes import LabelVotes
from lapsus.schemes import load_scheme
from tests.cli.in_process import lapsus

LABELS = ("yes", "no")


def crowd(rng: np.random.Generator, hard: np.ndarray, moved: float = 0.0, name: str = "") -> LabelVotes:
    """Six people on units of two a document, each unit with a chance of a yes of its own, moved by so much."""
    chance = np.clip(hard + moved, 0, 1)
    said = (rng.random((len(hard), 6)) > chance[:, None]).astype(np.int8)
    units = tuple(UnitKey(f"{name}{row // 2}", str(row % 2)) for row in range(len(hard)))
    return LabelVotes(units, tuple("abcdef"), LABELS, said)


def test_against_plain_sums() -> None:
    rng = np.random.default_rng(1)
    hard = rng.random(30)
    first, second = crowd(rng, hard), crowd(rng, hard, 0.2)
    found = shifts(first, second, bootstrap=None)[0]
    top = bottom = up = down = 0.0
    for one, other in zip(first.counts().tolist(), second.counts().tolist(), strict=True):
        weight = sum(one) * sum(other) / (sum(one) + sum(other))
        top += weight * (other[0] / sum(other) - one[0] / sum(one))
        bottom += weight
        up += other[0] * one[1] / (sum(one) + sum(other))
        down += one[0] * other[1] / (sum(one) + sum(other))
    assert found.difference.value == pytest.approx(top / bottom)
    assert found.odds.value == pytest.approx((up + 0.5) / (down + 0.5))
    assert found.second - found.first == pytest.approx(top / bottom)
    assert found.difference.n == 30


@pytest.mark.parametrize(("moved", "share"), [(0.0, None), (0.1, None), (0.0, 0.02)])
def test_intervals_hold_as_often_as_they_say(moved: float, share: float | None) -> None:
    rng, held = np.random.default_rng(2), []
    for seed in range(150):
        hard = np.full(60, share) if share is not None else rng.uniform(0.2, 0.7, 60)
        (yes, _) = shifts(crowd(rng, hard), crowd(rng, hard, moved), bootstrap=Bootstrap(200, seed))
        low, high = yes.difference.interval or (math.nan, math.nan)
        held.append(low <= moved <= high)
    assert np.mean(held) >= 0.915


def test_other_units_are_matched_by_what_they_have_in_common() -> None:
    """Two systems, one of them worse and judged more often by the second group: within systems nothing is moved."""
    rng = np.random.default_rng(3)
    first = crowd(rng, np.array([0.2] * 100 + [0.8] * 20), name="a")
    second = crowd(rng, np.array([0.2] * 20 + [0.8] * 100), name="b")

    def system(unit: UnitKey) -> str:
        place = int(unit.document[1:])
        return "good" if place < (50 if unit.document[0] == "a" else 10) else "bad"

    assert shifts(first, second) == []
    (yes, _) = shifts(first, second, system)
    assert yes.difference.interval is not None
    assert yes.difference.interval.low <= 0 <= yes.difference.interval.high
    (mixed, _) = shifts(first, second, lambda unit: "all")
    assert mixed.difference.interval is not None
    assert mixed.difference.interval.low > 0.2


def judged(path: Path, name: str, moved: bool) -> None:
    scheme, found = load_scheme("breakdown"), []
    for number in range(40):
        document = Document(f"d{number}", (Segment("0", "system", "Well."),), "en")
        said = ["X" if (number + who) % 4 == 0 or (moved and who < 2) else "O" for who in range(6)]
        judgments = tuple(
            Judgment(document.id, "0", f"{name}{who}", scheme.id, scheme.version, {"breakdown": label})
            for who, label in enumerate(said)
        )
        found.append(Entry(document.id, document, judgments))
    Jsonl().write(found, path)


def test_the_command_says_whether_answers_are_moved(tmp_path: Path) -> None:
    judged(tmp_path / "en.jsonl", "e", False)
    judged(tmp_path / "ja.jsonl", "j", True)
    found = json.loads(lapsus("dif", "en.jsonl", "ja.jsonl", "--json", cwd=tmp_path).stdout)
    assert found["moved"] == ["breakdown: O", "breakdown: X"]
    told = lapsus("dif", "en.jsonl", "ja.jsonl", cwd=tmp_path).stdout
    assert "by more than chance: breakdown: O, breakdown: X" in told
    same = lapsus("dif", "en.jsonl", "en.jsonl", cwd=tmp_path)
    assert "no difference is shown" in same.stdout


def test_groups_with_nothing_in_common_are_told_what_they_lack(tmp_path: Path) -> None:
    lapsus("sample", "dialogues-en", "en.jsonl", cwd=tmp_path)
    lapsus("sample", "dialogues-ja", "ja.jsonl", cwd=tmp_path)
    asked = ("dif", "en.jsonl", "ja.jsonl", "--scheme", "breakdown")
    assert "--matched" in lapsus(*asked, cwd=tmp_path).stderr
    told = lapsus(*asked, "--matched", cwd=tmp_path).stderr
    assert "no judged system in common" in told
    assert "--matched" not in told
