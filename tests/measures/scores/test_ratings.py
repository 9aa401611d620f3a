from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lapsus.errors import InputError, UsageError
from lapsus.measures.bootstrap import Bootstrap
from lapsus.measures.score import parse_measure
from lapsus.measures.scores.ratings import (
    group_means,
    rating_scores,
    weighted_kappa,
)

PREDICTED = np.array([1.0, 2, 3, 4])
GOLD = np.array([1.0, 3, 2, 4])

levels = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=30)


def slow_kappa(x: list[int], y: list[int], power: int) -> float:
    """From the table of all levels, as the textbook has it."""
    n = len(x)
    observed = sum(abs(a - b) ** power for a, b in zip(x, y, strict=True)) / n
    expected = (
        sum(abs(a - b) ** power * x.count(a) * y.count(b) for a, b in product(range(1, 6), repeat=2)) / n**2
    )
    return 1 - observed / expected if expected else math.nan


def test_by_hand() -> None:
    found = rating_scores(PREDICTED, GOLD, bootstrap=None)
    assert found["pearson"].value == pytest.approx(0.8)
    assert found["spearman"].value == pytest.approx(0.8)
    assert found["kendall"].value == pytest.approx(2 / 3)
    assert found["MAE"].value == 0.5
    # Mean distance .5; of any two of the levels 1 to 4: (6·1 + 4·2 + 2·3) / 16 = 1.25.
    assert found["kappa(linear)"].value == pytest.approx(1 - 0.5 / 1.25)
    # Mean square .5; of any two (6·1 + 4·4 + 2·9) / 16 = 2.5.
    assert found["kappa(quadratic)"].value == pytest.approx(1 - 0.5 / 2.5)
    assert found["MAE"].n == 4


@given(levels)
def test_kappa_as_in_the_textbook(rows: list[tuple[int, int]]) -> None:
    x, y = ([row[side] for row in rows] for side in (0, 1))
    arrays = np.array(x, dtype=float), np.array(y, dtype=float)
    assert weighted_kappa(*arrays, "linear") == pytest.approx(slow_kappa(x, y, 1), nan_ok=True, abs=1e-12)
    assert weighted_kappa(*arrays, "quadratic") == pytest.approx(slow_kappa(x, y, 2), nan_ok=True, abs=1e-12)


def test_kappa_is_linear_for_two_levels() -> None:
    x, y = np.array([0.0, 0, 1, 1]), np.array([0.0, 1, 1, 1])
    # Cohen's kappa: agreement 3/4, by chance ½·¼ + ½·¾ = ½.
    assert weighted_kappa(x, y, "linear") == weighted_kappa(x, y, "quadratic") == pytest.approx(0.5)


def test_means_by_document_and_system() -> None:
    predicted = np.array([1.0, 3, 2, 2, 5, 5])
    gold = np.array([2.0, 2, 1, 5, 4, 5])
    documents = np.array([0, 0, 1, 1, 2, 2])
    found = rating_scores(predicted, gold, documents=documents, level="document", bootstrap=None)
    # Means 2, 2, 5 and 2, 3, 4.5: off by 0, 1, .5.
    assert found["MAE"].n == 3
    assert found["MAE"].value == pytest.approx(0.5)
    assert found["kappa(linear)"].note == "kappa needs whole levels, not values in between"
    systems = np.array([0, 0, 0, 0, 1, 1])
    found = rating_scores(
        predicted, gold, documents=documents, systems=systems, level="system", bootstrap=None
    )
    # Means 2, 5 and 2.5, 4.5.
    assert found["MAE"].n == 2
    assert found["MAE"].value == pytest.approx(0.5)
    assert found["pearson"].value == pytest.approx(1)


def test_units_that_nobody_rated_are_left_out() -> None:
    predicted = np.array([1.0, 2, np.nan, 3, 4, 9])
    gold = np.array([1.0, 3, 5, 2, 4, np.nan])
    assert rating_scores(predicted, gold, bootstrap=None) == rating_scores(PREDICTED, GOLD, bootstrap=None)


