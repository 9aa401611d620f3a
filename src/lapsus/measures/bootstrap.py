"""Bootstrap intervals by resampling sums, not data.

A measure that can be worked out from sums over groups (documents, units) is resampled by drawing how often
each group counts and adding up its sums that often: one matrix product for all resamples.

The interval is the middle part of the resampled values. With few groups, or where it reaches the end of what the
measure can be, resamples are too much alike: there it is the exact one of a share (`share_bounds`), for as many
independent groups as would be as sure as the resamples are.
"""

import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from statistics import NormalDist
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lapsus.measures.score import Interval

Floats = NDArray[np.float64]
Bounds: TypeAlias = tuple[float, float] | None
"""What a measure can be at least and at most; None where there is no end to it."""
SHARE: Final = (0.0, 1.0)
SIGNED: Final = (-1.0, 1.0)
MANY: Final = 50
"""From how many groups on the middle part of the resampled values is taken as it is."""

TELLING: Final = 200
"""Up to how many units that tell anything of agreement resamples also hold what was not seen."""

_ROUNDING = 1e-12
_MOST = 1e6
_NEARLY = 0.999

_BLOCK = 1 << 21
"""How many drawn numbers are in memory at a time."""
_KEPT = 1 << 20
"""Up to how many drawn numbers are kept for the next measure."""


class Bootstrap(NamedTuple):
    """How intervals are made. The seed makes them the same every time."""

    resamples: int = 1000
    seed: int = 0
    level: float = 0.95

    def __str__(self) -> str:
        return f"{self.resamples},seed={self.seed},level={self.level:g}"


USUAL: Final = Bootstrap()
"""The plan where none is given."""


def group_sums(values: NDArray[Any], groups: NDArray[np.intp]) -> Floats:
    """Add up rows by group: (rows, columns) to (groups, columns)."""
    count = int(groups.max()) + 1 if len(groups) else 0
    sums = np.empty((count, values.shape[1]))
    for place in range(values.shape[1]):
        sums[:, place] = np.bincount(groups, values[:, place], count)
    return sums


