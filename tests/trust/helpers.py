"""Votes made up for tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lapsus.model import Span, UnitKey
from lapsus.model.votes import LabelSetVotes, LabelVotes, ScaleVotes, SpanVotes, Votes

LABELS = ("O", "T", "X")


def units(count: int, per_document: int = 4) -> tuple[UnitKey, ...]:
    return tuple(UnitKey(f"d{place // per_document}", str(place % per_document)) for place in range(count))


def random_votes(
    kind: str, seed: int, count: int = 60, people: int = 4
) -> tuple[Votes, dict[str, dict[Any, Any]]]:
    """People p0, p1, … and a judge, with gaps; and the same answers as plain mappings."""
    rng = np.random.default_rng(seed)
    names = (*(f"p{place}" for place in range(people)), "judge")
    keys = units(count)
    there = rng.random((count, len(names))) < 0.9
    truth = rng.integers(0, 3, count)
    shown = np.where(
        rng.random((count, len(names))) < 0.6, truth[:, None], rng.integers(0, 3, (count, len(names)))
    )
    plain: dict[str, dict[Any, Any]] = {name: {} for name in names}

    def keep(answer: Any) -> None:
        for row, column in zip(*np.nonzero(there), strict=True):
            plain[names[column]][keys[row]] = answer(row, column)

    if kind == "label":
        keep(lambda row, column: int(shown[row, column]))
        return LabelVotes(keys, names, LABELS, np.where(there, shown, -1)), plain
    if kind == "scale":
        values = shown + rng.integers(0, 3, shown.shape) / 2
        keep(lambda row, column: float(values[row, column]))
        return ScaleVotes(keys, names, np.where(there, values, np.nan)), plain
    if kind == "labels":
        chosen = (rng.random((*shown.shape, 3)) < 0.3) | (np.arange(3) == shown[..., None])
        chosen &= rng.random((*shown.shape, 1)) < 0.9
        keep(lambda row, column: frozenset(np.flatnonzero(chosen[row, column]).tolist()))
        return LabelSetVotes(keys, names, LABELS, chosen & there[..., None], there), plain
    grid: list[list[Any]] = [[None] * len(names) for _ in keys]
    for row, column in zip(*np.nonzero(there), strict=True):
        starts = {int(shown[row, column]), *rng.integers(0, 3, rng.integers(0, 2)).tolist()} - {0}
        grid[row][column] = tuple(
            Span(keys[row].segment or "", start, start + 1, "O") for start in sorted(starts)
        )
    keep(lambda row, column: frozenset((s.segment, s.start, s.end, s.label) for s in grid[row][column]))
    return SpanVotes(keys, names, LABELS, tuple(tuple(line) for line in grid)), plain


def label_votes(answers: Mapping[str, str], per_document: int = 1) -> LabelVotes:
    """Votes from a string an annotator, a letter a unit; `.` where nothing was said."""
    names = tuple(answers)
    codes = [
        [LABELS.index(sign) if sign != "." else -1 for sign in line]
        for line in zip(*answers.values(), strict=True)
    ]
    return LabelVotes(units(len(codes), per_document), names, LABELS, np.array(codes))