def test_group_means() -> None:
    assert group_means(np.array([1.0, 2, 9]), np.array([4, 4, 1])).tolist() == [9, 1.5]


def test_undefined_is_said_so() -> None:
    same = np.full(5, 3.0)
    found = rating_scores(same, np.array([1.0, 2, 3, 4, 5]))
    assert str(found["pearson"]) == "pearson n/a: one of the two never varies"
    assert found["MAE"].value == pytest.approx(1.2)
    assert found["kappa(linear)"].value == 0
    both = rating_scores(same, same)
    assert (both["kappa(quadratic)"].value, both["kappa(quadratic)"].note) == (
        None,
        "everybody chose the same",
    )
    assert both["MAE"].value == 0
    nothing = rating_scores(np.array([np.nan]), np.array([1.0]))
    assert (nothing["MAE"].n, nothing["MAE"].value, nothing["MAE"].note) == (0, None, "nothing to score")
    assert nothing["kendall"].note == "nothing to score"


@pytest.mark.parametrize("level", ["unit", "document", "system"])
def test_intervals(level: str) -> None:
    generator = np.random.default_rng(0)
    gold = generator.integers(1, 6, 120).astype(float)
    predicted = np.clip(gold + generator.integers(-1, 2, 120), 1, 5)
    documents, systems = np.arange(120) // 4, np.arange(120) // 4 % 5
    more = {"documents": documents, "systems": systems, "level": level}
    found = rating_scores(predicted, gold, **more, bootstrap=Bootstrap(100))  # type: ignore[arg-type]
    for score in (found["pearson"], found["MAE"]):
        assert score.interval is not None
        assert score.interval.low < score.value < score.interval.high  # type: ignore[operator]
    assert found["MAE"].signature.startswith(
        f"level:{level}|over:documents|boot:100,seed=0,level=0.95|lapsus:"
    )
    assert found == rating_scores(predicted, gold, **more, bootstrap=Bootstrap(100))  # type: ignore[arg-type]


def test_drawing_documents_keeps_their_units_together() -> None:
    # The better half of each document makes up for the worse, so every draw of documents has the same error.
    documents = np.repeat(np.arange(6), 2)
    gold = np.arange(12.0)
    found = rating_scores(gold + np.tile([0.0, 3.0], 6), gold, documents=documents, bootstrap=Bootstrap(100))
    assert found["MAE"].interval == pytest.approx((1.5, 1.5))
    alone = rating_scores(gold + np.tile([0.0, 3.0], 6), gold, bootstrap=Bootstrap(100))
    assert alone["MAE"].interval is not None
    assert alone["MAE"].interval.low < 1.2
    assert "over:units" in alone["MAE"].signature


def test_a_document_drawn_twice_counts_twice() -> None:
    predicted, gold = np.array([0.0, 0, 3]), np.array([0.0, 0, 0])
    documents = np.array([0, 1, 2])
    found = rating_scores(predicted, gold, documents=documents, level="document", bootstrap=Bootstrap(400))
    plain = rating_scores(predicted, gold, documents=documents, bootstrap=Bootstrap(400))
    assert found["MAE"].interval == plain["MAE"].interval


def test_names() -> None:
    shown = list(rating_scores(PREDICTED, GOLD, bootstrap=Bootstrap(10)))
    assert shown == ["pearson", "spearman", "kendall", "MAE", "kappa(linear)", "kappa(quadratic)"]
    assert [str(parse_measure(name)) for name in shown] == shown


def test_bad_input() -> None:
    with pytest.raises(UsageError, match="cannot score by system"):
        rating_scores(PREDICTED, GOLD, level="system")
    with pytest.raises(UsageError, match="cannot score by document"):
        rating_scores(PREDICTED, GOLD, level="document")
    with pytest.raises(InputError, match="do not fit together"):
        rating_scores(PREDICTED, GOLD[:2])
