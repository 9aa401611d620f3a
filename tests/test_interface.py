"""What the functions of `lapsus` take: tables with and without their dialogues, guidelines by name, by file or loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lapsus
from lapsus.errors import InputError
from lapsus.model import Document, Entry, Judgment, Segment

GUIDELINE = """
scheme: own
version: "1"
title: {en: Own}
summary: {en: A guideline of one's own.}
unit: {role: system, context: before}
questions:
  - id: verdict
    kind: label
    name: {en: Verdict}
    ask: {en: Which?}
    labels:
      - {id: good, name: {en: Good}, definition: {en: good}, aliases: [◎]}
      - {id: bad, name: {en: Bad}, definition: {en: bad}, aliases: [no good]}
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.yaml"
    path.write_text(GUIDELINE, encoding="utf-8")
    return path


def judged(answers: dict[str, Any] | None = None, scheme: str = "own", version: str = "1") -> list[Entry]:
    """Six dialogues, each with two judged turns; `answers` stands in place of what all say."""
    entries = []
    for number in range(6):
        id = f"d{number}"
        texts = ("hello", "nice weather", "yes", "banana banana")
        turns = (Segment(str(n), ("user", "system")[n % 2], text) for n, text in enumerate(texts))  # type: ignore[arg-type]
        said = tuple(
            Judgment(id, turn, who, scheme, version, answers or {"verdict": label})
            for turn, label in (("1", "good"), ("3", "bad"))
            for who in ("ann", "ben")
        )
        entries.append(Entry(id, Document(id, tuple(turns), "en"), said))
    return entries


def test_a_table_of_judgments_alone_is_told_from_data_that_nobody_judged(own: Path) -> None:
    frame = lapsus.to_frame(judged())
    for call in (lambda: lapsus.train("judge", frame, scheme=str(own)), lambda: list(lapsus.detect(frame))):
        with pytest.raises(InputError, match="holds judgments without the dialogues .*list of two tables"):
            call()


def test_tables_of_segments_and_of_judgments_make_whole_entries(own: Path) -> None:
    entries = judged()
    tables = [lapsus.to_frame(entries, of="segments"), lapsus.to_frame(entries)]
    assert list(lapsus.read(tables)) == entries
    model = lapsus.train("judge", tables, scheme=str(own))
    assert [len(entry.judgments) for entry in lapsus.detect(tables, model=model)] == [2] * 6
    with pytest.raises(InputError, match="two tables hold document 'd0'"):
        list(lapsus.read([tables[0], tables[0]]))
