"""A kind of question that Lapsus does not have: two things are compared, and one is better, or neither."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from lapsus import registry
from lapsus.kinds import BrokenRule, Kind, Reply
from lapsus.model import Answer, Document, Text
from lapsus.model.votes import LabelVotes, VoteTable

CHOICES = ("left", "right", "neither")
DUEL = """
scheme: duel
version: "1"
title: {en: Duel, ja: 比較}
summary: {en: Which is better?, ja: どちらが良いですか。}
unit: {role: system}
questions:
  - id: better
    kind: duel
    name: {en: Better, ja: 良い方}
    ask: {en: Which is better?, ja: どちらが良いですか。}
"""


def offer_duel(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Path:
    """Have the kind offered as by an installed package; the file of a scheme with a question of it."""
    point = EntryPoint("duel", f"{__name__}:DuelKind", "lapsus.kinds")
    real = registry.entry_points
    monkeypatch.setattr(
        registry, "entry_points", lambda group: [point] if group == "lapsus.kinds" else real(group=group)
    )
    path = folder / "duel.yaml"
    path.write_text(DUEL, encoding="utf-8")
    return path


class DuelKind(Kind):
    """The answer is one of three fixed words."""

    name = "duel"
    is_counted = True
    agreement = ("fleiss", "percent")
    pair_measure = "cohen"
    gold_methods = ("majority",)
    typical_method = "majority"
    scores = ("likeness",)
    is_packed = True
    packed_type = "<i2"

    @classmethod
    def holds(cls, answer: object) -> bool:
        return answer in CHOICES

    def broken(self, answer: Any, document: Document | None = None) -> Iterator[BrokenRule]:
        yield from ()

    @property
    def expected(self) -> Text:
        return {"en": "left, right or neither", "ja": "左・右・どちらでもない"}

    @property
    def choices(self) -> tuple[str, ...]:
        return CHOICES

    @property
    def gold_options(self) -> dict[str, Any]:
        return {"ties": ()}

    def code(self, answer: Answer) -> int:
        if answer not in CHOICES:
            raise self._unfit(answer)
        return CHOICES.index(answer)  # type: ignore[arg-type]

    def votes(
        self, table: VoteTable, rows: NDArray[np.intp], columns: NDArray[np.intp], codes: Any
    ) -> LabelVotes:
        array = np.full((len(table.units), len(table.annotators)), -1, dtype=np.int8)
        array[rows, columns] = codes
        return LabelVotes(table.units, table.annotators, CHOICES, array)

    def places(self, codes: Any) -> NDArray[np.intp]:
        return np.asarray(codes, dtype=np.intp)

    def totals(self, votes: Any) -> tuple[NDArray[np.float64], float]:
        totals = votes.counts().sum(axis=0)
        return totals, float(totals.sum())

    def of_unit(self, votes: Any, row: int) -> list[Answer]:
        return [CHOICES[code] for code in votes.codes[row].tolist() if code >= 0]

    def shares(self, votes: Any) -> NDArray[np.float64]:
        counts = votes.counts()
        return counts / counts.sum(axis=1, keepdims=True)

    def best(self, shares: NDArray[np.float64]) -> Answer:
        return CHOICES[int(np.argmax(shares))]

    def json_schema(self) -> dict[str, Any]:
        return {"type": "string", "enum": list(CHOICES)}

    def from_json(self, value: Any, reply: Reply) -> Answer:
        return value if isinstance(value, str) else ()
