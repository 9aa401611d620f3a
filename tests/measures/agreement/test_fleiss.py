from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from lapsus.errors import UsageError
from lapsus.measures.agreement.fleiss import fleiss_kappa
from lapsus.measures.agreement.patterns import ALONE
from lapsus.measures.bootstrap import Bootstrap, bootstrap_rows
from lapsus.measures.score import SAME
from lapsus.model.votes import count_labels
from tests.measures.agreement.helpers import label_rows, labels, slow_fleiss, varies

# The worked example of many textbooks: 14 raters put 10 subjects into 5 classes.
TEXTBOOK = np.array(
    [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
)


def test_the_textbook_example() -> None:
    score = fleiss_kappa(TEXTBOOK)
    assert score.value == pytest.approx(0.210, abs=0.0005)
    assert score.n == 10
    assert score.interval is not None
    assert score.interval.low < 0.210 < score.interval.high
    assert score.signature.startswith("raters:14|labels:5|boot:1000,seed=0,level=0.95|lapsus:")


def test_units_that_differ_in_raters_by_hand() -> None:
    # Agreement: OO 1, OTT 1/3; their mean is 2/3. Shares of O: 1, 1/3, 0, mean 4/9; of T: 5/9.
    # Expected: (16 + 25) / 81. Kappa: (54 - 41) / (81 - 41).
    score = fleiss_kappa(labels(["OO-", "OTT", "T--"]))
    assert score.value == pytest.approx(13 / 40)
    assert score.n == 2
    assert score.signature.startswith("raters:2-3|labels:O,T,X|")


def test_labels_and_counts_are_the_same() -> None:
    votes = labels(["OOT", "TTX", "O-X", "XX-"])
    assert fleiss_kappa(votes).value == fleiss_kappa(votes.counts()).value
    assert fleiss_kappa(votes.counts().astype(float)).value == fleiss_kappa(votes).value


@given(label_rows())
def test_as_pair_by_pair(rows: list[str]) -> None:
    score = fleiss_kappa(labels(rows), bootstrap=None)
    assert (score.value is not None) == varies(rows)
    if score.value is not None:
        assert score.value == pytest.approx(slow_fleiss(rows), abs=1e-9)


@given(label_rows(signs="OTX", least_raters=2))
def test_order_of_units_annotators_and_labels_does_not_matter(rows: list[str]) -> None:
    value = fleiss_kappa(labels(rows), bootstrap=None).value
    turned = [row[::-1] for row in rows[::-1]]
    assert fleiss_kappa(labels(turned), bootstrap=None).value == pytest.approx(value, abs=1e-12)
    assert fleiss_kappa(labels(rows, of="XOT"), bootstrap=None).value == pytest.approx(value, abs=1e-12)


def test_perfect_agreement_is_one() -> None:
    assert fleiss_kappa(labels(["OOO", "TTT", "X-X"]), bootstrap=None).value == pytest.approx(1)


@pytest.mark.parametrize(
    ("rows", "note"),
    [
        (["OO", "OO"], SAME),
        # A lone T says nothing on agreement.
        (["OO", "OO", "T-"], SAME),
        (["O-", "-T"], ALONE),
        (["--"], ALONE),
        ([], ALONE),
        (["O", "T"], ALONE),
    ],
)
def test_undefined(rows: list[str], note: str) -> None:
    score = fleiss_kappa(labels(rows))
    assert (score.value, score.interval, score.note) == (None, None, note)
    assert "boot" not in score.signature


def test_the_interval_is_that_of_resampled_units() -> None:
    generator = np.random.default_rng(7)
    codes = np.where(
        generator.random((150, 6)) < 0.6,
        generator.integers(0, 3, (150, 1)),
        generator.integers(-1, 3, (150, 6)),
    )
    counts = count_labels(codes.astype(np.int8), 3)
    fast = fleiss_kappa(counts).interval
    slow = bootstrap_rows(
        150, lambda rows: float(fleiss_kappa(counts[rows], bootstrap=None)), Bootstrap(seed=1)
    )
    assert fast is not None
    assert slow is not None
    assert np.allclose(fast, slow, atol=0.01)


def test_the_same_seed_gives_the_same_interval() -> None:
    assert fleiss_kappa(TEXTBOOK).interval == fleiss_kappa(TEXTBOOK).interval
    assert fleiss_kappa(TEXTBOOK).interval != fleiss_kappa(TEXTBOOK, bootstrap=Bootstrap(seed=1)).interval
    assert fleiss_kappa(TEXTBOOK, bootstrap=None).interval is None


@pytest.mark.parametrize(
    "counts",
    [np.array([1, 2]), np.array([[0.5, 1]]), np.array([[-1, 2]]), np.array([[np.nan, 1]]), np.array([["a"]])],
)
def test_what_does_not_count_is_refused(counts: np.ndarray) -> None:
    with pytest.raises(UsageError, match="does not count labels"):
        fleiss_kappa(counts)


@pytest.mark.parametrize(("n", "prevalence"), [(10, 0.02), (10, 0.5), (60, 0.02), (60, 0.2), (200, 0.02)])
def test_the_interval_holds_where_a_label_is_rare_and_units_are_few(n: int, prevalence: float) -> None:
    generator = np.random.default_rng(7)

    def votes(units: int) -> Any:
        is_there = generator.random(units) < prevalence
        yes = generator.binomial(3, np.where(is_there, 0.8, 0.02))
        return np.stack([3 - yes, yes], axis=1)

    true = float(fleiss_kappa(votes(200_000), bootstrap=None))
    found = [fleiss_kappa(votes(n), bootstrap=Bootstrap(200)).interval for _ in range(120)]
    held = [one.low <= true <= one.high for one in found if one is not None]
    assert len(held) > 30
    assert sum(held) / len(held) >= 0.9
