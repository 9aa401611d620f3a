"""How many units and people it takes, and which units: drawn at random within strata, with what each stands for."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lapsus.errors import UsageError
from lapsus.kinds.votes import Codes
from lapsus.measures.bootstrap import Floats, t_quantile
from lapsus.trust.alternative_test import LEAST_UNITS, LEVEL, Duels, units_needed
from lapsus.trust.estimators import Sample

UNTRIED_SPREAD = 0.5
"""Variance of who wins where nothing was tried yet: a person and a judge differ on half of the units."""
LEAST_DOUBT = 0.1
"""Also where a judge is sure it may be wrong: no stratum is drawn from much less than the others."""


class Goal(NamedTuple):
    """What is wanted, and how many units each person (or any one of them) would have to judge for it."""

    units: int | None
    """None where no number of units will do as it looks."""
    tried: bool
    """Whether people's answers that there are were used, or only the judge's."""


def units_for_width(sample: Sample, half_width: float, noise: Noise | None = None, people: int = 1) -> Goal:
    """How many units people must judge until the corrected interval is ± `half_width`.

    From the people's answers so far, if there are ten units of them, with their `noise` as of so many people a unit;
    else as if the judge helped nothing and people's answers varied as much as its own. Where all units would not do
    it is more than there are: the judge has to judge more documents like these.
    """
    if half_width <= 0:
        raise UsageError("interval-something-above-0")
    judged = np.isfinite(sample.judge)
    both = judged & np.isfinite(sample.people)
    tried = int(both.sum()) >= 10
    total = int(judged.sum())
    if tried:
        y, f = sample.people[both], sample.judge[both]
        spread = float(np.var(y, ddof=1))
        if noise is not None:
            spread = max(0.0, spread - noise.within * noise.share) + noise.within / people
        varied = spread * float(np.var(f, ddof=1))
        alike = float(np.cov(y, f)[0, 1]) ** 2 / varied if varied > 0 else 0.0
    else:
        # One answer varies no less than a mean of several, so this errs on the safe side.
        spread, alike = float(np.var(sample.judge[judged], ddof=1)) if total > 1 else 0.25, 0.0
    if sample.is_share:
        spread = max(spread, 0.01)
    beside = _shared_documents(sample.document[judged]) * within_documents(
        sample.judge[judged], sample.document[judged]
    )

    def reached(units: int) -> bool:
        there = min(units, total)
        worth = spread * (1 - alike * (1 - there / max(total, 1))) * (1 + beside * (there - 1))
        return t_quantile(0.975, units - 1) * math.sqrt(worth / units) <= half_width

    return Goal(_fewest(reached), tried)


def _fewest(enough: Callable[[int], bool]) -> int:
    """The least number of units from 2 up that is enough."""
    high = 2
    while not enough(high):
        high *= 2
    return bisect_left(range(high), True, lo=high // 2, key=enough) if high > 2 else 2


def units_for_share(half_width: float, population: int) -> int:
    """How many of so many units people must judge until any share is known to ± `half_width`, whatever it is.

    For a plan without a judge and without answers: as if half of the units had the answer, and all were drawn alike.
    """
    if not 0 < half_width < 1:
        raise UsageError("interval-something-above-0-below")

    def enough(units: int) -> bool:
        rest = (population - units) / max(population - 1, 1)
        return t_quantile(0.975, max(units - 1, 1)) * math.sqrt(0.25 / units * rest) <= half_width

    return bisect_left(range(population), True, lo=min(2, population), key=enough)


class Noise(NamedTuple):
    """How far people differ on the same unit."""

    within: float
    """Variance of one person's answer around what all would say of a unit."""
    share: float
    """How much of it is left in the means that there are: the mean of 1 over how many answered."""


def noise_of(said: Floats) -> Noise | None:
    """From answers of (units, people), NaN where there is none; None where nobody judged what another judged."""
    count = np.isfinite(said).sum(axis=1)
    several = said[count >= 2]
    if not len(several):
        return None
    return Noise(float(np.nanvar(several, axis=1, ddof=1).mean()), float((1 / count[count > 0]).mean()))


def within_documents(values: Floats, document: Codes) -> float:
    """How alike units of one document are: the intraclass correlation, 0 where it is below."""
    groups, place = np.unique(document, return_inverse=True)
    count = np.bincount(place.reshape(-1)).astype(float)
    many, n = len(groups), len(values)
    if many < 2 or n <= many:
        return 0.0
    means = np.bincount(place.reshape(-1), values) / count
    between = float((count * (means - values.mean()) ** 2).sum()) / (many - 1)
    inside = float(((values - means[place.reshape(-1)]) ** 2).sum()) / (n - many)
    size = (n - float((count**2).sum()) / n) / (many - 1)
    whole = between + (size - 1) * inside
    return max(0.0, (between - inside) / whole) if whole > 0 else 0.0


