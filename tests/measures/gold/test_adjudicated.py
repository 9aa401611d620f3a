from __future__ import annotations

import pytest

from lapsus.errors import InvalidError
from lapsus.measures.gold.counts import distribution, label_sets, majority, mean
from lapsus.measures.gold.result import adjudicated
from lapsus.measures.gold.spans import merged_spans
from lapsus.model import Span, UnitKey
from tests.measures.agreement.helpers import labels, numbers, sets
from tests.measures.gold.helpers import spans


def test_a_decision_replaces_and_is_marked() -> None:
    gold = majority(labels(["OOT", "XXX", "---"]))
    decided = adjudicated(gold, {gold.units[0]: "T", gold.units[2]: "X"}, "ana")
    assert decided.answers == ("T", "X", "X")
    assert decided.decided == {gold.units[0], gold.units[2]}
    assert decided.distributions is not None
    assert decided.distributions.tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 1]]
    assert decided.method == "majority+adjudicated"
    assert decided.signature == f"adjudicated:2|by:ana|{gold.signature}"
    assert gold.answers == ("O", "X", None)


def test_no_decision_changes_nothing_but_the_name() -> None:
    gold = majority(labels(["OOT"]))
    assert adjudicated(gold, {}).answers == gold.answers
    assert not adjudicated(gold, {}).decided


def test_decisions_add_up() -> None:
    gold = majority(labels(["OOT", "XXX"]))
    first = adjudicated(gold, {gold.units[0]: "T"})
    second = adjudicated(first, {gold.units[1]: "O"})
    assert second.answers == ("T", "O")
    assert second.decided == set(gold.units)


def test_decisions_on_a_distribution() -> None:
    gold = distribution(labels(["OOT", "XXX"]))
    assert adjudicated(gold, {gold.units[1]: "T"}).answers == (None, "T")


def test_decisions_of_every_kind() -> None:
    of_sets = label_sets(sets([["ab", "c"], ["a", "a"]]))
    decided = adjudicated(of_sets, {of_sets.units[0]: ("a", "d"), of_sets.units[1]: ()})
    assert decided.answers == (("a", "d"), ())
    assert decided.distributions is not None
    assert decided.distributions.tolist() == [[1, 0, 0, 1], [0, 0, 0, 0]]
    of_numbers = mean(numbers([[1, 2]]))
    assert adjudicated(of_numbers, {of_numbers.units[0]: 5}).answers == (5,)
    of_spans = merged_spans(spans([[(0, 3, "x")], [(0, 3, "x")]]))
    new = (Span("s", 1, 2, "y"),)
    assert adjudicated(of_spans, {of_spans.units[0]: new}).answers == (new,)


def test_what_cannot_be_decided() -> None:
    gold = majority(labels(["OOT"]))
    with pytest.raises(InvalidError, match="unknown label 'Q'"):
        adjudicated(gold, {gold.units[0]: "Q"})
    with pytest.raises(InvalidError, match="unknown label '3'"):
        adjudicated(gold, {gold.units[0]: 3})
    with pytest.raises(InvalidError, match=r"document 'elsewhere', segment '1'.*not in the gold"):
        adjudicated(gold, {UnitKey("elsewhere", "1"): "O"})
