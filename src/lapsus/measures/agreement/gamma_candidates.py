"""Which marks may be aligned: the candidates among which the best alignment is looked for.

A unitary alignment takes at most one mark of each annotator. With n annotators and C = n(n-1)/2 pairs, its
disorder is the mean over pairs of their dissimilarity d, an empty place costing 1 against anything: for k
marks this is 1 + Σ (d - 1) / C, the sum over the pairs of its marks. Left alone, each mark costs 1; so the
candidate saves k - 1 - Σ (d - 1) / C. A candidate is worth nothing unless each of its marks is better off in
it than alone, that is, unless Σ (d - 1) over the pairs of that mark is below C. This is sharper than the
paper's bound of n, and as safe: the marks taken out can only lower the disorder.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lapsus.errors import InvalidError
from lapsus.measures.bootstrap import Floats
from lapsus.model import Span, UnitKey
from lapsus.model.votes import SpanVotes
from lapsus.notices import Notice

Ints: TypeAlias = NDArray[np.int64]

Lengths: TypeAlias = Mapping[str, Mapping[str, int]]
"""For each document, the length of each of its segments in code points, in order."""


@dataclass(frozen=True)
class Continuum:
    """What several annotators marked on one line. The arrays have an entry for each mark.

    A unit of the votes is one continuum. Its segments lie end to end, in code points, in the document's order; where
    only one segment was judged, that segment is the whole line. Labels are the categories of what was marked.
    """

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


MOST = 60
"""How many candidates of each size there may be for each mark of a stretch. Beyond that the best are kept."""


class Dissimilarity(NamedTuple):
    """How unlike two marks are: `alpha` times their positions' and `beta` times their labels' dissimilarity."""

    alpha: float = 1.0
    beta: float = 1.0
    between: Floats | None = None
    """How unlike two labels are, from 0 to 1; without it, 1 unless they are the same."""


class Marks(NamedTuple):
    """The marks of many continua of equally many annotators, in order of continuum and middle."""

    continuum: Ints
    annotator: Ints
    start: Ints
    end: Ints
    label: Ints


class Candidates(NamedTuple):
    """Unitary alignments of two or more marks that save something."""

    saves: Floats
    """What each saves against leaving its marks alone."""
    owner: Ints
    """For each membership, the candidate..."""
    mark: Ints
    """...and the mark in it."""
    curbed: NDArray[np.bool_]
    """For each mark, whether candidates were left out around it because there were too many."""


class _Pairs(NamedTuple):
    """Pairs of marks, the one of the earlier annotator first, sorted; and d - 1 of each."""

    one: Ints
    other: Ints
    excess: Floats


class _Groups(NamedTuple):
    """Groups of equally many marks, in the order of their annotators."""

    members: Ints
    excess: Floats
    """For each member, the sum of d - 1 over its pairs with the others."""


def in_order(marks: Marks) -> tuple[Marks, Ints]:
    """The same marks sorted, and where each of them was."""
    order = np.lexsort((marks.annotator, marks.start + marks.end, marks.continuum))
    return Marks(*(column[order] for column in marks)), order


def candidates(marks: Marks, annotators: int, measure: Dissimilarity) -> Candidates:
    """All candidates, or the best where there are too many of them."""
    enough = annotators * (annotators - 1) / 2
    pairs = _near_pairs(marks, enough + annotators - 1, measure)
    stretch = _stretches(pairs, len(marks.start))
    curbed = np.zeros(len(marks.start), dtype=np.bool_)
    groups = _Groups(
        np.stack([pairs.one, pairs.other], axis=1), np.stack([pairs.excess, pairs.excess], axis=1)
    )
    saves, owners, owned, total = [], [], [], 0
    for size in range(2, annotators + 1):
        saved = size - 1 - groups.excess.sum(axis=1) / 2 / enough
        good = (groups.excess < enough).all(axis=1)
        saves.append(saved[good])
        owners.append(np.repeat(np.arange(total, total + len(saves[-1])), size))
        owned.append(groups.members[good].ravel())
        total += len(saves[-1])
        if size < annotators:
            left = annotators - 1 - marks.annotator[groups.members[:, -1]]
            # Each member to come can make up for at most 1.
            open_ = np.flatnonzero((left > 0) & (groups.excess - left[:, None] < enough).all(axis=1))
            kept = _best(open_, saved, stretch[groups.members[:, 0]], curbed, stretch)
            groups = _grown(_Groups(groups.members[kept], groups.excess[kept]), pairs, len(marks.start))
    return Candidates(np.concatenate(saves), np.concatenate(owners), np.concatenate(owned), curbed)


def _near_pairs(marks: Marks, limit: float, measure: Dissimilarity) -> _Pairs:
    """The pairs of marks of different annotators with a dissimilarity below the limit."""
    length = marks.end - marks.start
    middle = (marks.start + marks.end).astype(np.float64)
    line = middle + marks.continuum * (middle.max(initial=0) + 1)
    # The longer of two marks looks for the shorter: how far apart they may be is a matter of its length.
    reach = 2 * np.sqrt(limit / measure.alpha) * length
    first = np.searchsorted(marks.continuum, marks.continuum, "left")
    after = np.searchsorted(marks.continuum, marks.continuum, "right")
    low = np.maximum(np.searchsorted(line, line - reach, "left"), first)
    high = np.minimum(np.searchsorted(line, line + reach, "right"), after)
    one, place = ragged(high - low)
    other = low[one] + place
    shorter = (length[other] < length[one]) | ((length[other] == length[one]) & (other < one))
    kept = shorter & (marks.annotator[one] != marks.annotator[other])
    one, other = one[kept], other[kept]
    excess = dissimilarities(marks, one, other, measure) - 1
    near = excess < limit - 1
    one, other, excess = one[near], other[near], excess[near]
    swapped = marks.annotator[one] > marks.annotator[other]
    one, other = np.where(swapped, other, one), np.where(swapped, one, other)
    order = np.lexsort((other, one))
    return _Pairs(one[order], other[order], excess[order])


def dissimilarities(marks: Marks, one: Ints, other: Ints, measure: Dissimilarity) -> Floats:
    """How unlike pairs of marks are, against 1 for a mark without a partner."""
    apart = np.abs(marks.start[one] - marks.start[other]) + np.abs(marks.end[one] - marks.end[other])
    together = marks.end[one] - marks.start[one] + marks.end[other] - marks.start[other]
    labels = marks.label[one], marks.label[other]
    differ = (
        (labels[0] != labels[1]).astype(np.float64) if measure.between is None else measure.between[labels]
    )
    result: Floats = measure.alpha * (apart / together) ** 2 + measure.beta * differ
    return result


def _grown(groups: _Groups, pairs: _Pairs, marks: int) -> _Groups:
    """Add to each group every later annotator's mark that is near to all of its marks."""
    members, excess = groups
    begin = np.searchsorted(pairs.one, np.arange(marks + 1))
    group, place = ragged(np.diff(begin)[members[:, -1]])
    added = pairs.other[begin[members[group, -1]] + place]
    keys = pairs.one * marks + pairs.other
    wanted = members[group] * marks + added[:, None]
    found = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    kept = (keys[found] == wanted).all(axis=1)
    group, added, more = group[kept], added[kept], pairs.excess[found[kept]]
    return _Groups(
        np.concatenate([members[group], added[:, None]], axis=1),
        np.concatenate([excess[group] + more, more.sum(axis=1, keepdims=True)], axis=1),
    )


