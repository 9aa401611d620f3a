from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lapsus.errors import InputError, InvalidError
from lapsus.measures.bootstrap import Bootstrap
from lapsus.measures.score import Score, parse_measure
from lapsus.measures.scores.spans import element_tally, omitted_elements, span_tally
from lapsus.model import Document, Segment, Span


def span(
    start: int, end: int, label: str = "addition", segment: str = "text", tie: str | None = None
) -> Span:
    return Span(segment, start, end, label, tie)


def prf(found: dict[str, Score], way: str) -> tuple[float | None, ...]:
    return tuple(found[f"{letter}({way})"].value for letter in "PRF")


def scored(predicted: list[list[Span]], gold: list[list[Span]]) -> dict[str, Score]:
    return span_tally(predicted, gold, np.arange(len(gold))).scores(None)


def test_by_hand() -> None:
    predicted = [[span(0, 4), span(10, 14)], [span(0, 2, "repetition")]]
    gold = [[span(0, 4), span(12, 20), span(30, 31)], [span(0, 2)]]
    found = scored(predicted, gold)
    # With the category: 1 of 3 said and of 4 there is exact.
    assert prf(found, "exact") == pytest.approx((1 / 3, 1 / 4, 2 / 7))
    # 2 of 3 said overlap with one there; 2 of 4 there with one said.
    assert prf(found, "overlapping") == pytest.approx((2 / 3, 1 / 2, 4 / 7))
    # 4 + 2 characters in common, of 4 + 4 + 2 said and 4 + 8 + 1 + 2 there.
    assert prf(found, "characters") == pytest.approx((6 / 10, 6 / 15, 12 / 25))
    # Without it, the second unit is right too.
    assert prf(found, "exact,any") == pytest.approx((2 / 3, 2 / 4, 4 / 7))
    assert prf(found, "overlapping,any") == pytest.approx((1, 3 / 4, 6 / 7))
    assert prf(found, "characters,any") == pytest.approx((8 / 10, 8 / 15, 16 / 25))
    assert found["F(exact)"].n == 2


def test_each_side_counts_its_own_overlaps() -> None:
    found = scored([[span(0, 100)]], [[span(0, 5), span(10, 15), span(50, 51)]])
    assert prf(found, "overlapping") == (1, 1, 1)
    assert prf(found, "exact") == (0, 0, 0)
    assert prf(found, "characters") == pytest.approx((11 / 100, 1, 22 / 111))


def test_neighbours_do_not_overlap() -> None:
    found = scored([[span(0, 5)]], [[span(5, 9)]])
    assert prf(found, "overlapping") == prf(found, "characters") == (0, 0, 0)


def test_segments_and_units_are_kept_apart() -> None:
    found = scored([[span(0, 5, segment="t1")], [span(0, 5)]], [[span(0, 5, segment="t2")], []])
    assert prf(found, "overlapping,any") == (0, 0, 0)


def test_overlapping_spans_of_one_side_count_their_characters_once() -> None:
    found = scored([[span(0, 10), span(5, 12), span(12, 14)]], [[span(0, 14)]])
    assert prf(found, "characters") == (1, 1, 1)
    # Three spans, all of which overlap.
    assert prf(found, "overlapping") == (1, 1, 1)
    assert found["P(exact)"].value == 0


def test_the_same_stretch_twice_counts_once() -> None:
    twice = [span(0, 4, tie="a"), span(0, 4, tie="b")]
    assert prf(scored([twice], [[span(0, 4)]]), "exact") == (1, 1, 1)
    # With two categories these are two spans; without, one stretch.
    both = scored([[span(0, 4), span(0, 4, "repetition")]], [[span(0, 4)]])
    assert prf(both, "exact") == pytest.approx((1 / 2, 1, 2 / 3))
    assert prf(both, "exact,any") == prf(both, "overlapping,any") == (1, 1, 1)


def test_no_spans_at_all_is_undefined_and_no_hit_is_zero() -> None:
    found = scored([[], []], [[], []])
    assert prf(found, "exact") == prf(found, "characters,any") == (None, None, None)
    assert str(found["F(exact)"]) == "F(exact) n/a: there was nothing to find and nothing was found"
    assert prf(scored([[]], [[span(0, 1)]]), "overlapping") == (0, 0, 0)
    assert prf(scored([[span(0, 1)]], [[]]), "overlapping") == (0, 0, 0)
    nothing = scored([], [])
    assert (nothing["F(exact)"].n, nothing["F(exact)"].note) == (0, "nothing to score")


marks = st.builds(
    lambda start, length, label, segment: Span(segment, start, start + length, label),
    st.integers(0, 12),
    st.integers(1, 6),
    st.sampled_from(["addition", "repetition"]),
    st.sampled_from(["text", "t1"]),
)
units = st.lists(st.tuples(st.lists(marks, max_size=4), st.lists(marks, max_size=4)), min_size=1, max_size=4)


