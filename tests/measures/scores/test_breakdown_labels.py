from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lapsus.errors import InputError
from lapsus.measures.scores.breakdown_labels import (
    breakdown_counts,
    lenient_labels,
    strict_labels,
    vote_shares,
)
from lapsus.model import UnitKey
from lapsus.model.votes import LabelVotes
from tests.measures.scores import official

NB, PB, B = 0, 1, 2


def strict(counts: list[int], t: float) -> int:
    return int(strict_labels(vote_shares(np.array([counts])), t)[0])


def lenient(counts: list[int], t: float) -> int:
    return int(lenient_labels(vote_shares(np.array([counts])), t)[0])


@pytest.mark.parametrize(
    ("counts", "t", "label"),
    [
        ([5, 3, 2], 0.0, NB),
        ([3, 5, 2], 0.0, PB),
        ([2, 3, 5], 0.0, B),
        # Ties go O, then T, then X.
        ([4, 4, 2], 0.0, NB),
        ([4, 2, 4], 0.0, NB),
        ([2, 4, 4], 0.0, PB),
        ([1, 1, 1], 0.0, NB),
        # The paper's rule: the majority label counts only with the share t, else the turn is no breakdown.
        ([3, 3, 4], 0.5, NB),
        ([2, 2, 6], 0.5, B),
        ([2, 6, 2], 0.5, PB),
        # "At least", where the paper says "above": exactly half is enough.
        ([2, 3, 5], 0.5, B),
        ([5, 0, 5], 0.5, NB),
        ([0, 5, 5], 0.5, PB),
        # Everybody, and all but one.
        ([0, 0, 30], 1.0, B),
        ([0, 1, 29], 1.0, NB),
    ],
)
def test_strict_label(counts: list[int], t: float, label: int) -> None:
    assert strict(counts, t) == label


@pytest.mark.parametrize(
    ("counts", "t", "label"),
    [
        ([6, 2, 2], 0.0, NB),
        ([5, 3, 2], 0.0, NB),  # a tie of O with the two others together
        ([4, 3, 3], 0.0, B),
        ([4, 3, 3], 0.5, B),  # together they have .6
        ([4, 3, 3], 0.7, NB),
        ([0, 7, 1], 0.9, B),
        ([5, 5, 0], 0.5, NB),
        # 0.7 + 0.1 is a hair less than 0.8 in binary fractions, and so it is in the challenge's program.
        ([2, 7, 1], 0.8, NB),
        ([2, 8, 0], 0.8, B),
    ],
)
def test_lenient_label(counts: list[int], t: float, label: int) -> None:
    assert lenient(counts, t) == label


def test_lenient_label_is_not_the_strict_one_merged() -> None:
    # T .3 and X .3 are .6 together, but none of the three labels reaches .5 alone.
    assert strict([4, 3, 3], 0.5) == NB
    assert lenient([4, 3, 3], 0.5) == B
    # Also without a threshold: O is the largest, but smaller than the rest.
    assert strict([4, 3, 3], 0.0) == NB
    assert lenient([4, 3, 3], 0.0) == B


@given(
    st.lists(st.integers(0, 40), min_size=3, max_size=3).filter(any),
    st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.4, 0.5, 0.6, 0.8, 0.9, 1.0]) | st.floats(0, 1),
)
def test_labels_are_those_of_the_plain_rule(counts: list[int], t: float) -> None:
    shares = [count / sum(counts) for count in counts]
    assert "OTX"[strict(counts, t)] == official.strict(shares, t)
    assert "OTX"[lenient(counts, t)] == official.lenient(shares, t)


def test_counts_are_in_the_order_o_t_x_and_other_labels_are_ignored() -> None:
    codes = np.array([[0, 1, 3, 3, -1], [2, 2, 2, 0, 0]])
    units = (UnitKey("d", "0"), UnitKey("d", "2"))
    votes = LabelVotes(units, tuple("abcde"), ("X", "T", "?", "O"), codes)
    assert breakdown_counts(votes).tolist() == [[2, 1, 1], [0, 0, 2]]


def test_votes_about_something_else_are_refused() -> None:
    votes = LabelVotes((UnitKey("d", "0"),), ("a",), ("yes", "no"), np.array([[0]]))
    with pytest.raises(InputError, match=r"know no label 'O'.*yes, no"):
        breakdown_counts(votes)


@pytest.mark.parametrize(
    ("counts", "t", "program", "paper"),
    [
        ([5, 0, 5], 0.5, (0, 0), (0, 0)),
        ([2, 3, 5], 0.5, (2, 2), (0, 2)),
        ([2, 5, 3], 0.5, (1, 2), (0, 2)),
        ([5, 5, 0], 0.5, (0, 0), (0, 0)),
        ([4, 0, 6], 0.5, (2, 2), (2, 2)),
        ([4, 3, 3], 0.5, (0, 2), (0, 2)),
        ([4, 2, 4], 0.6, (0, 2), (0, 0)),
        ([0, 0, 9], 1.0, (2, 2), (0, 0)),
        ([3, 3, 4], 0.0, (2, 2), (2, 2)),
    ],
)
def test_by_the_paper_a_label_needs_more_than_t(
    counts: list[int], t: float, program: tuple[int, int], paper: tuple[int, int]
) -> None:
    shares = vote_shares(np.array([counts]))
    for rule, wanted in (("program", program), ("paper", paper)):
        found = int(strict_labels(shares, t, rule)[0]), int(lenient_labels(shares, t, rule)[0])  # type: ignore[arg-type]
        assert found == wanted


def test_rules_differ_where_a_share_is_exactly_t_and_nowhere_else() -> None:
    counts = np.random.default_rng(3).multinomial(10, [0.3, 0.3, 0.4], size=500)
    shares = vote_shares(counts)
    program, paper = strict_labels(shares, 0.5), strict_labels(shares, 0.5, "paper")
    at_edge = (counts.max(axis=1) == 5) & (program != 0)
    assert at_edge.any()
    assert (paper[at_edge] == 0).all()
    assert (paper[~at_edge] == program[~at_edge]).all()
