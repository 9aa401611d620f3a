"""How far the fitting is."""

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[int, int], None]
"""Told how many steps are done, and of how many."""


def unwatched(done: int, total: int) -> None:
    """Progress that nobody looks at."""


def part_of(progress: Progress, start: float, end: float) -> Progress:
    """Progress of one part of the work: from `start` to `end`, which are shares of the whole."""

    def tell(done: int, total: int) -> None:
        progress(round(1000 * (start + (end - start) * done / max(total, 1))), 1000)

    return tell
