"""Strengths are those of a plain fit and of a kept library; ties, dialogues and places count as told."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from lapsus.measures.bootstrap import Bootstrap
from lapsus.measures.bradley_terry import Comparison, linked, rank, strengths

TRUE = {"w": 1.0, "x": 0.3, "y": -0.4, "z": -0.9}


def drawn(seed: int, dialogues: int = 150, first: float = 0.0) -> list[Comparison]:
    """Three comparisons a dialogue; whoever is shown first has so much more strength."""
    chance, found = np.random.default_rng(seed), []
    for dialogue in range(dialogues):
        one, other = chance.choice(list(TRUE), 2, replace=False).tolist()
        for _ in range(3):
            is_first = bool(chance.random() < 0.5)
            edge = TRUE[one] - TRUE[other] + (first if is_first else -first)
            won = 0.5 if chance.random() < 0.15 else float(chance.random() < 1 / (1 + math.exp(-edge)))
            found.append(Comparison(one, other, won, dialogue, is_first))
    return found


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_equals_a_plain_fit_and_a_kept_library(seed: int) -> None:
    made, names = drawn(seed), list(TRUE)
    found = {one.system: float(one.strength) for one in rank(made, bootstrap=None).systems}
    rows, won, weights = [], [], []
    for one in made:
        row = [float(name == one.first) - float(name == one.second) for name in names]
        for label, weight in ((1, one.won), (0, 1 - one.won)):
            if weight:
                rows.append(row), won.append(label), weights.append(weight)  # type: ignore[func-returns-value]
    # The last one is held at 0, else there would be no end to the answers.
    library = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-12, solver="newton-cholesky")
    library.fit(np.array(rows)[:, :-1], won, sample_weight=weights)
    kept = np.append(library.coef_[0], 0.0)

    def loss(free: np.ndarray) -> float:
        gap = np.array(rows) @ np.append(free, 0.0)
        return float(np.dot(weights, np.logaddexp(0, np.where(np.array(won) == 1, -gap, gap))))

    plain = np.append(minimize(loss, np.zeros(3), method="BFGS", options={"gtol": 1e-9}).x, 0.0)
    ours = np.array([found[name] for name in names])
    assert ours == pytest.approx(kept - kept.mean(), abs=1e-6)
    assert ours == pytest.approx(plain - plain.mean(), abs=1e-6)


def test_systems_are_ordered_with_win_rates_and_ties() -> None:
    made = [Comparison("a", "b", 1.0, 1), Comparison("b", "a", 0.5, 2), Comparison("b", "a", 0.0, 3)]
    first, second = rank([*made, Comparison("a", "b", 0.0, 4)], bootstrap=None).systems
    assert (first.system, first.win_rate.value, first.ties, first.n) == ("a", 0.625, 0.25, 4)
    assert float(first.strength) - float(second.strength) == pytest.approx(math.log(0.625 / 0.375))


def test_who_never_lost_has_no_strength_but_a_win_rate() -> None:
    ranking = rank([Comparison("a", "b", 1.0, n) for n in range(5)])
    assert [one.strength.value for one in ranking.systems] == [None, None]
    assert [one.system for one in ranking.systems] == ["a", "b"]
    assert ranking.systems[0].win_rate.value == 1.0
    assert not linked(np.array([[0.0, 1], [0, 0]]))


def test_the_place_of_a_reply_is_told() -> None:
    biased = rank(drawn(4, first=0.8)).position
    fair = rank(drawn(5)).position
    assert biased.interval is not None
    assert fair.interval is not None
    assert biased.interval.low > 0.5
    assert fair.interval.low < 0.5 < fair.interval.high
    assert rank([Comparison("a", "b", 1.0, 1)]).position.value is None


def test_dialogues_are_resampled_whole() -> None:
    made = drawn(6)
    copied = [one for one in made for _ in range(4)]
    alone = [one._replace(dialogue=place) for place, one in enumerate(copied)]
    plan = Bootstrap(resamples=300)

    def width(comparisons: list[Comparison]) -> float:
        around = rank(comparisons, bootstrap=plan).systems[0].strength.interval
        assert around is not None
        return around.high - around.low

    # Said four times by the same dialogue it is no surer; as dialogues of their own it would be, by half.
    assert width(copied) == pytest.approx(width(made), rel=0.05)
    assert width(alone) < 0.7 * width(made)


def test_many_at_once_are_as_one_by_one() -> None:
    wins = np.random.default_rng(7).integers(1, 9, (5, 4, 4)).astype(float)
    assert strengths(wins) == pytest.approx(np.array([strengths(one) for one in wins]), abs=1e-9)
