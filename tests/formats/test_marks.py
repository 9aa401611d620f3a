"""Breakdown marks in every shape in which they are typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lapsus.errors import LapsusError
from lapsus.formats import read
from lapsus.schemes import load_scheme

MARKS = {
    "O": ("O", "o", "Ｏ", "○", "〇", "◯", "NB", "nb"),
    "T": ("T", "t", "Ｔ", "△", "Δ", "PB"),
    "X": ("X", "x", "Ｘ", "ｘ", "×", "✕", "☓", "B"),
}


@pytest.mark.parametrize(("id", "typed"), [(id, typed) for id, all in MARKS.items() for typed in all])
def test_a_mark_is_read_as_the_mark_it_is(tmp_path: Path, id: str, typed: str) -> None:
    annotation = {"annotator-id": "a", "breakdown": typed, "comment": ""}
    turn = {"turn-index": 0, "speaker": "S", "time": "", "utterance": "Hello.", "annotations": [annotation]}
    dialogue = {"dialogue-id": "d", "speaker-id": "s", "group-id": "g", "turns": [turn]}
    (tmp_path / "d.log.json").write_text(json.dumps(dialogue), encoding="utf-8")
    (entry,) = read(tmp_path / "d.log.json")
    assert entry.judgments[0].answers["breakdown"] == id
    label = load_scheme("breakdown").questions[0].label(typed)
    assert label is not None
    assert label.id == id


def test_other_signs_are_no_marks(tmp_path: Path) -> None:
    assert load_scheme("breakdown").questions[0].label("□") is None
    with pytest.raises(LapsusError, match="unknown breakdown label"):
        test_a_mark_is_read_as_the_mark_it_is(tmp_path, "O", "□")
