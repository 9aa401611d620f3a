"""What is the true share? Few answers of people, many of a judge.

The judge alone is off by what it gets wrong; people alone are few. Prediction-powered inference (PPI++, Angelopoulos,
Duchi and Zrnic 2023) takes from the judge as much as it is worth: nothing where it is useless.
"""

import math
from statistics import NormalDist
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lapsus.kinds.votes import Codes
from lapsus.measures.bootstrap import Floats, share_bounds, t_quantile
from lapsus.notices import Notice

Mask: TypeAlias = NDArray[np.bool_]
LEVEL = 0.95
_NORMAL = NormalDist().inv_cdf((1 + LEVEL) / 2)
LEAST_COMMON = 3
"""Units with people's and the judge's answer by which the rest can be corrected."""
LEAST_REST = 2
NOTHING_TO_CORRECT = Notice("people-judged-every-unit")
ONLY_DRAWN = Notice("judge-judged-only-units")
FEW_IN_COMMON = Notice("fewer-three-units-peoples")
HARDLY_A_REST = Notice("judge-alone-judged-one")
LEAST_APART = 0.1
"""What sensitivity and specificity must be above 1 together for a share to follow from the judge's."""
OUT_OF_RANGE = Notice("judges-mistakes-judged-units")
NOT_TOLD_APART = Notice("judge-does-not-tell")


class Estimate(NamedTuple):
    """A value with its interval; all None where there is nothing to work it out from."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    error: float | None = None
    """Standard error, with documents as clusters."""
    degrees: float | None = None
    note: str | None = None


class Sample(NamedTuple):
    """Units with the mean of what people said, what the judge said (NaN where either is missing), document, weight.

    `weight` is how many units each judged one stands for, NaN for units that were not drawn; None: all alike.
    """

    people: Floats
    judge: Floats
    document: Codes
    weight: Floats | None = None
    stratum: Codes | None = None
    is_share: bool = True


class Estimates(NamedTuple):
    """The same quantity in three ways, and for yes or no in a fourth."""

    judge: Estimate
    people: Estimate
    corrected: Estimate
    rogan_gladen: Estimate | None
    power: float | None
    """How much was taken from the judge: λ of PPI++, 0 for nothing."""
    judged: int
    """Units with people's and the judge's answer."""
    alone: int
    """Units with the judge's answer alone."""


def estimates(sample: Sample) -> Estimates:
    """Judge alone, people alone and both together."""
    said = np.isfinite(sample.people)
    if sample.weight is not None:
        said &= np.isfinite(sample.weight)
    judged = np.isfinite(sample.judge)
    both = said & judged
    alone = judged & ~np.isfinite(sample.people)
    # Where the judge saw drawn units only, its mean has to be weighted as people's is, and it knows of no rest.
    drawn = sample.weight is not None and bool(np.isfinite(sample.weight[judged]).all())
    stands_for = sample.weight[judged] if sample.weight is not None and drawn else None
    by_judge = mean(sample.judge[judged], sample.document[judged], stands_for, is_share=sample.is_share)
    weight = None if sample.weight is None else sample.weight[said]
    by_people = mean(sample.people[said], sample.document[said], weight, is_share=sample.is_share)
    counts = int(both.sum()), int(alone.sum())
    if why := _why_not(*counts, drawn):
        return Estimates(by_judge, by_people, by_people._replace(note=why), None, None, *counts)
    # One document says nothing about others: then a variance is infinite, or not a number where nothing varies.
    with np.errstate(invalid="ignore"):
        if sample.weight is None:
            power, corrected = ppi(sample, both, alone)
        else:
            power, corrected = weighted_ppi(sample, both, judged)
        # Of a drawn sample the units that nobody judged are no random rest: then the judge's share is of all.
        rest = alone if sample.weight is None else judged
        rates = rogan_gladen(sample, both, rest) if sample.is_share else None
    if sample.weight is None:
        corrected = corrected._replace(note=_unlike(sample, both, alone))
    return Estimates(by_judge, by_people, corrected, rates, power, *counts)


def _why_not(common: int, rest: int, drawn: bool) -> str | None:
    """Why the corrected figure is people's own; None where it can be corrected."""
    if drawn:
        return ONLY_DRAWN
    if rest < LEAST_REST:
        return HARDLY_A_REST if rest else NOTHING_TO_CORRECT
    return FEW_IN_COMMON if common < LEAST_COMMON else None


