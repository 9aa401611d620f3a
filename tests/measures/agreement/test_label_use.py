"""Rare labels: how often they were given, and how far annotators agree on them, against plain loops."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given

from lapsus.measures.agreement.details import label_use, why_apart
from lapsus.measures.agreement.patterns import patterns
from lapsus.model import UnitKey
from lapsus.model.votes import LabelSetVotes
from tests.measures.agreement.helpers import label_rows, labels


def slow(rows: list[list[str | None]], label: str) -> tuple[int, float | None, float | None]:
    """Every ordered pair of answers of a unit, each unit weighing as much as it has answers."""
    given = sum(answer == label for row in rows for answer in row if answer is not None)
    both = neither = yes = no = 0.0
    for row in rows:
        said = [answer == label for answer in row if answer is not None]
        if len(said) < 2:
            continue
        weight = 1 / (len(said) - 1)
        yes, no = yes + sum(said), no + len(said) - sum(said)
        both += weight * sum(one and other for one, other in permutations(said, 2))
        neither += weight * sum(not one and not other for one, other in permutations(said, 2))
    return given, both / yes if yes else None, neither / no if no else None


@given(label_rows())
def test_it_equals_a_plain_loop(rows: list[str]) -> None:
    votes = labels(rows)
    plain = [[None if code < 0 else votes.labels[code] for code in row] for row in votes.codes.tolist()]
    for one in label_use(votes, votes.labels):
        given_, positive, negative = slow(plain, one.label)
        assert one.given == given_
        assert one.positive == (None if positive is None else pytest.approx(positive))
        assert one.negative == (None if negative is None else pytest.approx(negative))
    counted = label_use(patterns(votes, "use"), votes.labels)
    assert [one._replace(answers=0) for one in counted] == [
        pytest.approx(one._replace(answers=0)) for one in label_use(votes, votes.labels)
    ]


def test_sets_of_labels_are_taken_label_by_label() -> None:
    chosen = np.array([[[True, False], [True, True]], [[False, False], [True, False]]])
    votes = LabelSetVotes(
        (UnitKey("d", "0"), UnitKey("d", "1")), ("a", "b"), ("x", "y"), chosen, np.ones((2, 2), dtype=bool)
    )
    first, second = label_use(votes, votes.labels)
    assert (first.given, first.answers, first.positive, first.negative) == (3, 4, pytest.approx(2 / 3), 0.0)
    assert (second.given, second.positive, second.negative) == (1, 0.0, pytest.approx(2 / 3))
    assert first.expected == pytest.approx(0.75**2 + 0.25**2)


def test_a_rare_label_explains_why_alpha_and_ac1_are_apart() -> None:
    votes = labels(["OOO"] * 95 + ["OOX"] * 4 + ["XXX"])
    use = label_use(votes, votes.labels)
    said = why_apart(0.31, 0.92, use)
    assert said is not None
    assert "98% of the answers are O" in said
    assert f"X {next(one.positive for one in use if one.label == 'X'):.2f}" in said
    assert why_apart(0.6, 0.7, use) is None
    assert why_apart(None, 0.7, use) is None
