from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from lapsus.errors import UsageError
from lapsus.measures.gold.mace import digamma, mace
from lapsus.measures.gold.result import NOBODY
from lapsus.model.votes import LabelVotes
from tests.measures.agreement.helpers import labels
from tests.measures.gold.helpers import simulated, votes_of

COMPETENCE = np.array([0.95, 0.9, 0.8, 0.7, 0.5, 0.05, 0.0])
HABITS = np.array([[0.2, 0.3, 0.5]] * 5 + [[0.9, 0.05, 0.05], [0.0, 0.0, 1.0]])


@pytest.fixture(scope="module")
def crowd() -> tuple[NDArray[np.intp], LabelVotes]:
    truth = np.random.default_rng(1).integers(0, 3, 3000)
    confusion = COMPETENCE[:, None, None] * np.eye(3) + (1 - COMPETENCE)[:, None, None] * HABITS[:, None, :]
    return truth, votes_of(simulated(truth, confusion, 0.2), 3)


def slow_posterior(
    codes: NDArray[np.int8], competence: list[float], habits: list[list[float]]
) -> list[list[float]]:
    rows = []
    for row in codes.tolist():
        joint = [
            math.prod(
                competence[a] * (code == label) + (1 - competence[a]) * habits[a][code]
                for a, code in enumerate(row)
                if code >= 0
            )
            for label in range(3)
        ]
        rows.append([part / sum(joint) for part in joint])
    return rows


@pytest.mark.parametrize("variant", ["vb", "em"])
def test_known_competence_is_found(crowd: tuple[NDArray[np.intp], LabelVotes], variant: str) -> None:
    truth, votes = crowd
    gold = mace(votes, variant, restarts=3)  # type: ignore[arg-type]
    found = np.array([gold.reliability[name] for name in votes.annotators])
    assert np.abs(found - COMPETENCE).max() < 0.05
    codes = np.array([votes.labels.index(str(answer)) for answer in gold.answers or ()])
    assert (codes == truth).mean() > 0.96
    habits = np.array([gold.details["habits"][name] for name in votes.annotators])
    assert np.abs(habits[4:] - HABITS[4:]).max() < 0.05
    # Where the label is more surely right, the entropy is lower.
    entropy = gold.details["entropy"]
    assert entropy[codes == truth].mean() < entropy[codes != truth].mean()


def test_the_posterior_fits_the_model(crowd: tuple[NDArray[np.intp], LabelVotes]) -> None:
    _, votes = crowd
    gold = mace(votes, "em", restarts=1, iterations=150)
    competence = [gold.reliability[name] for name in votes.annotators]
    habits = [gold.details["habits"][name].tolist() for name in votes.annotators]
    assert gold.distributions is not None
    assert np.allclose(gold.distributions, slow_posterior(votes.codes, competence, habits), atol=1e-6)


def test_settled_estimates_are_those_that_em_gives_again(crowd: tuple[NDArray[np.intp], LabelVotes]) -> None:
    _, votes = crowd
    gold = mace(votes, "em", restarts=1, iterations=150)
    assert gold.distributions is not None
    for place, name in enumerate(votes.annotators):
        theta, habit = gold.reliability[name], gold.details["habits"][name]
        knew = total = 0.0
        for code, row in zip(votes.codes[:, place].tolist(), gold.distributions, strict=True):
            if code >= 0:
                total += 1
                knew += row[code] * theta / (theta + (1 - theta) * habit[code])
        assert knew / total == pytest.approx(theta, abs=1e-3)


def test_entropy_is_that_of_the_distribution() -> None:
    gold = mace(labels(["OX", "OO", "TX", "--"]), restarts=2)
    assert gold.distributions is not None
    for row, entropy in zip(gold.distributions[:3], gold.details["entropy"], strict=False):
        assert entropy == pytest.approx(-sum(p * math.log(p) for p in row))
    assert math.isnan(gold.details["entropy"][3])
    assert gold.answers is not None
    assert gold.answers[3] is None


def test_the_seed_decides(crowd: tuple[NDArray[np.intp], LabelVotes]) -> None:
    _, votes = crowd
    one, same, other = (mace(votes, restarts=1, iterations=3, seed=seed) for seed in (5, 5, 6))
    assert one.reliability == same.reliability
    assert one.reliability != other.reliability
    assert "seed:5" in one.signature
    assert "priors:0.5,10" in one.signature


def test_more_starts_are_no_worse(crowd: tuple[NDArray[np.intp], LabelVotes]) -> None:
    _, votes = crowd
    few, many = (mace(votes, "em", restarts=n, iterations=5).details["log_likelihood"] for n in (1, 4))
    assert many >= few


def test_silence_and_nonsense() -> None:
    assert mace(labels(["--"])).note == NOBODY
    assert mace(labels([])).answers == ()
    assert mace(labels(["OO", "OO"])).answers == ("O", "O")
    with pytest.raises(UsageError, match="did you mean 'em'"):
        mace(labels(["OX"]), "me")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="at least one start"):
        mace(labels(["OX"]), restarts=0)
    votes = labels(["OX"])
    with pytest.raises(UsageError, match="do not say who"):
        mace(LabelVotes(votes.units, ("?01", "?02"), votes.labels, votes.codes))


def test_digamma() -> None:
    # Known: psi(1) = -γ, psi(½) = -γ - 2 log 2, psi(10) = H(9) - γ.
    euler = 0.57721566490153286
    nine = sum(1 / k for k in range(1, 10))
    known = [-euler, -euler - 2 * math.log(2), nine - euler]
    assert digamma(np.array([1.0, 0.5, 10.0])) == pytest.approx(known, abs=1e-11)
    x = np.array([0.01, 0.3, 2.5, 77.0, 1e6])
    slope = [(math.lgamma(v * (1 + 1e-5)) - math.lgamma(v * (1 - 1e-5))) / (2e-5 * v) for v in x.tolist()]
    assert digamma(x) == pytest.approx(slope, rel=1e-4)