def resampled_times(times: NDArray[Any], bootstrap: Bootstrap) -> Iterator[NDArray[np.int64]]:
    """How often each row counts in each resample, in blocks of (resamples, rows).

    `times` says how many groups each row stands for. The same plan draws the same groups.
    """
    stands_for = np.asarray(times, dtype=np.float64)
    if len(stands_for) * bootstrap.resamples <= min(_KEPT, _BLOCK):
        yield _drawn(stands_for.tobytes(), bootstrap)
        return
    generator = np.random.default_rng(bootstrap.seed)
    total = int(stands_for.sum())
    rows = max(1, _BLOCK // max(len(stands_for), 1))
    for done in range(0, bootstrap.resamples, rows):
        yield generator.multinomial(total, stands_for / total, size=min(rows, bootstrap.resamples - done))


@lru_cache(maxsize=4)
def _drawn(times: bytes, bootstrap: Bootstrap) -> NDArray[np.int64]:
    """What several measures of the same units would all draw alike, drawn once."""
    stands_for = np.frombuffer(times)
    total = int(stands_for.sum())
    drawn: NDArray[np.int64] = np.random.default_rng(bootstrap.seed).multinomial(
        total, stands_for / total, size=bootstrap.resamples
    )
    drawn.setflags(write=False)
    return drawn


def resampled_sums(sums: Floats, bootstrap: Bootstrap, times: NDArray[Any] | None = None) -> Iterator[Floats]:
    """The sums of each resample, in blocks of (resamples, columns). The same plan draws the same groups.

    `times` says how many groups each row stands for, where equal groups were put together: a million units
    with thirty votes on three labels are at most 496 different rows, and the drawing is exactly the same.
    """
    for draws in resampled_times(np.ones(len(sums)) if times is None else times, bootstrap):
        yield draws @ sums


def resampled_values(
    sums: Floats, value: Callable[[Floats], Floats], bootstrap: Bootstrap, times: NDArray[Any] | None = None
) -> Floats:
    """A measure's value in each resample: (resamples,) or (resamples, measures)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.concatenate([value(block) for block in resampled_sums(sums, bootstrap, times)])


def middle(values: Floats, level: float) -> Interval | None:
    """The middle part of the resampled values; None where most of them are undefined."""
    defined = values[np.isfinite(values)]
    if len(defined) < max(2, len(values) // 2):
        return None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))


def interval(
    values: Floats, level: float, *, value: float, groups: int, bounds: Bounds = SIGNED
) -> Interval | None:
    """The interval of a measure from its resampled values; None where most of them are undefined.

    `value` is what was measured, `groups` how many were drawn from, `bounds` what the measure can be at least and at
    most. See the module for which interval it is.
    """
    found = middle(values, level)
    if found is None:
        return None
    low, high = found
    defined = values[np.isfinite(values)]
    if bounds is not None and not bounds[0] <= value <= bounds[1]:
        bounds = None
    at_edge = low == high or (bounds is not None and not bounds[0] < low <= high < bounds[1])
    if groups >= MANY and not at_edge:
        return found
    variance = float(np.var(defined)) * groups / (groups - 1)
    if bounds is None:
        half = t_quantile((1 + level) / 2, groups - 1) * math.sqrt(variance)
        return Interval(value - half, value + half)
    least, width = bounds[0], bounds[1] - bounds[0]
    share = (value - least) / width
    sure = share * (1 - share) * width**2 / variance if variance > _ROUNDING else math.inf
    # Resamples that are all alike are as sure as if each group had answered once.
    worth = min(max(sure, 1.0), _MOST) if math.isfinite(sure) and share * (1 - share) > 0 else float(groups)
    low, high = share_bounds(share, _found_from(worth, groups, level), level)
    return Interval(least + width * low, least + width * high)


def _found_from(worth: float, groups: int, level: float) -> float:
    """How many answers are as sure where that was found from few groups, as Korn and Graubard (1998) have it."""
    if worth <= groups:
        return worth
    up_to = (1 + level) / 2
    return max(float(groups), worth * (t_quantile(up_to, worth - 1) / t_quantile(up_to, groups - 1)) ** 2)


def smoothed_interval(
    values: Floats, level: float, *, value: float, smoothed: float, groups: int
) -> Interval | None:
    """The interval of a coefficient between -1 and 1 from resamples that also hold what was not seen.

    `smoothed` is the coefficient with as much of the unseen added as the resamples hold on average. Fisher's z (atanh)
    keeps the interval within the ends, Student's t makes up for a spread that was found from few groups; `value`, what
    was measured, is always within.
    """
    defined = values[np.isfinite(values)]
    if len(defined) < max(2, len(values) // 2) or groups < 2 or not math.isfinite(smoothed):
        return None
    at = min(max(smoothed, -_NEARLY), _NEARLY)
    spread = math.sqrt(float(np.var(defined)) * groups / (groups - 1)) / (1 - at * at)
    half = t_quantile((1 + level) / 2, groups - 1) * spread
    low, high = math.tanh(math.atanh(at) - half), math.tanh(math.atanh(at) + half)
    return Interval(min(low, value), max(high, value))


def bootstrap_interval(
    sums: Floats,
    value: Callable[[Floats], Floats],
    bootstrap: Bootstrap | None,
    times: NDArray[Any] | None = None,
    bounds: Bounds = SIGNED,
) -> Interval | None:
    """The interval of a measure that is worked out from sums by group."""
    groups = len(sums) if times is None else int(times.sum())
    if bootstrap is None or groups < 2:
        return None
    drawn = resampled_values(sums, value, bootstrap, times)
    with np.errstate(divide="ignore", invalid="ignore"):
        point = float(value(sums.sum(axis=0) if times is None else times @ sums))
    return interval(drawn, bootstrap.level, value=point, groups=groups, bounds=bounds)


def bootstrap_rows(
    rows: int,
    value: Callable[[NDArray[np.intp]], float],
    bootstrap: Bootstrap | None,
    bounds: Bounds = SIGNED,
) -> Interval | None:
    """The interval of a measure that needs the rows themselves, such as one of ranks."""
    if bootstrap is None or rows < 2:
        return None
    generator = np.random.default_rng(bootstrap.seed)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = [value(generator.integers(0, rows, rows)) for _ in range(bootstrap.resamples)]
        point = value(np.arange(rows))
    return interval(np.array(values), bootstrap.level, value=point, groups=rows, bounds=bounds)


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