def _shared_documents(document: Codes) -> float:
    """The chance that two units drawn at random are of one document."""
    count = np.unique(document, return_counts=True)[1].astype(float)
    n = len(document)
    return float((count * (count - 1)).sum()) / (n * (n - 1)) if n > 1 else 0.0


def units_for_test(found: Duels | None, people: int, epsilon: float) -> Goal:
    """How many units each of so many people must judge until the test would pass, were things as they look."""
    if people < 2:
        raise UsageError("test-needs-two-people", hint="plan-interval-alone-within")
    tried = found is not None and len(found.unit) >= 10
    distance, spread = np.array([epsilon]), np.array([UNTRIED_SPREAD])
    if found is not None and tried:
        difference = found.person_wins - found.judge_wins
        distance, spread = epsilon - difference.mean(keepdims=True), np.array([difference.var(ddof=1)])
    half = math.ceil(people / 2)
    level = half / people * LEVEL / sum(1 / place for place in range(1, people + 1))
    needed = float(units_needed(distance, spread, level)[0])
    return Goal(max(LEAST_UNITS, math.ceil(needed)) if math.isfinite(needed) else None, tried)


class Drawn(NamedTuple):
    """Which units were drawn, and how many each stands for."""

    rows: Codes
    weight: Floats


def draw(stratum: Codes, doubt: Floats, size: int, seed: int = 0, before: Floats | None = None) -> Drawn:
    """So many units at random, more of strata in which the judge doubts; each stratum gives two at least.

    The weight of a unit is how many of its stratum it stands for, so that weighted means stay unbiased. Where the
    units were drawn from others already, each times how many of those it stood for `before`.
    """
    if not 1 <= size <= len(stratum):
        raise UsageError("cannot-draw-units", size=size, count=len(stratum))
    counts = np.bincount(stratum)
    spread = np.sqrt(np.bincount(stratum, doubt * (1 - doubt)) / np.maximum(counts, 1)) + LEAST_DOUBT
    taken = allocate(counts, spread, size)
    rng = np.random.default_rng(seed)
    rows, weights = [], []
    for place, many in enumerate(taken.tolist()):
        own = np.flatnonzero(stratum == place)
        rows.append(np.sort(rng.choice(own, many, replace=False)))
        weights.append(np.full(many, len(own) / many if many else 0.0))
    order = np.argsort(np.concatenate(rows), kind="stable")
    chosen, weight = np.concatenate(rows)[order], np.concatenate(weights)[order]
    return Drawn(chosen, weight if before is None else weight * before[chosen])


def allocate(counts: NDArray[np.intp], spread: Floats, size: int) -> NDArray[np.intp]:
    """How many to draw from each stratum: by its size and spread (Neyman), two at least, no more than it has."""
    taken: NDArray[np.intp] = np.minimum(counts, 2)
    if taken.sum() > size:
        raise UsageError("units-too-few-strata", hint="draw-two-stratum-more", size=size, count=len(counts))
    claim = counts * spread
    while (left := size - int(taken.sum())) > 0:
        room = counts - taken
        ideal = claim * (room > 0)
        ideal = ideal / ideal.sum() * size - taken
        ideal = np.minimum(np.maximum(ideal, 0), room)
        more = np.floor(ideal).astype(np.intp)
        if more.sum() > left or not more.any():
            more = np.zeros_like(taken)
            more[int(np.argmax(np.where(room > 0, ideal, -1.0)))] = 1
        taken = taken + more
    return taken


def strata(systems: Sequence[str], doubt: Floats) -> tuple[list[str], Codes]:
    """Names of strata, and which each unit is in: by system, and by whether the judge doubts more than usual."""
    told = np.isfinite(doubt)
    names = list(systems)
    if told.any():
        middle = float(np.median(doubt[told]))
        # Where half of the units are doubted equally, those are the doubtful ones.
        doubtful = doubt > middle if (doubt[told] > middle).any() else doubt >= middle
        # A judge that is equally sure of all gives no reason to tell its units apart.
        if not doubtful[told].all():
            names = [
                f"{name}, {'doubtful' if is_doubtful else 'sure'}"
                for name, is_doubtful in zip(names, doubtful.tolist(), strict=True)
            ]
    known = sorted(set(names))
    place = {name: number for number, name in enumerate(known)}
    return known, np.array([place[name] for name in names], dtype=np.intp)
