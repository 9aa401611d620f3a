"""Is one run better than another, or was it luck? Runs on the same gold are compared document by document."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final, Literal, TypeAlias, get_args

import msgspec
import numpy as np

from lapsus.errors import InputError, UsageError
from lapsus.measures.bootstrap import Bootstrap, Floats, middle, resampled_sums
from lapsus.measures.score import Interval
from lapsus.measures.scores.tally import Tally
from lapsus.notices import Notice
from lapsus.registry import did_you_mean

Test: TypeAlias = Literal["randomization", "bootstrap"]
"""How p-values are made.

- `randomization`: if the runs were alike, it would not matter whose answers to a document are whose. They are
  swapped by chance; p is the share of such swaps that bring at least the difference seen.
- `bootstrap`: documents are drawn anew for both runs alike; p is the share of draws whose difference is at
  least as far from the one seen as that is from 0.
"""

TRIALS: Final = Bootstrap(10_000)
MARKS: Final = ((0.001, "***"), (0.01, "**"), (0.05, "*"))

_BLOCK = 1 << 21
"""How many drawn numbers are in memory at a time."""
_ROUNDING = 1e-12


class Difference(msgspec.Struct, frozen=True, omit_defaults=True):
    """How much more the second run has of a measure than the first. None where the measure is undefined."""

    measure: str
    first: float | None
    second: float | None
    difference: float | None
    interval: Interval | None = None
    """From the paired bootstrap, whichever test is chosen."""
    p: float | None = None
    """Two-sided."""
    adjusted_p: float | None = None
    """By Holm's method, for all pairs of runs that were compared by this measure."""

    @property
    def mark(self) -> str:
        """Stars for the adjusted p: three below .001, two below .01, one below .05."""
        p = self.adjusted_p
        return next((stars for bound, stars in MARKS if p is not None and p < bound), "")


class Comparison(msgspec.Struct, frozen=True):
    """Two runs side by side."""

    first: str
    second: str
    differences: tuple[Difference, ...]
    n: int
    documents: int
    signature: str

    def difference(self, measure: str) -> Difference:
        """The difference by one measure."""
        for found in self.differences:
            if found.measure == measure:
                return found
        names = [found.measure for found in self.differences]
        raise UsageError("runs-not-compared", hint=did_you_mean(measure, names), measure=measure)


def compare_runs(
    runs: Mapping[str, Tally],
    *,
    baseline: str | None = None,
    test: Test = "randomization",
    bootstrap: Bootstrap = TRIALS,
) -> tuple[Comparison, ...]:
    """Compare every run with the baseline, or every run with every other where there is none."""
    if test not in get_args(Test):
        raise UsageError("no-test-called", hint=did_you_mean(test, list(get_args(Test))), test=test)
    pairs = _pairs(list(runs), baseline)
    _check(runs)
    drawn = _drawn_values(list(runs.values()), bootstrap)
    by_name = dict(zip(runs, drawn, strict=True))
    compared = [
        _compare(runs[first], runs[second], by_name[second] - by_name[first], test, bootstrap)
        for first, second in pairs
    ]
    adjusted = zip(*(_adjusted(family) for family in zip(*compared, strict=True)), strict=True)
    return tuple(
        Comparison(
            first,
            second,
            differences,
            runs[first].n,
            len(runs[first].sums),
            runs[first]._replace(own={"test": test, "adjust": "holm"}).signature(bootstrap),
        )
        for (first, second), differences in zip(pairs, adjusted, strict=True)
    )


def swap_test(first: Tally, second: Tally, bootstrap: Bootstrap = TRIALS) -> list[float | None]:
    """The p of each measure by randomization, not adjusted: the one of `compare_runs`, at a sixth of the cost.

    What takes long there are the intervals, which many a table of many runs does not show.
    """
    _check({"the first": first, "the second": second})
    seen = second.values() - first.values()
    extreme = _extreme(_swapped_differences(first, second, bootstrap), seen)
    return [
        (count + 1) / (bootstrap.resamples + 1) if np.isfinite(difference) else None
        for count, difference in zip(extreme, seen.tolist(), strict=True)
    ]


def holm(p: Sequence[float]) -> list[float]:
    """P-values adjusted for their number: the smallest times all, the next times one less, never falling."""
    order = np.argsort(p, kind="stable")
    factors = np.arange(len(p), 0, -1)
    rising = np.minimum(np.maximum.accumulate(np.asarray(p, dtype=np.float64)[order] * factors), 1.0)
    adjusted = np.empty(len(p))
    adjusted[order] = rising
    return [float(value) for value in adjusted]


