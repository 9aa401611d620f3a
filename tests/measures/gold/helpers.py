"""Made-up annotators with known faults, and spans in few signs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lapsus.model import Span, UnitKey
from lapsus.model.votes import LabelVotes, SpanVotes

Floats = NDArray[np.float64]


def units(count: int) -> tuple[UnitKey, ...]:
    return tuple(UnitKey(f"document-{place}", None) for place in range(count))


def votes_of(codes: NDArray[np.int8], labels: int) -> LabelVotes:
    names = tuple(f"annotator-{place}" for place in range(codes.shape[1]))
    return LabelVotes(units(len(codes)), names, tuple("ABCDEFGHIJ"[:labels]), codes)


def simulated(
    truth: NDArray[np.intp], confusion: Floats, missing: float = 0.0, seed: int = 0
) -> NDArray[np.int8]:
    """What annotators with these confusion matrices `(annotators, labels, answers)` say of these units."""
    generator = np.random.default_rng(seed)
    limits = confusion.cumsum(axis=2)
    drawn = generator.random((len(truth), len(confusion)))
    codes = np.empty(drawn.shape, dtype=np.int8)
    for place, limit in enumerate(limits):
        codes[:, place] = (drawn[:, place, None] > limit[truth, :-1]).sum(axis=1)
    codes[generator.random(codes.shape) < missing] = -1
    return codes


def spans(*rows: Sequence[Sequence[tuple[int, int, str] | Span] | None], labels: str = "xyz") -> SpanVotes:
    """For each unit, for each annotator, (start, end, label); None for no answer."""
    made = tuple(
        tuple(
            None
            if answer is None
            else tuple(mark if isinstance(mark, Span) else Span("s", *mark) for mark in answer)
            for answer in row
        )
        for row in rows
    )
    names = tuple(f"annotator-{place}" for place in range(len(rows[0]) if rows else 0))
    return SpanVotes(units(len(rows)), names, tuple(labels), made)
