from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given

from lapsus.errors import UsageError
from lapsus.measures.agreement.fleiss import weighted_fleiss_kappa
from lapsus.measures.agreement.patterns import ALONE
from lapsus.measures.bootstrap import Bootstrap, bootstrap_rows
from lapsus.measures.score import SAME
from lapsus.model.votes import LabelSetVotes
from tests.measures.agreement.helpers import labels, names, set_rows, sets, units, varies


def vector(answer: str) -> np.ndarray:
    """1/m on each of m labels; none of them is a choice of its own."""
    held = np.array([label in answer for label in "abcd"] + [not answer], dtype=float)
    return held / held.sum()


def slow_weighted_fleiss(rows: list[list[str | None]]) -> float:
    kept = [row for row in rows if sum(answer is not None for answer in row) >= 2]
    agreements = []
    for row in kept:
        met = list(itertools.combinations([vector(answer) for answer in row if answer is not None], 2))
        agreements.append(sum(a @ b for a, b in met) / sum((a @ a + b @ b) / 2 for a, b in met))
    means = [
        np.mean([vector(row[place]) for row in kept if row[place] is not None], axis=0)
        for place in range(len(rows[0]))
        if any(row[place] is not None for row in kept)
    ]
    expected = np.mean([a @ b for a, b in itertools.combinations(means, 2)])
    return float((np.mean(agreements) - expected) / (1 - expected))


def test_by_hand() -> None:
    # {a} and {a,b}: 1/2 over (1 + 1/2) / 2 is 2/3; {b} and {b}: 1. Observed 5/6.
    # Mean answers (1/2, 1/2) and (1/4, 3/4): expected 1/8 + 3/8. Kappa (5/6 - 1/2) / (1/2).
    score = weighted_fleiss_kappa(sets([["a", "ab"], ["b", "b"]]))
    assert score.value == pytest.approx(2 / 3)
    assert score.n == 2


def test_three_annotators_and_a_gap_by_hand() -> None:
    # {a}, {a}, {b}: products 1 + 0 + 0, mean squares 1 + 1 + 1: 1/3. {b}, {b}, -: 1. Observed 2/3.
    # Mean answers (1/2, 1/2), (1/2, 1/2), (0, 1): products 1/2, 1/2, 1/2. Kappa (2/3 - 1/2) / (1/2).
    votes = sets([["a", "a", "b"], ["b", "b", None], ["d", None, None]])
    score = weighted_fleiss_kappa(votes)
    assert score.value == pytest.approx(1 / 3)
    assert score.n == 2
    assert score.signature.startswith("raters:2-3|labels:4|boot:")


@given(set_rows())
def test_as_pair_by_pair(rows: list[list[str | None]]) -> None:
    score = weighted_fleiss_kappa(sets(rows), bootstrap=None)
    assert (score.value is not None) == varies(rows)
    if score.value is not None:
        assert score.value == pytest.approx(slow_weighted_fleiss(rows), abs=1e-9)


@given(set_rows())
def test_order_does_not_matter(rows: list[list[str | None]]) -> None:
    value = weighted_fleiss_kappa(sets(rows), bootstrap=None).value
    turned = weighted_fleiss_kappa(sets([row[::-1] for row in rows[::-1]], of="dbca"), bootstrap=None).value
    assert turned == (None if value is None else pytest.approx(value, abs=1e-9))


def test_perfect_agreement_is_one() -> None:
    assert weighted_fleiss_kappa(sets([["ab", "ab"], ["c", "c"], ["", ""]])).value == pytest.approx(1)


@pytest.mark.parametrize(
    ("rows", "note"),
    [([["ab", "ab"]] * 3, SAME), ([["", ""]] * 2, SAME), ([["a", None], [None, "b"]], ALONE), ([], ALONE)],
)
def test_undefined(rows: list[list[str | None]], note: str) -> None:
    score = weighted_fleiss_kappa(sets(rows))
    assert (score.value, score.interval, score.note) == (None, None, note)


def test_the_interval_is_that_of_resampled_units() -> None:
    generator = np.random.default_rng(4)
    chosen = (generator.random((100, 1, 3)) < 0.4) ^ (generator.random((100, 3, 3)) < 0.15)
    answered = generator.random((100, 3)) < 0.9

    def of(rows: np.ndarray) -> LabelSetVotes:
        return LabelSetVotes(units(100), names(3), tuple("abc"), chosen[rows], answered[rows])

    fast = weighted_fleiss_kappa(of(np.arange(100))).interval
    slow = bootstrap_rows(
        100, lambda rows: float(weighted_fleiss_kappa(of(rows), bootstrap=None)), Bootstrap(400, seed=1)
    )
    assert fast is not None
    assert slow is not None
    assert np.allclose(fast, slow, atol=0.02)


def test_one_label_each_is_for_fleiss() -> None:
    with pytest.raises(UsageError, match=r"weighted_fleiss is not made for one label .*fleiss"):
        weighted_fleiss_kappa(labels(["OT"]))  # type: ignore[arg-type]