def _pairs(names: list[str], baseline: str | None) -> list[tuple[str, str]]:
    if len(names) < 2:
        raise UsageError("takes-two-runs-compare-not", count=len(names))
    if baseline is None:
        return list(combinations(names, 2))
    if baseline not in names:
        raise UsageError("no-run-called", hint=did_you_mean(baseline, names), baseline=baseline)
    return [(baseline, name) for name in names if name != baseline]


def _check(runs: Mapping[str, Tally]) -> None:
    (name, first), *others = runs.items()
    if not first.n:
        raise InputError("nothing-compare", where=Notice("run", name=name))
    for other, tally in others:
        if tally.measures != first.measures:
            raise InputError("scored-other-measures", where=Notice("run", name=other), name=name)
        if tally.n != first.n or tally.sums.shape != first.sums.shape or tally.setting != first.setting:
            raise InputError(
                "not-scored-same-gold",
                where=Notice("run", name=other),
                hint="units-there",
                name=name,
                n=tally.n,
                signature=tally.signature(None),
                n2=first.n,
                signature2=first.signature(None),
            )


def _drawn_values(tallies: list[Tally], bootstrap: Bootstrap) -> list[Floats]:
    """Each run's measures in each resample. All runs stand side by side, so the same documents are drawn."""
    width = tallies[0].sums.shape[1]
    values: list[list[Floats]] = [[] for _ in tallies]
    with np.errstate(divide="ignore", invalid="ignore"):
        for block in resampled_sums(np.hstack([tally.sums for tally in tallies]), bootstrap):
            for place, tally in enumerate(tallies):
                values[place].append(tally.value(block[:, place * width : (place + 1) * width]))
    return [np.concatenate(blocks) for blocks in values]


def _compare(
    first: Tally, second: Tally, drawn: Floats, test: Test, bootstrap: Bootstrap
) -> list[Difference]:
    values = first.values(), second.values()
    seen = values[1] - values[0]
    if test == "randomization":
        extreme = _extreme(_swapped_differences(first, second, bootstrap), seen)
    else:
        extreme = _extreme(drawn - seen, seen)
    differences = []
    for place, measure in enumerate(first.measures):
        a, b, difference = (_defined(array[place]) for array in (*values, seen))
        if difference is None:
            differences.append(Difference(measure, a, b, None))
            continue
        around = middle(drawn[:, place], bootstrap.level) if len(first.sums) > 1 else None
        # The difference seen is itself one of the possible ones, so no p is 0.
        p = (extreme[place] + 1) / (bootstrap.resamples + 1)
        differences.append(Difference(measure, a, b, difference, around, p))
    return differences


def _extreme(differences: Floats, seen: Floats) -> list[int]:
    """How many differences are at least as large as the one seen. One that is undefined counts as such."""
    with np.errstate(invalid="ignore"):
        smaller = np.abs(differences) < np.abs(seen) - _ROUNDING
    return [int(count) for count in np.count_nonzero(~smaller, axis=0)]


def _swapped_differences(first: Tally, second: Tally, bootstrap: Bootstrap) -> Floats:
    """The measures' differences after swapping the two runs' answers to random documents."""
    more = second.sums - first.sums
    totals = first.sums.sum(axis=0), second.sums.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.concatenate(
            [
                second.value(totals[1] - moved) - first.value(totals[0] + moved)
                for moved in (swaps @ more for swaps in _swaps(len(more), bootstrap))
            ]
        )


def _swaps(documents: int, bootstrap: Bootstrap) -> Iterator[Floats]:
    generator = np.random.default_rng(bootstrap.seed)
    rows = max(1, _BLOCK // documents)
    for done in range(0, bootstrap.resamples, rows):
        size = (min(rows, bootstrap.resamples - done), documents)
        yield generator.integers(0, 2, size, dtype=np.int8).astype(np.float64)


def _adjusted(family: Sequence[Difference]) -> list[Difference]:
    """The same differences with p-values adjusted for how many there are."""
    adjusted = iter(holm([found.p for found in family if found.p is not None]))
    return [
        found if found.p is None else msgspec.structs.replace(found, adjusted_p=next(adjusted))
        for found in family
    ]


def _defined(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