def _unlike(sample: Sample, both: Mask, alone: Mask) -> str | None:
    """A word of warning where the judged units are surely no random part: the judge itself sees them otherwise."""
    here, there = (mean(sample.judge[rows], sample.document[rows], is_share=False) for rows in (both, alone))
    apart = difference(here, there)
    if apart.value is None or here.value is None or there.value is None:
        return None
    bound = t_quantile(0.9995, apart.degrees or 1.0) * (apart.error or 0.0)
    if abs(apart.value) <= max(bound, 1e-12):
        return None
    return Notice("no-random-part-judge", value=here.value, value2=there.value)


def mean(values: Floats, document: Codes, weight: Floats | None = None, *, is_share: bool = True) -> Estimate:
    """A mean, weighted where units stand for different numbers of others, with documents as clusters."""
    if not len(values):
        return Estimate()
    weights = np.ones(len(values)) if weight is None else weight
    value = float(np.average(values, weights=weights))
    pull = weights * (values - value) / weights.sum()
    groups = _count(document)
    variance = _clustered(pull, document) * _small(groups)
    return around(value, variance, groups - 1, groups, is_share)


def ppi(sample: Sample, both: Mask, alone: Mask) -> tuple[float, Estimate]:
    """λ and the estimate: λ·mean(f) over units with f alone, plus the mean of Y - λ·f over the judged ones."""
    y, f, rest = sample.people[both], sample.judge[both], sample.judge[alone]
    n, many = len(y), len(rest)
    spread = float(np.var(np.concatenate([f, rest]), ddof=1))
    power = 0.0 if spread == 0 else _clip(_covariance(y, f) / (spread * (1 + n / many)))
    value = power * float(rest.mean()) + float((y - power * f).mean())
    residual = y - power * f
    here, there = sample.document[both], sample.document[alone]
    groups, others = _count(here), _count(there)
    # A document may hold units of both sorts, so the two pulls are added up by document before they are squared.
    pulls = np.concatenate([
        (residual - residual.mean()) / n * math.sqrt(_small(groups, 1 if power > 0 else 0)),
        power * (rest - rest.mean()) / many * math.sqrt(_small(others)),
    ])  # fmt: skip
    variance = _clustered(pulls, np.concatenate([here, there]))
    return power, around(value, variance, groups - 1, groups, sample.is_share)


def weighted_ppi(sample: Sample, both: Mask, judged: Mask) -> tuple[float, Estimate]:
    """The same for a sample that was drawn with different chances: each judged unit stands for `weight` units.

    The units that nobody judged are then no random rest, so the judge's mean is over all of them; with equal weights
    that is exactly `ppi`. Within strata only what differs from the stratum's mean is chance.
    """
    y, f = sample.people[both], sample.judge[both]
    w = np.ones(len(y)) if sample.weight is None else sample.weight[both]
    everything, total = sample.judge[judged], float(w.sum())
    spread = float(np.var(everything, ddof=1))
    center_y, center_f = float(np.average(y, weights=w)), float(np.average(f, weights=w))
    covariance = float((w * (y - center_y) * (f - center_f)).sum()) / total
    n = len(y)
    covariance *= n / (n - 1)
    most = len(everything) / max(1, len(everything) - n)
    slope = 0.0 if spread == 0 else min(max(covariance / spread, 0.0), most)
    residual = y - slope * f
    middle = float(np.average(residual, weights=w))
    value = slope * float(everything.mean()) + middle
    stratum = np.zeros(n, dtype=np.intp) if sample.stratum is None else sample.stratum[both]
    here, there = sample.document[both], sample.document[judged]
    chance, strata = _by_draw(residual, w, stratum)
    # That there are these units and no others: what is known of each document, put together before it is squared.
    # Each judged unit stands for others, which vary as it does by themselves.
    pull = slope * (everything - everything.mean()) / len(everything)
    own = w * (residual - middle) / total
    known = _clustered(np.concatenate([pull, own]), np.concatenate([there, here])) * _small(_count(there))
    known += float((own * ((residual - middle) / len(everything) - own)).sum())
    groups = _count(here)
    variance = chance + max(known, 0.0)
    return slope / most, around(value, variance, groups - strata, groups, sample.is_share)


def _by_draw(residual: Floats, w: Floats, stratum: Codes) -> tuple[float, int]:
    """The variance of a weighted mean by which units were drawn, within strata, and how many strata there are."""
    place = np.unique(stratum, return_inverse=True)[1].reshape(-1)
    counts, sums = np.bincount(place), np.bincount(place, w)
    own = np.bincount(place, w * residual) / sums
    few = np.where(counts > 1, counts / np.maximum(counts - 1, 1), 1.0)
    away = residual - np.where(counts[place] > 1, own[place], np.average(residual, weights=w))
    pull = w * away / float(w.sum())
    return float((pull**2 * few[place] * np.maximum(0.0, 1 - 1 / np.maximum(w, 1))).sum()), len(counts)


