"""Breakdown scores turn by turn in plain Python: the kind of loop that the challenge's own program is.

Written from its rules, for t = 0. It starts from counts of votes, so that it has no more to do than Lapsus.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from measures_worker import Results

_O, _T, _X = range(3)
_NAMES = ("accuracy", "precision_b", "recall_b", "f1_b", "precision_pb_b", "recall_pb_b", "f1_pb_b")
_DISTANCES = ("jsd", "jsd_nb_vs_rest", "jsd_rest_vs_b", "mse", "mse_nb_vs_rest", "mse_rest_vs_b")


def _strict(o: float, t: float, x: float) -> int:
    if o >= t and o >= x:
        return _O
    return _T if t >= x else _X


def _divergence(p: Sequence[float], q: Sequence[float]) -> float:
    total = 0.0
    for a, b in zip(p, q, strict=True):
        mean = (a + b) / 2
        if a > 0:
            total += a * math.log2(a / mean)
        if b > 0:
            total += b * math.log2(b / mean)
    return total / 2


def _squared(p: Sequence[float], q: Sequence[float]) -> float:
    total = 0.0
    for a, b in zip(p, q, strict=True):
        total += (a - b) ** 2
    return total / len(p)


def _precision_recall_f(hits: int, said: int, there: int) -> tuple[float, float, float]:
    if not hits:
        return 0.0, 0.0, 0.0
    precision, recall = hits / said, hits / there
    return precision, recall, 2 * precision * recall / (precision + recall)


def score(turns: Sequence[tuple[list[int], int, list[float]]]) -> Results:
    """The challenge's scores of turns: counts of O, T and X, the label said, the distribution said."""
    right = 0
    b_hits = b_said = b_there = broken_hits = broken_said = broken_there = 0
    sums = [0.0] * 6
    for counts, label, said in turns:
        raters = sum(counts)
        o, t, x = shares = [count / raters for count in counts]
        strict, is_broken = _strict(o, t, x), t + x > o
        right += label == strict
        b_hits += label == strict == _X
        b_said += label == _X
        b_there += strict == _X
        broken_hits += label != _O and is_broken
        broken_said += label != _O
        broken_there += is_broken
        pairs = (
            (shares, said),
            ((o, t + x), (said[0], said[1] + said[2])),
            ((o + t, x), (said[0] + said[1], said[2])),
        )
        for place, (p, q) in enumerate(pairs):
            sums[place] += _divergence(p, q)
            sums[place + 3] += _squared(p, q)
    b = _precision_recall_f(b_hits, b_said, b_there)
    broken = _precision_recall_f(broken_hits, broken_said, broken_there)
    values = (right / len(turns), *b, *broken, *(total / len(turns) for total in sums))
    return dict(zip((*_NAMES, *_DISTANCES), values, strict=True))


def _prepare(folder: Path) -> Callable[[], Results]:
    import numpy as np

    names = ("counts", "labels", "distributions")
    columns: list[Any] = [np.load(folder / f"{name}.npy").tolist() for name in names]
    turns = list(zip(*columns, strict=True))
    return lambda: score(turns)


TASKS = {"scores": _prepare}
