from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lapsus.errors import UsageError
from lapsus.measures.gold.result import NOBODY
from lapsus.measures.gold.spans import merged_spans
from lapsus.model import Span
from tests.measures.gold.helpers import spans

marks = st.lists(
    st.tuples(st.integers(0, 12), st.integers(1, 6), st.sampled_from("xy")).map(
        lambda mark: (mark[0], mark[0] + mark[1], mark[2])
    ),
    max_size=4,
)


def test_what_two_of_three_marked() -> None:
    # 0123456789: three times from 2 to 5, twice up to 7 and from 1.
    votes = spans([[(1, 5, "x")], [(2, 7, "x")], [(1, 7, "x"), (9, 10, "y")]])
    assert merged_spans(votes).answers == ((Span("s", 1, 7, "x"),),)
    assert merged_spans(votes, 3).answers == ((Span("s", 2, 5, "x"),),)
    assert merged_spans(votes, 1).answers == ((Span("s", 1, 7, "x"), Span("s", 9, 10, "y")),)


def test_labels_and_segments_are_kept_apart() -> None:
    one, other = Span("s", 0, 4, "x"), Span("t", 0, 4, "x")
    votes = spans([[one], [Span("s", 0, 4, "y")], [other]])
    assert merged_spans(votes).answers == ((),)
    assert merged_spans(votes, 1).answers == ((Span("s", 0, 4, "x"), Span("s", 0, 4, "y"), other),)


def test_an_annotator_counts_once_at_each_place() -> None:
    votes = spans([[(0, 4, "x"), (2, 6, "x"), (2, 6, "x")], []])
    assert merged_spans(votes, 2).answers == ((),)


def test_neighbours_are_joined_whoever_marked_them() -> None:
    votes = spans([[(0, 3, "x"), (3, 6, "x")], [(0, 3, "x")], [(3, 6, "x")]])
    assert merged_spans(votes).answers == ((Span("s", 0, 6, "x"),),)


def test_more_than_half_of_those_who_answered() -> None:
    votes = spans(
        [[(0, 3, "x")], [(0, 3, "x")], None],
        [[(0, 3, "x")], [], None],
        [[], [], []],
        [None, None, None],
    )
    gold = merged_spans(votes)
    assert gold.answers == ((Span("s", 0, 3, "x"),), (), (), None)
    assert gold.signature.startswith("method:spans|at_least:most|raters:2-3|")


def test_too_few_answers_give_no_gold() -> None:
    gold = merged_spans(spans([[(0, 3, "x")], None], [[(0, 3, "x")], [(0, 3, "x")]]), 2)
    assert gold.answers == (None, (Span("s", 0, 3, "x"),))
    assert merged_spans(spans([None, None])).note == NOBODY


def test_ties_that_most_made_are_kept() -> None:
    lost, new = Span("t", 0, 4, "x", "a"), Span("s", 0, 4, "y", "a")
    wider = Span("s", 0, 6, "y", "other name")
    votes = spans(
        [
            [lost, new],
            [Span("t", 0, 4, "x", "other name"), wider],
            [Span("t", 0, 4, "x"), Span("s", 0, 4, "y")],
        ]
    )
    assert merged_spans(votes).answers == ((Span("s", 0, 4, "y", "1"), Span("t", 0, 4, "x", "1")),)
    assert merged_spans(votes, 3).answers == ((Span("s", 0, 4, "y"), Span("t", 0, 4, "x")),)


def test_ties_are_numbered_in_the_order_of_their_spans() -> None:
    places = {0: "b", 2: "a", 4: "b", 6: "a", 8: None}
    answer = [Span("s", place, place + 1, "x", tie) for place, tie in places.items()]
    gold = merged_spans(spans([answer, answer[::-1]])).answers
    assert gold == (
        tuple(
            Span("s", 2 * place, 2 * place + 1, "x", tie)
            for place, tie in enumerate(["1", "2", "1", "2", None])
        ),
    )


def test_an_annotator_cannot_mark_less_than_nothing() -> None:
    with pytest.raises(UsageError, match="1 or more"):
        merged_spans(spans([[]]), -1)


@given(st.lists(marks, min_size=1, max_size=4), st.integers(1, 4))
def test_characters_are_those_that_enough_marked(
    answers: list[list[tuple[int, int, str]]], needed: int
) -> None:
    gold = (merged_spans(spans(answers), needed).answers or (None,))[0]
    if len(answers) < needed:
        assert gold is None
        return
    marked = Counter(
        key
        for answer in answers
        for key in {(place, label) for start, end, label in answer for place in range(start, end)}
    )
    assert isinstance(gold, tuple)
    found = [
        (place, span.label)
        for span in gold
        if isinstance(span, Span)
        for place in range(span.start, span.end)
    ]
    assert sorted(found) == sorted(key for key, times in marked.items() if times >= needed)
    ends = {(span.end, span.label) for span in gold if isinstance(span, Span)}
    assert not any((span.start, span.label) in ends for span in gold if isinstance(span, Span))