def slow(predicted: list[list[Span]], gold: list[list[Span]], with_category: bool) -> dict[str, list[float]]:
    """Hits and sizes of both sides, by looking at every character and every pair."""
    totals = {way: [0.0] * 4 for way in ("exact", "overlapping", "characters")}
    for said, there in zip(predicted, gold, strict=True):
        sides = [
            {(s.segment, s.start, s.end, s.label if with_category else None) for s in spans}
            for spans in (said, there)
        ]
        letters = [{(s, c, x) for s, a, b, x in side for c in range(a, b)} for side in sides]
        hits = [
            sum(
                any(s == q and x == y and max(a, c) < min(b, d) for q, c, d, y in sides[1 - own])
                for s, a, b, x in sides[own]
            )
            for own in (0, 1)
        ]
        rows = {
            "exact": [len(sides[0] & sides[1]), len(sides[0]), len(sides[0] & sides[1]), len(sides[1])],
            "overlapping": [hits[0], len(sides[0]), hits[1], len(sides[1])],
            "characters": [
                len(letters[0] & letters[1]),
                len(letters[0]),
                len(letters[0] & letters[1]),
                len(letters[1]),
            ],
        }
        for way, row in rows.items():
            totals[way] = [a + b for a, b in zip(totals[way], row, strict=True)]
    return totals


@settings(deadline=None, max_examples=200)
@given(units)
def test_as_character_by_character(rows: list[tuple[list[Span], list[Span]]]) -> None:
    predicted, gold = [row[0] for row in rows], [row[1] for row in rows]
    found = scored(predicted, gold)
    for with_category, suffix in ((True, ""), (False, ",any")):
        for way, (said_hits, said, there_hits, there) in slow(predicted, gold, with_category).items():
            precision, recall, f = prf(found, way + suffix)
            if said + there == 0:
                assert (precision, recall, f) == (None, None, None)
                continue
            assert precision == pytest.approx(said_hits / said if said else 0)
            assert recall == pytest.approx(there_hits / there if there else 0)
            together = precision + recall  # type: ignore[operator]
            assert f == pytest.approx(2 * precision * recall / together if together else 0)  # type: ignore[operator]


@given(units)
def test_a_copy_is_perfect(rows: list[tuple[list[Span], list[Span]]]) -> None:
    gold = [row[1] for row in rows]
    if any(gold):
        found = scored(gold, gold)
        assert {score.value for score in found.values()} == {1.0}


def test_names_and_intervals() -> None:
    generator = np.random.default_rng(0)
    gold = [[span(int(start), int(start) + 5)] for start in generator.integers(0, 50, 40)]
    predicted = [spans if place % 3 else [] for place, spans in enumerate(gold)]
    found = span_tally(predicted, gold, np.arange(40) // 2 * 7).scores(Bootstrap(50))
    names = [found["F(exact)"].measure, found["R(characters,any)"].measure]
    assert names == ["F(exact)", "R(characters,any)"]
    assert [str(parse_measure(name)) for name in names] == names
    assert found["R(exact)"].interval is not None
    assert found["R(exact)"].interval.low < 26 / 40 < found["R(exact)"].interval.high


def test_lengths_must_fit() -> None:
    with pytest.raises(InputError, match="1 units predicted, 2 in the gold, 2 with"):
        span_tally([[]], [[], []], np.arange(2))
    with pytest.raises(InputError, match="units predicted"):
        element_tally([[]], [[]], np.arange(2))


DOCUMENT = Document(
    "d",
    (
        # "Ada | wrote | notes": Ada 0-3, wrote 6-11, notes 14-19.
        Segment.triple("t1", "Ada", "wrote", "notes"),
        Segment.triple("t2", "Ada", "born", "London"),
        Segment("text", "text", "Ada wrote."),
    ),
)


def test_omitted_elements() -> None:
    spans = [
        span(14, 19, "omission", "t1"),
        span(8, 15, "omission", "t2"),  # the end of the predicate and the start of the object
        span(0, 3, "addition", "text"),
        span(0, 3, "repetition", "t1"),
        span(3, 6, "omission", "t1"),  # only the bar between the parts
    ]
    assert omitted_elements(spans, DOCUMENT, "omission") == {
        ("t1", "object"),
        ("t2", "predicate"),
        ("t2", "object"),
    }
    assert omitted_elements([], DOCUMENT, "omission") == frozenset()
    with pytest.raises(InvalidError, match="no segment 't9'"):
        omitted_elements([span(0, 1, "omission", "t9")], DOCUMENT, "omission")


def test_element_scores_by_hand() -> None:
    gold = [{("t1", "object"), ("t2", "predicate")}, {("t1", "object")}]
    predicted = [{("t1", "object"), ("t2", "object")}, set()]
    found = element_tally(predicted, gold, np.arange(2)).scores(None)
    assert prf(found, "omitted,object") == pytest.approx((1 / 2, 1 / 2, 1 / 2))
    assert prf(found, "omitted,predicate") == (0, 0, 0)
    assert prf(found, "omitted,subject") == (None, None, None)
    assert prf(found, "omitted,all") == pytest.approx((1 / 2, 1 / 3, 2 / 5))
    assert found["F(omitted,object)"].measure == "F(omitted,object)"
    assert (
        element_tally([], [], np.empty(0, np.intp)).scores(None)["F(omitted,all)"].note == "nothing to score"
    )
