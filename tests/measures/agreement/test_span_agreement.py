from __future__ import annotations

import math
from itertools import combinations
from random import Random
from statistics import mean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lapsus.errors import UsageError
from lapsus.measures.agreement.patterns import ALONE
from lapsus.measures.agreement.spans import CATEGORIES, MATCHES, NOTHING, mean_f1, span_f1
from lapsus.measures.bootstrap import SHARE, Bootstrap, bootstrap_interval
from lapsus.model import Span
from lapsus.model.votes import SpanVotes
from tests.measures.agreement.helpers import labels
from tests.measures.gold.helpers import spans

Mark = tuple[int, int, str]

marks = st.lists(
    st.tuples(st.integers(0, 9), st.integers(1, 5), st.sampled_from("xy")).map(
        lambda mark: (mark[0], mark[0] + mark[1], mark[2])
    ),
    max_size=4,
)
tables = st.integers(2, 4).flatmap(
    lambda width: st.lists(
        st.lists(st.none() | marks, min_size=width, max_size=width), min_size=1, max_size=4
    )
)


def plain_f1(rows: list[list[list[Mark] | None]], match: str, category: str) -> float:
    """For each pair of annotators the hits of both sides, span by span or character by character."""
    values = []
    for one, other in combinations(range(len(rows[0])), 2):
        hits_a = hits_b = size_a = size_b = 0
        for row in rows:
            left, right = row[one], row[other]
            if left is None or right is None:
                continue
            a, b = (
                {(start, end, label if category == "same" else "") for start, end, label in side}
                for side in (left, right)
            )
            if match == "characters":
                a, b = ({(p, p + 1, label) for s, e, label in side for p in range(s, e)} for side in (a, b))

            def hit(mark: Mark, others: set[Mark]) -> bool:
                if match != "overlapping":
                    return mark in others
                return any(mark[2] == o[2] and mark[0] < o[1] and o[0] < mark[1] for o in others)

            hits_a += sum(hit(mark, b) for mark in a)
            hits_b += sum(hit(mark, a) for mark in b)
            size_a, size_b = size_a + len(a), size_b + len(b)
        if size_a + size_b:
            p, r = (hits_a / size_a if size_a else 0), (hits_b / size_b if size_b else 0)
            values.append(2 * p * r / (p + r) if p + r else 0.0)
    return mean(values) if values else math.nan


@pytest.mark.parametrize(
    ("match", "category", "value"),
    [
        # 0-4 x is the same; 6-10 against 8-12 overlaps, with another label.
        ("exact", "same", 2 / 4),
        ("exact", "any", 2 / 4),
        ("overlapping", "same", 2 / 4),
        ("overlapping", "any", 1.0),
        # 4 characters of 8 and 8 with the label; 4 + 2 without.
        ("characters", "same", 4 / 8),
        ("characters", "any", 6 / 8),
    ],
)
def test_by_hand(match: str, category: str, value: float) -> None:
    votes = spans([[(0, 4, "x"), (6, 10, "x")], [(0, 4, "x"), (8, 12, "y")]])
    assert span_f1(votes, match, category).value == pytest.approx(value)


def test_the_mean_is_over_pairs() -> None:
    same, other = [(0, 4, "x")], [(5, 6, "x")]
    score = span_f1(spans([same, same, other]))
    # 1 for the first two, 0 for both pairs with the third.
    assert score.value == pytest.approx(1 / 3)
    assert [pair["f1"] for pair in score.details["pairs"]] == [1, 0, 0]
    assert score.signature.startswith(
        "match:exact|category:same|pairs:3|raters:3|boot:1000,seed=0,level=0.95|"
    )
    assert score.n == 1


def test_counts_of_a_pair_are_added_up_over_units() -> None:
    # 1 hit of 1 and 1, then 0 hits of 3 and 0: P = 1/4, R = 1, F = 2/5; not the mean of 1 and 0.
    votes = spans([[(0, 1, "x")], [(0, 1, "x")]], [[(0, 1, "x"), (2, 3, "x"), (4, 5, "x")], []])
    assert span_f1(votes).value == pytest.approx(0.4)


def test_a_long_span_over_two_short_ones() -> None:
    votes = spans([[(0, 10, "x")], [(0, 3, "x"), (5, 8, "x")]])
    assert span_f1(votes, "overlapping").value == 1
    assert span_f1(votes, "exact").value == 0
    assert span_f1(votes, "characters").value == pytest.approx(2 * 6 / 16)


