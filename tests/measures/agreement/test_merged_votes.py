from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lapsus.errors import UsageError
from lapsus.measures.agreement import coefficient, merge_labels
from lapsus.measures.agreement.answer_codes import one_against_rest
from lapsus.model.votes import LabelVotes
from tests.measures.agreement.helpers import label_rows, labels, names, numbers, sets, units

VOTES = labels(["OTX", "X-T", "---"])


@pytest.mark.parametrize("groups", [["O", "T+X"], [["O"], ["T", "X"]], ["O", ("T", "X")], ["O", "T + X"]])
def test_labels_are_put_together(groups: list[str]) -> None:
    merged = merge_labels(VOTES, groups)
    assert merged.labels == ("O", "T+X")
    assert merged.codes.tolist() == [[0, 1, 1], [1, -1, 1], [-1, -1, -1]]
    assert merged.codes.dtype == VOTES.codes.dtype
    assert (merged.units, merged.annotators) == (VOTES.units, VOTES.annotators)


def test_groups_give_the_order() -> None:
    assert merge_labels(VOTES, ["X+T", "O"]).labels == ("X+T", "O")


def test_a_label_may_hold_the_joining_sign() -> None:
    votes = LabelVotes(units(1), names(2), ("a+b", "c"), VOTES.codes[:1, :2])
    assert merge_labels(votes, ["a+b", "c"]).codes.tolist() == [[0, 1]]


@given(label_rows())
def test_merging_does_not_lose_or_make_votes(rows: list[str]) -> None:
    votes = labels(rows)
    merged = merge_labels(votes, ["T", "O+X"]).counts()
    counts = votes.counts()
    assert (merged[:, 0] == counts[:, 1]).all()
    assert (merged[:, 1] == counts[:, 0] + counts[:, 2]).all()


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["O", "T"], "labels in no group: X"),
        (["O+T", "T+X"], "labels in two groups: T"),
        (["O", "T+Y"], "no label is called 'Y' .*known: O, T, X"),
        (["O+T+X", []], "a group of labels is empty"),
        ([], "labels in no group: O, T, X"),
    ],
)
def test_groups_must_be_of_all_labels_once(groups: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        merge_labels(VOTES, groups)


@given(label_rows(), st.sampled_from("OTX"))
def test_one_against_the_rest_is_a_merger(rows: list[str], label: str) -> None:
    votes = labels(rows)
    rest = "+".join(other for other in "OTX" if other != label)
    alone = one_against_rest(votes, label)
    assert alone.labels == (label, f"not {label}")
    assert (alone.codes == merge_labels(votes, [label, rest]).codes).all()


def test_one_of_several_labels_against_the_rest() -> None:
    alone = one_against_rest(sets([["a", "ab", "b"], ["", None, "a"]]), "a")
    assert alone.codes.tolist() == [[0, 0, 1], [1, -1, 0]]


def test_fewer_annotators() -> None:
    assert VOTES.of([2, 0]).annotators == ("annotator-2", "annotator-0")
    assert numbers([[1, 2, 3]]).of([2, 0]).values.tolist() == [[3, 1]]  # type: ignore[union-attr]
    some = sets([["a", "b", None]]).of([1, 2])
    assert some.answered.tolist() == [[True, False]]  # type: ignore[union-attr]
    assert coefficient("percent", labels(["OTO", "TTX"]).of([0, 1]), None).value == 0.5
