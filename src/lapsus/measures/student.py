"""Student's t and the beta distribution: probabilities and quantiles, without SciPy."""

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

_STEPS = 300
_TINY = 1e-300


def t_cdf(t: ArrayLike, degrees: ArrayLike) -> NDArray[np.float64]:
    """P(T ≤ t) of Student's t with so many degrees of freedom, element by element."""
    at, df = np.broadcast_arrays(np.asarray(t, dtype=np.float64), np.asarray(degrees, dtype=np.float64))
    found = [_below(one, many) for one, many in zip(at.ravel().tolist(), df.ravel().tolist(), strict=True)]
    return np.array(found, dtype=np.float64).reshape(at.shape)


@lru_cache(maxsize=4096)
def t_quantile(probability: float, degrees: float) -> float:
    """The t below which that share of Student's distribution lies; NaN where there is none."""
    if not 0 < probability < 1 or not degrees > 0:
        return math.nan
    if probability < 0.5:
        return -t_quantile(1 - probability, degrees)
    low, high, at = 0.0, math.inf, NormalDist().inv_cdf(probability)
    for _ in range(200):
        off = _below(at, degrees) - probability
        low, high = (at, high) if off < 0 else (low, at)
        step = off / _density(at, degrees)
        new = at - step
        if not low <= new <= high:
            new = 2 * low + 1 if math.isinf(high) else (low + high) / 2
        if abs(new - at) <= 1e-13 * max(1.0, abs(at)):
            return new
        at = new
    return at


@lru_cache(maxsize=4096)
def beta_quantile(probability: float, a: float, b: float) -> float:
    """The share below which that part of a beta distribution lies; at its ends where a parameter is 0."""
    if a <= 0 or b <= 0:
        return 0.0 if a <= 0 else 1.0
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        is_below = _incomplete_beta(a, b, middle, 1 - middle) < probability
        low, high = (middle, high) if is_below else (low, middle)
    return (low + high) / 2


def share_bounds(share: float, worth: float, level: float) -> tuple[float, float]:
    """The exact interval of Clopper and Pearson (1934) for a share of `worth` independent answers.

    `worth` need not be whole: it is how many would be as sure as what was seen (Korn and Graubard 1998).
    """
    tail, yes = (1 - level) / 2, share * worth
    return beta_quantile(tail, yes, worth - yes + 1), beta_quantile(1 - tail, yes + 1, worth - yes)


def _density(t: float, df: float) -> float:
    front = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - 0.5 * math.log(df * math.pi)
    return math.exp(front - (df + 1) / 2 * math.log1p(t * t / df))


def _below(t: float, df: float) -> float:
    if math.isinf(t):
        return 0.0 if t < 0 else 1.0
    tail = 0.5 * _incomplete_beta(df / 2, 0.5, df / (df + t * t), t * t / (df + t * t))
    return 1 - tail if t > 0 else tail


def _incomplete_beta(a: float, b: float, x: float, rest: float) -> float:
    """The regularised incomplete beta function at x = 1 - rest."""
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(b, a, rest, x) if rest else 1.0
    if not x:
        return 0.0
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(rest)
    return math.exp(front) / a * _fraction(a, b, x)


def _fraction(a: float, b: float, x: float) -> float:
    """Its continued fraction, by Lentz's way."""
    numerator = 1.0
    denominator = 1 / _not_zero(1 - (a + b) * x / (a + 1))
    value = denominator
    for step in range(1, _STEPS):
        even = step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step))
        odd = -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1))
        for part in (even, odd):
            denominator = 1 / _not_zero(1 + part * denominator)
            numerator = _not_zero(1 + part / numerator)
            value *= denominator * numerator
        if abs(denominator * numerator - 1) < 1e-16:
            break
    return value


def _not_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
