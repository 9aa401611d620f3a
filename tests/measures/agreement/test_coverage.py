"""Intervals of kappa hold the truth as often as they say: with few units, rare labels, and agreement near the ends."""

from __future__ import annotations

import numpy as np
import pytest

from lapsus.measures.agreement.fleiss import fleiss_kappa
from lapsus.measures.agreement.pairs import cohen_kappa
from lapsus.measures.bootstrap import Bootstrap
from lapsus.measures.score import Score
from lapsus.model import UnitKey
from lapsus.model.votes import LabelVotes

SAMPLES, RESAMPLES = 150, 100


def drawn(rng: np.random.Generator, n: int, share: float, kappa: float, raters: int) -> np.ndarray:
    """Who said yes, a row a unit: exchangeable raters whose chance of a yes varies from unit to unit."""
    spread = 1 / kappa - 1 if kappa else 0.0
    chance = rng.beta(share * spread, (1 - share) * spread, n) if kappa else np.full(n, share)
    return (rng.random((n, raters)) < chance[:, None]).astype(np.int8)


def fleiss(said: np.ndarray, bootstrap: Bootstrap) -> Score:
    yes = said.sum(axis=1)
    return fleiss_kappa(np.stack([yes, said.shape[1] - yes], axis=1), bootstrap=bootstrap)


def cohen(said: np.ndarray, bootstrap: Bootstrap) -> Score:
    units = tuple(UnitKey(f"d{row}", "0") for row in range(len(said)))
    names = tuple("abcdefgh"[: said.shape[1]])
    return cohen_kappa(LabelVotes(units, names, ("yes", "no"), said), bootstrap=bootstrap)


@pytest.mark.parametrize(("measure", "raters"), [(fleiss, 2), (fleiss, 5), (cohen, 2)])
@pytest.mark.parametrize("n", [10, 40])
@pytest.mark.parametrize("share", [0.5, 0.02])
def test_an_interval_of_kappa_holds_as_often_as_it_says(
    measure: object, raters: int, n: int, share: float
) -> None:
    """Where few samples are possible it may hold more often; it must not hold less. (Noise of 150 samples: .018.)"""
    assert callable(measure)
    rng = np.random.default_rng((n, raters, int(share * 100)))
    for kappa in (0.0, 0.4, 0.8):
        held = []
        for seed in range(SAMPLES):
            found = measure(drawn(rng, n, share, kappa, raters), Bootstrap(RESAMPLES, seed))
            if found.value is not None:
                assert found.interval.low <= found.value <= found.interval.high
                held.append(found.interval.low <= kappa <= found.interval.high)
        assert len(held) > 10
        assert np.mean(held) >= 0.915, kappa


def test_two_units_say_next_to_nothing() -> None:
    found = fleiss(np.array([[1, 0], [0, 1]], dtype=np.int8), Bootstrap(200))
    assert found.value == -1
    assert found.interval is not None
    assert found.interval.high > 0.5
