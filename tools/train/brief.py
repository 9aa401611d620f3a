"""Trainings in brief: a handful of steps on a handful of examples, to see on a processor that all of a command runs.

`everything.py --steps N` asks for it. Needs nothing but Python, as the trainings that run where Lapsus is not.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

VARIABLE: Final = "LAPSUS_TRAIN_STEPS"
STEPS: Final = int(os.environ.get(VARIABLE, "0"))
"""How many steps a network takes at most; 0: as many as it should."""
_FEW: Final = 12
Item = TypeVar("Item")


def steps(count: int) -> int:
    """So many steps; in brief at most those asked for."""
    return least(count, STEPS)


def least(count: int, brief: int) -> int:
    """A number; in brief at most another."""
    return min(count, brief) if STEPS else count


def seconds(count: float) -> float:
    """So long; in brief without end, for steps end it."""
    return math.inf if STEPS else count


def few(items: Iterable[Item], most: int = _FEW) -> Iterable[Item]:
    """All of them; in brief so many at most, from beginning to end."""
    if not STEPS:
        return items
    found = list(items)
    return found[:: max(1, math.ceil(len(found) / most))]


def settings(path: Path, is_brief: bool = bool(STEPS)) -> dict[str, Any]:
    """What a configuration says; in brief its part `brief` laid over the rest."""
    import yaml

    found: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    over = found.pop("brief")
    return _laid_over(found, over) if is_brief else found


def _laid_over(found: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _laid_over(value, over[name])
        if isinstance(value, Mapping) and name in over
        else over.get(name, value)
        for name, value in found.items()
    }
