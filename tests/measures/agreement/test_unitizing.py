from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lapsus.errors import InvalidError, UsageError
from lapsus.measures.agreement.gamma_candidates import continua
from lapsus.measures.agreement.patterns import ALONE
from lapsus.measures.agreement.unitizing import NOTHING, difference_sums, unitizing_alpha
from lapsus.measures.bootstrap import Bootstrap
from lapsus.model import Span, UnitKey
from lapsus.model.votes import SpanVotes
from tests.measures.agreement.helpers import labels
from tests.measures.gold.helpers import spans

Section = tuple[int, int, bool]
"""Begin, length, and whether it is a unit or a gap."""


def of_length(votes: SpanVotes, length: int) -> dict[str, dict[str, int]]:
    return {unit.document: {"s": length} for unit in votes.units}


def sections(units: list[tuple[int, int]], length: int) -> list[Section]:
    found, at = [], 0
    for start, end in [*sorted(units), (length, length)]:
        if start > at:
            found.append((at, start - at, False))
        if end > start:
            found.append((start, end - start, True))
        at = end
    return found


def difference(one: Section, other: Section) -> float:
    """Krippendorff's distance between two sections, case by case as it is written."""
    (b, size, is_unit), (c, other_size, other_is_unit) = one, other
    if is_unit and other_is_unit and -size < b - c < other_size:
        return (b - c) ** 2 + (b + size - c - other_size) ** 2
    if is_unit and not other_is_unit and other_size - size >= b - c >= 0:
        return size**2
    if not is_unit and other_is_unit and size - other_size >= c - b >= 0:
        return other_size**2
    return 0


def slow_alpha(answers: list[list[tuple[int, int]]], length: int) -> float:
    """One label on one continuum. Expected: every section moved past every other, place by place."""
    cut = [sections(units, length) for units in answers]
    m = len(cut)
    observed = sum(
        difference(g, h) for i in range(m) for j in range(m) if i != j for g in cut[i] for h in cut[j]
    ) / (m * (m - 1) * length**2)
    every = [section for own in cut for section in own]
    moved = 0.0
    for place, (_, size, is_unit) in enumerate(every):
        for _, other_size, other_is_unit in every[:place]:
            for shift in range(-other_size + 1, size):
                # Where the other begins, if this one begins at 0. A unit must be in a gap as a whole.
                moved += difference((0, size, is_unit), (shift, other_size, other_is_unit))
    places = m * length * (m * length - 1) - sum(s * (s - 1) for _, s, is_unit in every if is_unit)
    expected = 2 / length * moved / places
    return 1 - observed / expected if expected else math.nan


def test_the_book_s_example() -> None:
    # Krippendorff (2004, p. 254): a continuum of 300 from 150 on, two observers, categories c and k.
    one = [(225, 70, "c"), (370, 30, "c"), (180, 60, "k"), (300, 50, "k")]
    other = [(220, 80, "c"), (355, 20, "c"), (400, 20, "c"), (180, 60, "k"), (300, 50, "k")]
    answers = [
        [(begin - 150, begin - 150 + size, label) for begin, size, label in side] for side in (one, other)
    ]
    votes = spans(answers, labels="ck")
    sums = difference_sums(continua(votes, of_length(votes, 300))[0], 2) / 300**2
    assert sums.tolist() == pytest.approx([0.0144, 0.0532, 0, 0.0490], abs=5e-5)
    score = unitizing_alpha(votes, lengths=of_length(votes, 300))
    # The book divides rounded numbers, .0144 by .0532 + .0490, and gets .8591.
    assert score.value == pytest.approx(0.8591, abs=5e-4)
    assert score.details["labels"] == {"c": pytest.approx(0.7286, abs=5e-5), "k": 1}
    assert score.signature.startswith("alpha:unitizing-2004|labels:c,k|lengths:texts|raters:2|")


def test_by_hand() -> None:
    # Ten characters; 2-5 against 2-4. Observed: 2 · (0² + 1²) / (2·1) = 1.
    # Expected: units (2-1)/3 · ((54-27+3) + (16-12+2)) = 12; gaps of 2, 5, 2, 6: a 3 fits 3+4 times, 9·7 = 63;
    # a 2 fits 1+4+1+5 times, 4·11 = 44. 2·10·119 / (20·19 - 6 - 2) = 2380/372.
    votes = spans([[(2, 5, "x")], [(2, 4, "x")]])
    assert difference_sums(continua(votes, of_length(votes, 10))[0], 1).tolist() == pytest.approx(
        [1, 2380 / 372]
    )
    assert unitizing_alpha(votes, lengths=of_length(votes, 10)).value == pytest.approx(1 - 372 / 2380)


@st.composite
def without_overlap(draw: st.DrawFn) -> list[tuple[int, int]]:
    cuts = sorted(draw(st.sets(st.integers(0, 14), max_size=6)))
    return list(zip(cuts[::2], cuts[1::2], strict=False))


