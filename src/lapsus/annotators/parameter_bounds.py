"""Bounds of parameters: what lies outside is said when a method is made, not when it fails."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lapsus.errors import UsageError
from lapsus.registry import did_you_mean


def need_at_least(least: float, **given: float) -> None:
    """Complain about the first parameter that is below, endless, or no number."""
    for name, value in given.items():
        if not least <= value < math.inf:
            raise UsageError(f"{name!r} is at least {least:g}, not {value:g}")


def need_above_zero(**given: float) -> None:
    """Complain about the first parameter that is zero, below it, endless, or no number."""
    for name, value in given.items():
        if not 0 < value < math.inf:
            raise UsageError(f"{name!r} is above 0, not {value:g}")


def need_share(**given: float) -> None:
    """Complain about the first parameter that is not from 0 to 1."""
    for name, value in given.items():
        if not 0 <= value <= 1:
            raise UsageError(f"{name!r} is from 0 to 1, not {value:g}")


def one_or_more(kind: str, text: str, known: Sequence[str]) -> tuple[str, ...]:
    """The names of a list with commas between, each once. Complain about one that is not known, and about none."""
    names = tuple(dict.fromkeys(name for part in text.split(",") if (name := part.strip())))
    for name in names:
        if name not in known:
            raise UsageError(f"no {kind} is called {name!r}", hint=did_you_mean(name, list(known)))
    if not names:
        raise UsageError(f"at least one {kind} is needed", hint=f"known: {', '.join(known)}")
    return names