def _stretches(pairs: _Pairs, marks: int) -> Ints:
    """For each mark the number of its stretch: no candidate reaches from one stretch into another."""
    reach = np.arange(marks)
    low, high = np.minimum(pairs.one, pairs.other), np.maximum(pairs.one, pairs.other)
    np.maximum.at(reach, low, high)
    return np.cumsum(np.concatenate([[0], np.maximum.accumulate(reach)[:-1] < np.arange(1, marks)]))[:marks]


def _best(groups: Ints, saved: Floats, at: Ints, curbed: NDArray[np.bool_], stretch: Ints) -> Ints:
    """At most so many groups of each stretch, those that save most; where some are cut, it is noted."""
    allowed = MOST * np.bincount(stretch, minlength=1)
    crowded = np.bincount(at[groups], minlength=len(allowed)) > allowed
    if not crowded.any():
        return groups
    curbed |= crowded[stretch]
    order = groups[np.lexsort((-saved[groups], at[groups]))]
    _, begin, numbers = np.unique(at[order], return_index=True, return_counts=True)
    rank = np.arange(len(order)) - np.repeat(begin, numbers)
    return np.sort(order[rank < allowed[at[order]]])


def ragged(counts: Ints) -> tuple[Ints, Ints]:
    """For rows of so many places each: the row and the place in it, for all of them one after the other."""
    row = np.repeat(np.arange(len(counts)), counts)
    return row, np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