@settings(max_examples=80, deadline=None)
@given(st.lists(without_overlap(), min_size=2, max_size=4))
def test_equal_to_the_plain_way(answers: list[list[tuple[int, int]]]) -> None:
    votes = spans([[(start, end, "x") for start, end in units] for units in answers])
    score = unitizing_alpha(votes, lengths=of_length(votes, 14), bootstrap=None)
    assert float(score) == pytest.approx(slow_alpha(answers, 14), nan_ok=True)


@given(st.lists(without_overlap(), min_size=2, max_size=4), st.permutations(range(4)))
def test_order_does_not_matter(answers: list[list[tuple[int, int]]], order: list[int]) -> None:
    sides = [[(start, end, "x") for start, end in units] for units in answers]
    turned = [sides[place] for place in order if place < len(sides)]
    one, other = (spans(side) for side in (sides, turned))
    lengths = of_length(one, 14)
    assert float(unitizing_alpha(one, lengths=lengths, bootstrap=None)) == pytest.approx(
        float(unitizing_alpha(other, lengths=lengths, bootstrap=None)), nan_ok=True
    )


def test_overlapping_spans_of_one_annotator_are_one() -> None:
    one = spans([[(0, 4, "x"), (2, 6, "x")], [(0, 6, "x")]])
    assert unitizing_alpha(one, lengths=of_length(one, 20)).value == 1
    # Those that only touch are two.
    two = spans([[(0, 4, "x"), (4, 6, "x")], [(0, 6, "x")]])
    assert float(unitizing_alpha(two, lengths=of_length(two, 20))) < 1


def test_labels_and_continua_add_up() -> None:
    votes = spans([[(0, 4, "x")], [(0, 5, "x")]], [[(3, 9, "y")], [(2, 9, "y"), (12, 13, "x")]])
    lengths = of_length(votes, 15)
    sums = [difference_sums(one, 3) for one in continua(votes, lengths)]
    observed = sum(part[0::2].sum() for part in sums)
    expected = sum(part[1::2].sum() for part in sums)
    score = unitizing_alpha(votes, lengths=lengths, bootstrap=Bootstrap(50))
    assert score.value == pytest.approx(1 - observed / expected)
    assert score.details["labels"]["z"] is None
    assert score.n == 2
    assert score.interval is not None


def test_undefined() -> None:
    assert unitizing_alpha(spans([[], []])).note == NOTHING
    assert unitizing_alpha(spans([[(0, 1, "x")], None])).note == ALONE
    assert unitizing_alpha(spans()).note == ALONE
    with pytest.raises(UsageError, match="unitizing is not made for one label"):
        unitizing_alpha(labels(["OX"]))  # type: ignore[arg-type]


def test_segments_lie_end_to_end() -> None:
    votes = spans([[Span("b", 0, 2, "x"), Span("a", 4, 5, "y")], []])
    (line,) = continua(votes, {"document-0": {"a": 5, "b": 3}})
    assert (line.length, line.annotators) == (8, 2)
    assert sorted(zip(line.start.tolist(), line.end.tolist(), line.label.tolist(), strict=True)) == [
        (4, 5, 1),
        (5, 7, 0),
    ]


def test_a_judged_segment_is_the_whole_line() -> None:
    base = spans([[Span("b", 0, 2, "x")], []])
    votes = SpanVotes((UnitKey("d", "b"),), base.annotators, base.labels, base.spans)
    (line,) = continua(votes, {"d": {"a": 5, "b": 3}})
    assert (line.length, line.start.tolist()) == (3, [0])


def test_without_lengths_the_marks_tell() -> None:
    votes = spans([[Span("b", 0, 2, "x")], [Span("a", 1, 4, "x")], None])
    (line,) = continua(votes)
    assert (line.length, line.annotators, line.start.tolist()) == (6, 2, [4, 1])


def test_twice_the_same_mark_counts_once() -> None:
    (line,) = continua(spans([[Span("s", 0, 2, "x"), Span("s", 0, 2, "x"), Span("s", 0, 2, "x", "tie")], []]))
    assert line.marks == 1


@pytest.mark.parametrize(
    ("span", "says"),
    [
        (Span("s", 3, 9, "x"), "a span ends at 9, but the segment is 5 long .offsets count code points"),
        (Span("elsewhere", 0, 1, "x"), "document 'document-0', segment 'elsewhere': .* not there"),
        (Span("s", 0, 1, "q"), "unknown label 'q'"),
    ],
)
def test_misplaced_spans_are_named(span: Span, says: str) -> None:
    votes = spans([[span], []])
    with pytest.raises(InvalidError, match=says):
        unitizing_alpha(votes, lengths=of_length(votes, 5))


def test_unknown_documents_are_named() -> None:
    with pytest.raises(
        InvalidError, match="document 'document-0': the lengths of its segments are not given"
    ):
        unitizing_alpha(spans([[], []]), lengths={})
