"""Marks on words, for every method that makes them: where they end, and from which share on a place is marked."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
import regex
from numpy.typing import NDArray

_SIGNS = regex.compile(r"^[^\p{L}\p{M}\p{N}\p{S}]+|[^\p{L}\p{M}\p{N}\p{S}]+$")
_THRESHOLDS: Final = tuple(np.linspace(0.05, 0.7, 27))
_MOST_MARKS: Final = 1.25
"""How many places are marked for each that a person marks, at most."""


def without_edges(first: str, last: str) -> tuple[int, int]:
    """How many signs to leave out before the first word and after the last; none where a word is nothing but signs."""
    bare = _SIGNS.sub("", first), _SIGNS.sub("", last)
    if not all(bare):
        return 0, 0
    return first.index(bare[0]), len(last) - last.rindex(bare[1]) - len(bare[1])


def best_threshold(
    shares: NDArray[np.float64], target: NDArray[np.float64], tried: Sequence[float] = _THRESHOLDS
) -> float:
    """The share from which to mark that gives the best F1 with people, marking at most a quarter more than they do.

    Where little can be told, F1 alone is best with marks that are mostly wrong. Where no threshold will do, nothing
    that was seen here would be marked.
    """
    best, chosen = 0.0, max(0.5, math.nextafter(float(shares.max(initial=0.0)), math.inf))
    for threshold in tried:
        marks = shares >= threshold
        if marks.sum() > _MOST_MARKS * target.sum():
            continue
        total = float(marks.sum() + target.sum())
        f1 = 2 * float(target[marks].sum()) / total if total else 0.0
        if f1 > best:
            best, chosen = f1, float(threshold)
    return chosen