def test_segments_are_kept_apart() -> None:
    votes = spans([[Span("s", 0, 4, "x")], [Span("t", 0, 4, "x")]])
    assert all(span_f1(votes, match, category).value == 0 for match in MATCHES for category in CATEGORIES)


@settings(max_examples=60, deadline=None)
@given(tables, st.sampled_from(MATCHES), st.sampled_from(CATEGORIES))
def test_equal_to_the_plain_way(rows: list[list[list[Mark] | None]], match: str, category: str) -> None:
    score = span_f1(spans(*rows), match, category, bootstrap=None)
    assert float(score) == pytest.approx(plain_f1(rows, match, category), nan_ok=True)
    if score.value is None:
        assert score.note in (ALONE, NOTHING)


@settings(max_examples=30, deadline=None)
@given(tables, st.randoms())
def test_order_does_not_matter(rows: list[list[list[Mark] | None]], random) -> None:  # type: ignore[no-untyped-def]
    order = list(range(len(rows[0])))
    random.shuffle(order)
    turned = [[row[place] for place in order] for row in rows]
    random.shuffle(turned)
    for match in MATCHES:
        one, other = (
            span_f1(spans(*rows), match, bootstrap=None),
            span_f1(spans(*turned), match, bootstrap=None),
        )
        assert float(one) == pytest.approx(float(other), nan_ok=True)


@given(st.lists(marks, min_size=1, max_size=4).filter(any))
def test_the_same_spans_are_full_agreement(rows: list[list[Mark]]) -> None:
    votes = spans(*([row] * 3 for row in rows))
    assert all(
        span_f1(votes, match, category, bootstrap=None).value == 1
        for match in MATCHES
        for category in CATEGORIES
    )


def test_the_interval_holds_the_value_and_keeps_to_the_seed() -> None:
    rows = [[[(0, 4, "x")], [(0, 4 + place % 2, "x")]] for place in range(40)]
    score = span_f1(spans(*rows), bootstrap=Bootstrap(200, seed=1))
    assert score.value == 0.5
    assert score.interval is not None
    assert score.interval.low < 0.5 < score.interval.high
    assert score.interval == span_f1(spans(*rows), bootstrap=Bootstrap(200, seed=1)).interval


@pytest.mark.parametrize("match", MATCHES)
def test_the_interval_is_that_of_all_units_by_all_pairs(match: str) -> None:
    """Pairs share few units each; adding up only those must draw and give the very same."""
    random = Random(0)
    rows = [
        [
            [(s, s + 3, "x") for s in random.sample(range(9), 2)] if place in who else None
            for place in range(6)
        ]
        for who in (random.sample(range(6), 3) for _ in range(60))
    ]
    pairs = list(combinations(range(6), 2))
    sums = np.zeros((len(rows), len(pairs), 4))
    for unit, row in enumerate(rows):
        for place, (one, other) in enumerate(pairs):
            left, right = row[one], row[other]
            if left is None or right is None:
                continue
            a, b = set(left), set(right)
            if match == "characters":
                a, b = ({(p, p + 1, "x") for s, e, _ in side for p in range(s, e)} for side in (a, b))
            is_hit = same if match != "overlapping" else meets
            sums[unit, place] = (
                sum(any(is_hit(m, o) for o in b) for m in a), len(a),
                sum(any(is_hit(m, o) for o in a) for m in b), len(b),
            )  # fmt: skip
    bootstrap = Bootstrap(200)
    expected = bootstrap_interval(sums.reshape(len(rows), -1), mean_f1, bootstrap, bounds=SHARE)
    assert span_f1(spans(*rows), match, bootstrap=bootstrap).interval == pytest.approx(expected, abs=1e-12)


def same(one: Mark, other: Mark) -> bool:
    return one == other


def meets(one: Mark, other: Mark) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def test_undefined() -> None:
    assert span_f1(spans([[], []])).note == NOTHING
    assert span_f1(spans([[(0, 1, "x")], None])).note == ALONE
    assert span_f1(spans()).note == ALONE
    assert span_f1(spans([[(0, 1, "x")], []])).value == 0


def test_errors_say_what_to_do() -> None:
    votes = spans([[], []])
    with pytest.raises(UsageError, match="did you mean 'overlapping'"):
        span_f1(votes, "overlap")
    with pytest.raises(UsageError, match="known: same, any"):
        span_f1(votes, "exact", "none")
    with pytest.raises(UsageError, match="span_f1 is not made for one label"):
        span_f1(labels(["OX"]))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="do not say who"):
        span_f1(SpanVotes(votes.units, ("?01", "?02"), votes.labels, votes.spans))
