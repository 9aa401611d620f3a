"""Bounds of parameters: what lies outside is said when a method is made, not when it fails."""

import math
from collections.abc import Sequence

from lapsus.errors import UsageError
from lapsus.registry import did_you_mean


def need_at_least(least: float, **given: float) -> None:
    """Complain about the first parameter that is below, endless, or no number."""
    for name, value in given.items():
        if not least <= value < math.inf:
            raise UsageError("least-not", name=name, least=least, value=value)


def need_above_zero(**given: float) -> None:
    """Complain about the first parameter that is zero, below it, endless, or no number."""
    for name, value in given.items():
        if not 0 < value < math.inf:
            raise UsageError("above-0-not", name=name, value=value)


def need_share(**given: float) -> None:
    """Complain about the first parameter that is not from 0 to 1."""
    for name, value in given.items():
        if not 0 <= value <= 1:
            raise UsageError("0-1-not", name=name, value=value)


def one_or_more(kind: str, text: str, known: Sequence[str]) -> tuple[str, ...]:
    """The names of a list with commas between, each once. Complain about one that is not known, and about none."""
    names = tuple(dict.fromkeys(name for part in text.split(",") if (name := part.strip())))
    for name in names:
        if name not in known:
            raise UsageError("no-called", hint=did_you_mean(name, list(known)), kind=kind, name=name)
    if not names:
        raise UsageError("least-one-needed", hint="known", kind=kind, known=", ".join(known))
    return names
