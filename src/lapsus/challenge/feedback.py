"""What a team learns of its own runs before the reveal: scores too coarse to read single labels from.

Every score follows from nine sums over the turns: right labels, right B, right PB+B, and six distances. Each sum is
rounded by what `grain(n)` turns can move, at a point that only the server knows, and the scores are made from the
rounded sums. Three more things keep many runs from being averaged: a run that differs from an earlier one of the team
by fewer turns than that, in what a sum is made from, shows the earlier one's; the point is the same for all runs and
teams; and only the first `MOST_SCORED` runs in a language are shown with scores.
"""

from __future__ import annotations

import hashlib
import hmac
import math
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np

from lapsus.analysis.scores import SHOWN
from lapsus.challenge.run_scores import Answers, RunScores, ScoreValue, ScoreValues
from lapsus.measures.bootstrap import Floats
from lapsus.measures.scores.breakdown_labels import LABELS

MOST_SCORED: Final = 10
"""Runs of a team in one language whose scores are shown before the reveal."""
LEAST_GRAIN: Final = 10
_DISTANCES: Final = ("jsd", "jsd_nb_vs_rest", "jsd_rest_vs_b", "mse", "mse_nb_vs_rest", "mse_rest_vs_b")
_PARTS: Final = (slice(None), 0, 2)
"""Of a distribution, what the distances of each of the three groupings are made from: all of it, O, X."""

Shift = Callable[[str], float]
"""Where the rounding of a sum changes over: from -0.5 to 0.5 for a sum's name."""


class ScoredAnswers(NamedTuple):
    """A run as it is kept: its scores, its answers, and its sums by dialogue."""

    figures: RunScores
    answers: Answers
    sums: Floats


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


def coarse_figures(runs: Sequence[ScoredAnswers], shift: Shift) -> list[RunScores | None]:
    """The scores to show for a team's runs in one language, in the order in which they came; None: not shown."""
    earlier: dict[str, list[tuple[Floats, float]]] = {}
    shown: list[RunScores | None] = [_coarse(run, shift, earlier) for run in runs[:MOST_SCORED]]
    return shown + [None] * (len(runs) - len(shown))


def _coarse(run: ScoredAnswers, shift: Shift, earlier: dict[str, list[tuple[Floats, float]]]) -> RunScores:
    n = run.figures.all.n
    step = grain(n)
    cells = run.sums[:, :18].sum(axis=0).reshape(3, 2, 3)
    strict, lenient = cells.sum(axis=1), cells.sum(axis=0)
    found: dict[str, float] = {}
    for name, one in _sums(run, strict, lenient).items():
        known = earlier.setdefault(name, [])
        near = next((value for other, value in known if _differing(one.made_from, other) < step), None)
        if near is None:
            near = _rounded(one.value, step, shift(name))
            known.append((one.made_from, near))
        found[name] = near
    values = {"accuracy": min(found["accuracy"] / n, 1.0)}
    values |= {name: min(found[name] / n, 1.0) for name in _DISTANCES}
    for name, said, there in (
        ("b", float(strict[:, 2].sum()), float(strict[2].sum())),
        ("pb_b", float(lenient[:, 1:].sum()), float(lenient[1].sum())),
    ):
        # Of a label that is hardly said at all, the hits would be known but for a turn or two.
        if said >= 2 * step:
            about = max(_rounded(there, step, shift(f"there {name}")), step)
            values |= _precision(name, min(found[name], said, about), said, about)
    figures = {name: ScoreValue(values.get(name)) for name in SHOWN}
    signature = f"{run.figures.all.signature}|rounded:{step} turns"
    return RunScores(ScoreValues(n, figures, signature), {}, run.figures.one_hot, run.figures.out_of_place)


def _precision(name: str, hits: float, said: float, there: float) -> dict[str, float]:
    return {
        f"precision_{name}": hits / said,
        f"recall_{name}": hits / there,
        f"f1_{name}": 2 * hits / (said + there),
    }


def _sums(run: ScoredAnswers, strict: Floats, lenient: Floats) -> dict[str, _Sum]:
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
