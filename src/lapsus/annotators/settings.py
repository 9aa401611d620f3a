"""Bounds of parameters: what lies outside is said when a method is made, not when it fails."""

from __future__ import annotations

import math

from lapsus.errors import UsageError


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
