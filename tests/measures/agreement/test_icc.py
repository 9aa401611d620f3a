from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lapsus.errors import UsageError
from lapsus.measures.agreement.icc import INCOMPLETE, LEVEL, SINGLE, icc
from lapsus.measures.agreement.patterns import ALONE
from lapsus.measures.bootstrap import Bootstrap, bootstrap_rows
from lapsus.measures.score import SAME
from lapsus.model.votes import ScaleVotes
from tests.measures.agreement.helpers import labels, names, number_rows, numbers, units

# Shrout and Fleiss (1979), table 2: six targets, four judges; the values of their table 4.
SHROUT_FLEISS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
PUBLISHED = {
    ("1", "1"): 0.17,
    ("2", "1"): 0.29,
    ("3", "1"): 0.71,
    ("1", "k"): 0.44,
    ("2", "k"): 0.62,
    ("3", "k"): 0.91,
}


def slow_icc(values: np.ndarray, model: str, ratings: str) -> float:
    """By the mean squares of the analysis of variance, from deviations."""
    units, raters = values.shape
    grand = values.mean()
    rows = raters * ((values.mean(axis=1) - grand) ** 2).sum() / (units - 1)
    within = ((values - values.mean(axis=1, keepdims=True)) ** 2).sum() / (units * (raters - 1))
    judges = units * ((values.mean(axis=0) - grand) ** 2).sum() / (raters - 1)
    left = values - values.mean(axis=1, keepdims=True) - values.mean(axis=0) + grand
    rest = (left**2).sum() / ((units - 1) * (raters - 1))
    noise = {"1": within, "2": rest, "3": rest}[model]
    bias = (judges - rest) / units if model == "2" else 0
    below = rows + bias if ratings == "k" else rows + (raters - 1) * noise + raters * bias
    return (rows - noise) / below if below > 1e-9 else np.nan


@pytest.mark.parametrize(("model", "ratings"), PUBLISHED)
def test_the_published_example(model: str, ratings: str) -> None:
    score = icc(numbers(SHROUT_FLEISS), model, ratings)
    assert round(score.value or 0, 2) == PUBLISHED[model, ratings]
    assert score.measure == f"icc({model},{ratings})"
    assert score.n == 6
    assert score.interval is not None


@given(number_rows(missing=False), st.sampled_from(sorted(PUBLISHED)))
def test_as_by_mean_squares(rows: list[list[float]], form: tuple[str, str]) -> None:
    score = icc(numbers(rows), *form, bootstrap=None)
    values = np.array(rows)
    if values.shape[1] < 2:
        assert (score.value, score.note) == (None, ALONE)
    elif (values == values[0, 0]).all():
        assert (score.value, score.note) == (None, SAME)
    elif len(values) < 2:
        assert (score.value, score.note) == (None, SINGLE)
    else:
        slow = slow_icc(values, *form)
        assert float(score) == pytest.approx(slow, abs=1e-6, nan_ok=True)
        assert score.note == (LEVEL if np.isnan(slow) else None)


def test_the_one_way_form_takes_units_that_differ_in_ratings_by_hand() -> None:
    # Units 1 3, 5 5 5 and 9 7 (and one with a single rating, left out). Sums 4, 15, 16; all 35 of 7 ratings, mean 5.
    # Between: 2*(2-5)² + 3*(5-5)² + 2*(8-5)² = 36, over 2: 18. Within: 2 + 0 + 2 = 4, over 4: 1.
    # Ratings a unit: (7 - (4 + 9 + 4) / 7) / 2 = 16/7. (18 - 1) / (18 + (16/7 - 1) * 1).
    votes = numbers([[1, 3, None], [5, 5, 5], [9, None, 7], [None, 2, None]])
    score = icc(votes, "1", "1")
    assert score.value == pytest.approx(17 / (18 + 9 / 7))
    assert score.n == 3
    assert score.signature.startswith("raters:2-3|")
    assert icc(votes, "1", "k").value == pytest.approx(17 / 18)


def test_the_other_forms_leave_out_units_with_a_gap() -> None:
    whole = numbers(SHROUT_FLEISS)
    holed = numbers([*SHROUT_FLEISS, [1, 2, 3, None], [None] * 4])
    for model in "23":
        assert icc(holed, model).value == pytest.approx(icc(whole, model).value)
        assert icc(holed, model).n == 6


def test_undefined() -> None:
    assert icc(numbers([[1, None], [None, 2]])).note == INCOMPLETE
    assert icc(numbers([[1, None], [None, 2]]), "1").note == ALONE
    assert icc(numbers([])).note == ALONE
    assert icc(numbers([[4, 4], [4, 4]])).note == SAME
    assert icc(numbers([[0.1, 0.3], [0.1, 0.3]]), "3", "k").note == LEVEL
    # The published formula would say 4 here.
    assert icc(numbers([[1, 1, 1, 2], [1, 1, 2, 1]]), "2", "k").note == LEVEL
    assert icc(numbers([[1, 2]])).note == SINGLE


def test_whole_numbers_name_the_form_too() -> None:
    assert icc(numbers(SHROUT_FLEISS), 2, 1) == icc(numbers(SHROUT_FLEISS))  # type: ignore[arg-type]


def test_the_interval_is_that_of_resampled_units() -> None:
    generator = np.random.default_rng(2)
    values = generator.integers(1, 6, (100, 1)) + generator.integers(0, 3, (100, 4)).astype(float)

    def of(rows: np.ndarray) -> ScaleVotes:
        return ScaleVotes(units(100), names(4), values[rows])

    fast = icc(of(np.arange(100))).interval
    slow = bootstrap_rows(100, lambda rows: float(icc(of(rows), bootstrap=None)), Bootstrap(400, seed=1))
    assert fast is not None
    assert slow is not None
    assert np.allclose(fast, slow, atol=0.02)


def test_what_does_not_suit_is_refused() -> None:
    with pytest.raises(UsageError, match=r"icc\(2,1\) is not made for one label"):
        icc(labels(["OT"]))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="no model is called '4'"):
        icc(numbers(SHROUT_FLEISS), "4")
    unnamed = ScaleVotes(units(2), ("?00", "?01"), np.array([[1.0, 2], [3, 4]]))
    with pytest.raises(UsageError, match=r"use icc\(1,k\)"):
        icc(unnamed, "2", "k")
    assert icc(unnamed, "1").value is not None
