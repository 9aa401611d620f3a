"""A number with all that makes it comparable: its measure, its interval, its signature."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from lapsus.model import EMPTY
from lapsus.notices import Notice
from lapsus.version import __version__

SAME = Notice("everybody-chose-same")
"""Why most coefficients are undefined when they are: without variation there is nothing to agree on."""


class Interval(NamedTuple):
    """Where the value would lie in most other samples like this one."""

    low: float
    high: float


class Score(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a measure gave. `value` is None where the measure is undefined, and `note` says why."""

    measure: str
    value: float | None
    n: int
    interval: Interval | None = None
    note: str | None = None
    signature: str = ""
    details: Mapping[str, Any] = EMPTY
    """Per-label or per-annotator values and other things that a report may want."""

    def __post_init__(self) -> None:
        if self.value is not None and not math.isfinite(self.value):
            msgspec.structs.force_setattr(self, "value", None)
        if self.interval is not None and not all(map(math.isfinite, self.interval)):
            msgspec.structs.force_setattr(self, "interval", None)

    def __float__(self) -> float:
        return math.nan if self.value is None else self.value

    def __str__(self) -> str:
        if self.value is None:
            return f"{self.measure} n/a: {self.note}" if self.note else f"{self.measure} n/a"
        text = f"{self.measure} {shown(self.value)}"
        return f"{text} [{', '.join(map(shown, self.interval))}]" if self.interval else text


def shown(value: float, places: int = 3) -> str:
    """A number as tables and charts write it; what rounds to nothing has no sign."""
    text = f"{value:.{places}f}"
    return text.removeprefix("-") if not text.strip("-0.") else text


def signature(**parts: object) -> str:
    """One line that makes two papers' numbers comparable: `t:0|ties:O>T>X|…|lapsus:0.1.0`."""
    given = {key: value for key, value in parts.items() if value is not None}
    return "|".join(f"{key}:{_plain(value)}" for key, value in {**given, "lapsus": __version__}.items())


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