def rogan_gladen(sample: Sample, both: Mask, rest: Mask) -> Estimate:
    """The judge's share of `rest`, put right by its sensitivity and specificity on the judged units, by weight."""
    y, f, others = sample.people[both], sample.judge[both], sample.judge[rest]
    w = np.ones(len(y)) if sample.weight is None else sample.weight[both]
    yes, no = float((w * y).sum()), float((w * (1 - y)).sum())
    if not yes or not no:
        return Estimate(note=Notice("all-judged-units-same"))
    sensitivity = float((w * y * f).sum()) / yes
    specificity = float((w * (1 - y) * (1 - f)).sum()) / no
    apart = sensitivity + specificity - 1
    here, there = sample.document[both], sample.document[rest]
    groups = _count(here)
    hit = w * y * (f - sensitivity) / yes
    spared = w * (1 - y) * ((1 - f) - specificity) / no
    doubt = math.sqrt(_clustered(hit + spared, here) * _small(groups))
    if not math.isfinite(doubt) or apart <= t_quantile(0.995, max(1, groups - 1)) * doubt:
        return Estimate(note=NOT_TOLD_APART)
    share = float(others.mean())
    value = (share + specificity - 1) / apart
    if apart < LEAST_APART or not 0 <= value <= 1:
        return Estimate(note=NOT_TOLD_APART if apart < LEAST_APART else OUT_OF_RANGE)
    pulls = np.concatenate([
        ((1 - value) * spared - value * hit) / apart * math.sqrt(_small(groups)),
        (others - share) / len(others) / apart * math.sqrt(_small(_count(there))),
    ])  # fmt: skip
    variance = _clustered(pulls, np.concatenate([here, there]))
    return around(value, variance, groups - 1, groups, True)


def difference(one: Estimate, other: Estimate) -> Estimate:
    """One less the other, which share no document; the interval comes from their own two (Zou and Donner 2008).

    So it has a width also where neither varies, as of a label that nobody gave.
    """
    if one.value is None or other.value is None or not one.degrees or not other.degrees:
        return Estimate()
    a, b = (one.error or 0.0) ** 2, (other.error or 0.0) ** 2
    value = one.value - other.value
    parts = a**2 / one.degrees + b**2 / other.degrees
    degrees = (a + b) ** 2 / parts if parts else min(one.degrees, other.degrees)
    below, above = (
        math.hypot(_reach(one.value, mine), _reach(other.value, its))
        for mine, its in ((one.low, other.high), (one.high, other.low))
    )
    return Estimate(value, value - below, value + above, math.sqrt(a + b), degrees)


def _reach(value: float, bound: float | None) -> float:
    return abs(value - (value if bound is None else bound))


MOST_WORTH = 1e8
"""The most independent answers that an interval of a share is worked out for."""


def around(value: float, variance: float, degrees: float, draws: int, is_share: bool) -> Estimate:
    """The interval: of a share Clopper and Pearson's, for as many answers as would be as sure; else Student's.

    That is how Korn and Graubard (1998) take few clusters into account: it holds at 0 and 1 as well.
    """
    if degrees < 1 or not math.isfinite(variance):
        return Estimate(_clip(value) if is_share else value, note=Notice("one-document-alone"))
    error, t = math.sqrt(max(variance, 0.0)), t_quantile((1 + LEVEL) / 2, degrees)
    if not is_share:
        return Estimate(value, value - t * error, value + t * error, error, degrees)
    value = _clip(value)
    inner = min(max(value, 0.5 / draws), 1 - 0.5 / draws)
    worth = float(draws)
    if variance > 0:
        # Close to an end the share that is taken instead must not make more of the answers than there are.
        worth = min(inner * (1 - inner) / variance, max(value * (1 - value) / variance, worth))
    # Beyond that the logarithms of the gamma function lose their digits; the interval is a hair's breadth anyway.
    worth = min(worth * (_NORMAL / t) ** 2, MOST_WORTH)
    return Estimate(value, *share_bounds(value, worth, LEVEL), error, degrees)


def _clustered(pull: Floats, document: Codes) -> float:
    """The sum over documents of the squared pull of all their units."""
    return float((np.bincount(document, pull) ** 2).sum())


def _count(document: Codes) -> int:
    return len(np.unique(document))


def _small(groups: int, more: int = 0) -> float:
    """What a variance of so few groups is too small by, `more` being how much else was worked out from them."""
    return groups / (groups - 1 - more) if groups > 1 + more else math.inf


def _covariance(one: Floats, other: Floats) -> float:
    return float(((one - one.mean()) * (other - other.mean())).sum()) / (len(one) - 1)


def _clip(value: float) -> float:
    return min(max(value, 0.0), 1.0)
