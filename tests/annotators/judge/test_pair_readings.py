"""Marks on data and text are learned from where the shipped reader stands."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import lapsus
from lapsus.annotators.base import Annotator
from lapsus.annotators.judge import judge as judge_module
from lapsus.annotators.judge import span_features
from lapsus.annotators.judge.judge import Judge
from lapsus.annotators.judge.span_features import WIDTH, PairReadings, can_read, places_for
from lapsus.errors import LapsusError
from lapsus.kinds import kinds_of
from lapsus.model import Document, Label, Segment, Unit, units
from lapsus.samples import sample_path
from lapsus.schemes import load_scheme

SCHEME = load_scheme("semantic-errors")
LABELS: dict[str, Label] = {label.id: label for label in kinds_of(SCHEME)["errors"].labels}


def pair(text: str, language: str | None = "en") -> Unit:
    triple = Segment.triple("t1", "Ida_Vale", "birthPlace", "Orsk")
    other = Segment.triple("t2", "Ida_Vale", "occupation", "painter")
    (unit,) = units(Document("d", (triple, other, Segment("text", "text", text)), language), SCHEME.unit)
    return unit


def rows(unit: Unit, label: str) -> np.ndarray:
    (found,) = PairReadings().rows([(unit, places_for(unit, LABELS[label]))])
    return found


def test_what_the_reader_says_stands_beside_each_place() -> None:
    unit = pair("Ida Vale was born in Orsk and was made of green cheese.")
    words, elements = rows(unit, "addition"), rows(unit, "omission")
    assert words.shape == (12, WIDTH)
    assert elements.shape == (6, WIDTH)
    # "painter" is left out, "Orsk" is not; "cheese" is added, "born" is not.
    assert elements[5, 0] > elements[2, 0]
    assert words[11, 1] > words[3, 1]
    # The neighbours' numbers stand in the row too, and none come from another triple.
    assert words[3, 3:6].tolist() == words[2, :3].tolist()
    assert words[3, 6:9].tolist() == words[4, :3].tolist()
    assert not elements[2, 6:9].any()
    assert not elements[3, 3:6].any()


def test_only_pairs_in_english_are_read() -> None:
    assert can_read([pair("Ida Vale was born in Orsk."), pair("Ida Vale was born in Orsk.", None)])
    assert not can_read([pair("イダはオルスクで生まれた。", "ja")])
    chat = Document("c", (Segment("1", "user", "hi"), Segment("2", "system", "hello")), "en")
    (turn,) = units(chat, load_scheme("breakdown").unit)
    assert not can_read([turn])
    assert not rows(pair("イダはオルスクで生まれた。", "ja"), "addition").any()


def test_marks_are_learned_better_with_the_reader_and_with_no_other(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def agreement(judge: Annotator) -> float:
        assert isinstance(judge, Judge)
        value = judge.reports_[0].agreement.judge.value
        assert value is not None
        return value

    read = lapsus.train("judge", sample_path("pairs-en"), scheme="semantic-errors")
    read.save(tmp_path / "read.lapsus")
    monkeypatch.setattr(judge_module, "can_read", lambda units: False)
    unread = lapsus.train("judge", sample_path("pairs-en"), scheme="semantic-errors")
    assert agreement(read) > agreement(unread)
    span_features._shipped.cache_clear()
    monkeypatch.setattr(span_features, "fingerprint", lambda *states: "another")
    with pytest.raises(LapsusError, match="another reader of pairs"):
        Annotator.load(tmp_path / "read.lapsus")
