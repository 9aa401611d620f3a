"""Scores that a team sees before the reveal: the Ladder of Blum and Hardt (2015), on coarse scores.

Every score follows from nine sums over the turns: right labels, right B, right PB+B, and six distances. Each sum is
rounded by what `grain(n)` turns can move, at a point that only the server knows, and the scores are made from the
rounded sums. A run is answered only in the measures in which it betters the team's best by more than that grain; of any
other run nothing is said but that. A run that differs from an answered one by fewer turns than the grain, in what a sum
is made from, is not answered either, and after `MOST_ANSWERED` answers in a language there are no more. So runs cannot
be averaged, however many there are.
"""

import hashlib
import hmac
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

import numpy as np

from lapsus.analysis.scores import SHOWN
from lapsus.challenge.run_scores import RunScores, ScoredRun, ScoreValue, ScoreValues
from lapsus.measures.bootstrap import Floats
from lapsus.measures.scores.breakdown import LOWER_IS_BETTER
from lapsus.measures.scores.breakdown_labels import LABELS

MOST_ANSWERED: Final = 10
"""The budget of a team in one language: so many of its runs are answered with scores before the reveal."""
LEAST_GRAIN: Final = 10
_DISTANCES: Final = ("jsd", "jsd_nb_vs_rest", "jsd_rest_vs_b", "mse", "mse_nb_vs_rest", "mse_rest_vs_b")
_PARTS: Final = (slice(None), 0, 2)
"""Of a distribution, what the distances of each of the three groupings are made from: all of it, O, X."""

Shift = Callable[[str], float]
"""Where the rounding of a sum changes over: from -0.5 to 0.5 for a sum's name."""


class _Sum(NamedTuple):
    """One sum, and what of the run it is made from."""

    value: float
    made_from: Floats


def grain(turns: int) -> int:
    """How many turns a sum is rounded by: ten, or as many as chance moves the score of a large test set."""
    return max(LEAST_GRAIN, math.ceil(math.sqrt(turns)))


def secret_shift(secret: str, challenge: int, language: str) -> Shift:
    """The points at which the sums of one board are rounded."""

    def shift(name: str) -> float:
        digest = hmac.digest(secret.encode(), f"{challenge}|{language}|{name}".encode(), hashlib.sha256)
        return int.from_bytes(digest[:8]) / 2**64 - 0.5

    return shift


def coarse_figures(runs: Iterable[ScoredRun], shift: Shift) -> list[RunScores | None]:
    """The scores to show for a team's runs in one language, in the order in which they came; None: not answered."""
    ladder = _Ladder(shift)
    return [ladder.answer(run) for run in runs]


class _Coarse(NamedTuple):
    """A measure as it may be shown."""

    value: float
    noise: float
    """What one grain of its sum changes."""
    made_from: str
    """The name of its sum."""


class _Ladder:
    """A team's best in each measure, which changes only by more than noise."""

    def __init__(self, shift: Shift) -> None:
        self.shift = shift
        self.left = MOST_ANSWERED
        self.best: dict[str, tuple[float, float]] = {}
        """By measure: what it is, and what was shown."""
        self.answered: dict[str, list[Floats]] = {}
        """By sum: what it was made from in the runs that were answered."""

    def answer(self, run: ScoredRun) -> RunScores | None:
        """What is shown of the next run."""
        if not self.left:
            return None
        n, step = run.figures.all.n, grain(run.figures.all.n)
        cells = run.sums[:, :18].sum(axis=0).reshape(3, 2, 3)
        strict, lenient = cells.sum(axis=1), cells.sum(axis=0)
        sums = _sums(run, strict, lenient)
        far = {
            name
            for name, one in sums.items()
            if all(_differing(one.made_from, other) >= step for other in self.answered.get(name, ()))
        }
        coarse = _coarse(sums, strict, lenient, n, self.shift)
        exact = {name: run.figures.all.values[name].value for name in coarse}
        better = {
            name: (truth, one.value)
            for name, one in coarse.items()
            if (truth := exact[name]) is not None and one.made_from in far and self._betters(name, truth, one)
        }
        if not better:
            return None
        self.left -= 1
        self.best |= better
        for name in {coarse[measure].made_from for measure in better}:
            self.answered.setdefault(name, []).append(sums[name].made_from)
        values = {name: ScoreValue(better[name][1] if name in better else None) for name in SHOWN}
        signature = f"{run.figures.all.signature}|rounded:{step} turns|ladder"
        return RunScores(ScoreValues(n, values, signature), {}, run.figures.one_hot, run.figures.out_of_place)

    def _betters(self, name: str, exact: float, coarse: _Coarse) -> bool:
        if name not in self.best:
            return True
        sign = -1 if name in LOWER_IS_BETTER else 1
        best, shown = self.best[name]
        return sign * (exact - best) > coarse.noise and sign * (coarse.value - shown) > 0


def _coarse(
    sums: Mapping[str, _Sum], strict: Floats, lenient: Floats, n: int, shift: Shift
) -> dict[str, _Coarse]:
    """Every measure from rounded sums; none of a label that is hardly ever said."""
    step = grain(n)
    rounded = {name: _rounded(one.value, step, shift(name)) for name, one in sums.items()}
    found = {name: _Coarse(min(rounded[name] / n, 1.0), step / n, name) for name in ("accuracy", *_DISTANCES)}
    for name, said, there in (
        ("b", float(strict[:, 2].sum()), float(strict[2].sum())),
        ("pb_b", float(lenient[:, 1:].sum()), float(lenient[1].sum())),
    ):
        # Of a label that is hardly said at all, the hits would be known but for a turn or two.
        if said >= 2 * step:
            about = max(_rounded(there, step, shift(f"there {name}")), step)
            values = _precision(name, min(rounded[name], said, about), said, about)
            noise = _precision(name, step, said, about)
            found |= {measure: _Coarse(value, noise[measure], name) for measure, value in values.items()}
    return found


def _precision(name: str, hits: float, said: float, there: float) -> dict[str, float]:
    return {
        f"precision_{name}": hits / said,
        f"recall_{name}": hits / there,
        f"f1_{name}": 2 * hits / (said + there),
    }


def _sums(run: ScoredRun, strict: Floats, lenient: Floats) -> dict[str, _Sum]:
    labels = np.array([LABELS.index(label) for label in run.answers.labels])
    said = np.eye(3)[labels]
    shares = np.array(run.answers.shares).reshape(-1, 3)
    distances = run.sums[:, 18:].sum(axis=0)
    return {
        "accuracy": _Sum(float(np.trace(strict)), said),
        "b": _Sum(float(strict[2, 2]), said[:, 2]),
        "pb_b": _Sum(float(lenient[1, 1:].sum()), said[:, 0]),
        **{
            name: _Sum(float(distances[place]), shares[:, _PARTS[place % 3]])
            for place, name in enumerate(_DISTANCES)
        },
    }


def _differing(one: Floats, other: Floats) -> float:
    """By how many turns two runs differ; half a distribution moved is half a turn."""
    whole = float(np.abs(one - other).sum())
    return whole / 2 if one.ndim == 2 else whole


def _rounded(value: float, step: int, shift: float) -> float:
    return max(math.floor(value / step + shift + 0.5), 0) * float(step)
