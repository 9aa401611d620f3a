"""Cohen's kappa and Scott's pi: two annotators, all pairs, their mean."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lapsus.errors import UsageError
from lapsus.measures.agreement import pairs
from lapsus.measures.agreement.fleiss import fleiss_kappa
from lapsus.measures.agreement.pairs import cohen_kappa, cohen_matrix, scott_matrix, scott_pi
from lapsus.measures.agreement.patterns import ALONE
from lapsus.measures.bootstrap import Bootstrap, bootstrap_rows
from lapsus.measures.score import SAME
from lapsus.model.votes import LabelVotes
from tests.measures.agreement.helpers import label_rows, labels, numbers, units

# Twenty times both say O, five times O and T, ten times T and O, fifteen times both say T.
FIFTY = labels(["OO"] * 20 + ["OT"] * 5 + ["TO"] * 10 + ["TT"] * 15, of="OT")
COST = {
    "none": lambda a, b: float(a != b),
    "linear": lambda a, b: abs(a - b),
    "quadratic": lambda a, b: (a - b) ** 2,
}


def slow_cohen(one: list[int], other: list[int], weights: str) -> float:
    cost = COST[weights]
    observed = sum(cost(a, b) for a, b in zip(one, other, strict=True)) / len(one)
    expected = sum(cost(a, b) for a, b in itertools.product(one, other)) / len(one) ** 2
    return 1 - observed / expected if expected else math.nan


def slow_mean(votes: LabelVotes, weights: str) -> tuple[float, int]:
    values = []
    for one, other in itertools.combinations(votes.codes.T.tolist(), 2):
        both = [(a, b) for a, b in zip(one, other, strict=True) if a >= 0 and b >= 0]
        if both:
            values.append(slow_cohen([a for a, _ in both], [b for _, b in both], weights))
    defined = [value for value in values if not math.isnan(value)]
    return (sum(defined) / len(defined) if defined else math.nan), len(values)


def test_cohen_by_hand() -> None:
    # Observed 35/50. O: 25 and 30 of 50; expected 1/2 * 3/5 + 1/2 * 2/5 = 1/2. Kappa (0.7 - 0.5) / 0.5.
    score = cohen_kappa(FIFTY)
    assert score.value == pytest.approx(0.4)
    assert score.interval is not None
    assert score.interval.low < 0.4 < score.interval.high
    assert score.details == {"pairs": 1, "undefined": 0}


def test_scott_by_hand() -> None:
    # O: 55 of 100 votes. Expected 0.55² + 0.45² = 0.505. Pi (0.7 - 0.505) / 0.495.
    assert scott_pi(FIFTY).value == pytest.approx(0.195 / 0.495)


def test_weights_by_hand() -> None:
    # Pairs OO, OX, TX. The one: O 2, T 1; the other: O 1, X 2.
    # Linear: observed (0 + 2 + 1) / 3 = 1; expected (2*1*0 + 2*2*2 + 1*1*1 + 1*2*1) / 9 = 11/9. 1 - 9/11.
    # Quadratic: observed (0 + 4 + 1) / 3; expected (2*2*4 + 1 + 2) / 9 = 19/9. 1 - 15/19.
    votes = labels(["OO", "OX", "TX"])
    assert cohen_kappa(votes, "linear").value == pytest.approx(2 / 11)
    assert cohen_kappa(votes, "quadratic").value == pytest.approx(4 / 19)
    assert cohen_kappa(votes, "linear").measure == "cohen(linear)"


def test_numbers_are_as_far_apart_as_they_are() -> None:
    # From 2 to 5 costs 3. Observed (0 + 3) / 2; expected, each of 1 and 2 with each of 1 and 5, (0+4+1+3) / 4.
    assert cohen_kappa(numbers([[1, 1], [2, 5]]), "linear").value == pytest.approx(1 - 1.5 / 2)
    assert cohen_kappa(labels(["11", "25"], of="125"), "linear").value == pytest.approx(1 - 1.5 / 2)


@given(label_rows(), st.sampled_from(sorted(COST)))
def test_as_pair_by_pair(rows: list[str], weights: str) -> None:
    votes = labels(rows)
    expected, met = slow_mean(votes, weights)
    score = cohen_kappa(votes, weights, bootstrap=None)
    if math.isnan(expected):
        assert score.value is None
        assert score.note == (SAME if met else ALONE)
    else:
        assert score.value == pytest.approx(expected, abs=1e-9)
        assert score.details["pairs"] == met


@given(label_rows(signs="OTX", least_raters=2))
def test_scott_of_two_is_fleiss(rows: list[str]) -> None:
    votes = labels([row[:2] for row in rows])
    fleiss = fleiss_kappa(votes, bootstrap=None).value
    assert scott_pi(votes, bootstrap=None).value == (
        None if fleiss is None else pytest.approx(fleiss, abs=1e-9)
    )


@given(label_rows())
def test_matrices_hold_each_pair(rows: list[str]) -> None:
    votes = labels(rows)
    matrix = cohen_matrix(votes, "linear")
    assert np.array_equal(matrix.values, matrix.values.T, equal_nan=True)
    for one, other in itertools.combinations(range(len(votes.annotators)), 2):
        two = LabelVotes(votes.units, ("a", "b"), votes.labels, votes.codes[:, [one, other]])
        assert matrix.values[one, other] == pytest.approx(
            float(cohen_kappa(two, "linear", bootstrap=None)), nan_ok=True
        )
        assert scott_matrix(votes).values[one, other] == pytest.approx(
            float(scott_pi(two, bootstrap=None)), nan_ok=True
        )
        assert matrix.shared[one, other] == (two.codes >= 0).all(axis=1).sum()
    assert np.isnan(np.diag(matrix.values)).all()


def test_a_thousand_annotators_who_rarely_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(3)
    codes = np.full((40, 1000), -1, dtype=np.int16)
    for row in codes:
        row[generator.choice(1000, 6, replace=False)] = generator.integers(0, 3, 6)
    votes = LabelVotes(units(40), tuple(f"a{place}" for place in range(1000)), tuple("OTX"), codes)
    kept = cohen_kappa(votes, bootstrap=Bootstrap(20))
    assert kept.value == pytest.approx(slow_mean(votes, "none")[0])
    monkeypatch.setattr(pairs, "_KEPT", 0)
    monkeypatch.setattr(pairs, "_BLOCK", 100)
    assert cohen_kappa(votes, bootstrap=Bootstrap(20)) == kept


def test_as_many_labels_as_the_narrow_type_holds() -> None:
    codes = np.array([[127, 127], [0, 127], [0, 0]], dtype=np.int8)
    votes = LabelVotes(units(3), ("a", "b"), tuple(map(str, range(128))), codes)
    # Observed 2/3; expected 2/3 * 1/3 + 1/3 * 2/3 = 4/9.
    assert cohen_kappa(votes, bootstrap=None).value == pytest.approx((6 - 4) / (9 - 4))


def test_the_interval_is_that_of_resampled_units() -> None:
    generator = np.random.default_rng(5)
    codes = np.where(
        generator.random((120, 3)) < 0.6,
        generator.integers(0, 3, (120, 1)),
        generator.integers(-1, 3, (120, 3)),
    )
    votes = LabelVotes(units(120), ("a", "b", "c"), tuple("OTX"), codes.astype(np.int8))
    fast = cohen_kappa(votes).interval
    slow = bootstrap_rows(
        120,
        lambda rows: float(
            cohen_kappa(
                LabelVotes(votes.units, votes.annotators, votes.labels, votes.codes[rows]), bootstrap=None
            )
        ),
        Bootstrap(300, seed=1),
    )
    assert fast is not None
    assert slow is not None
    assert np.allclose(fast, slow, atol=0.02)


@pytest.mark.parametrize("function", [cohen_kappa, scott_pi, cohen_matrix, scott_matrix])
def test_nothing_is_said_of_persons_who_are_not_named(function) -> None:
    votes = LabelVotes(units(1), ("?00", "?01"), tuple("OT"), np.array([[0, 1]], dtype=np.int8))
    with pytest.raises(UsageError, match=r"do not say who gave them .*fleiss"):
        function(votes)


def test_unknown_weights() -> None:
    with pytest.raises(UsageError, match="did you mean 'quadratic'"):
        cohen_kappa(FIFTY, "quadric")
