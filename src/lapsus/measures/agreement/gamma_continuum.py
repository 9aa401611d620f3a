"""Continua: what each annotator marked, on one line of text.

A unit of the votes is one continuum. Its segments lie end to end, in code points, in the document's order;
where only one segment was judged, that segment is the whole line. Labels are the categories of what was
marked.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lapsus.errors import InvalidError
from lapsus.model import Span, UnitKey
from lapsus.model.votes import SpanVotes
from lapsus.notices import Notice

Ints: TypeAlias = NDArray[np.int64]

Lengths: TypeAlias = Mapping[str, Mapping[str, int]]
"""For each document, the length of each of its segments in code points, in order."""


@dataclass(frozen=True)
class Continuum:
    """What several annotators marked on one line. The arrays have an entry for each mark."""

    length: int
    annotators: int
    """How many annotators read it, those who marked nothing included."""
    annotator: Ints
    """Numbered from 0, in the order of the votes, without those who gave no answer."""
    start: Ints
    end: Ints
    label: Ints

    @property
    def marks(self) -> int:
        """How many marks there are."""
        return len(self.start)


def continua(votes: SpanVotes, lengths: Lengths | None = None) -> list[Continuum]:
    """One continuum for each unit. Without lengths, a segment ends where the last mark of the unit on it
    ends.

    A mark made twice by the same annotator in the same place with the same label counts once.
    """
    code = {label: place for place, label in enumerate(votes.labels)}
    return [
        _continuum(unit, [spans for spans in row if spans is not None], lengths, code)
        for unit, row in zip(votes.units, votes.spans, strict=True)
    ]


def _continuum(
    unit: UnitKey, answers: list[tuple[Span, ...]], lengths: Lengths | None, code: dict[str, int]
) -> Continuum:
    sizes = _marked_sizes(answers) if lengths is None else _known_sizes(unit, lengths)
    ends = np.cumsum([0, *sizes.values()]).tolist()
    offset = dict(zip(sizes, ends[:-1], strict=True))
    marks = sorted(
        {
            (annotator, offset[span.segment] + span.start, offset[span.segment] + span.end, code[span.label])
            for annotator, spans in enumerate(answers)
            for span in spans
            if _is_placed(span, unit, sizes, code)
        }
    )
    columns = np.array(marks, dtype=np.int64).reshape(-1, 4).T
    return Continuum(ends[-1], len(answers), *columns)


def _marked_sizes(answers: list[tuple[Span, ...]]) -> dict[str, int]:
    ends: dict[str, int] = {}
    for span in (span for spans in answers for span in spans):
        ends[span.segment] = max(span.end, ends.get(span.segment, 0))
    # Sorted, so that the order of annotators makes no difference.
    return dict(sorted(ends.items()))


def _known_sizes(unit: UnitKey, lengths: Lengths) -> Mapping[str, int]:
    if unit.document not in lengths:
        raise InvalidError("lengths-segments-not-given", where=Notice("document", document=unit.document))
    sizes = lengths[unit.document]
    if unit.segment is None:
        return sizes
    return {unit.segment: sizes[unit.segment]} if unit.segment in sizes else {}


def _is_placed(span: Span, unit: UnitKey, sizes: Mapping[str, int], code: dict[str, int]) -> bool:
    """True, or an error that says what is wrong with the span."""
    where = f"document {unit.document!r}, segment {span.segment!r}"
    if span.label not in code:
        raise InvalidError(
            "unknown-label", where=where, hint="known", label=span.label, known=", ".join(code)
        )
    if span.segment not in sizes:
        raise InvalidError("span-segment-not", where=where, hint="give-lengths-all-segments")
    if span.end > sizes[span.segment]:
        raise InvalidError(
            "span-ends-but-segment",
            where=where,
            hint="offsets-count-code-points",
            end=span.end,
            sizes=sizes[span.segment],
        )
    return True
