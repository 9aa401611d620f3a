"""Measures as one writes them, and numbers with all that makes them comparable: measure, interval, signature."""

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

import msgspec
import regex

from lapsus.errors import UsageError
from lapsus.model import EMPTY
from lapsus.notices import Notice
from lapsus.version import __version__

SAME = Notice("everybody-chose-same")
"""Why most coefficients are undefined when they are: without variation there is nothing to agree on."""


LEAST_DRAWN = 10
"""From so many units on a value is a point of a chart."""


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

    @property
    def drawn(self) -> tuple[float | None, float | None, float | None]:
        """Value and bounds for a chart; no value where too few units were compared for a point."""
        low, high = self.interval or (None, None)
        return (self.value if self.n >= LEAST_DRAWN else None), low, high

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


def spread(raters: Any) -> str | None:
    """How many annotators judged a unit, from an array with a number for each, for signatures: `30` or `24-30`."""
    if len(raters) == 0:
        return None
    low, high = int(raters.min()), int(raters.max())
    return str(low) if low == high else f"{low}-{high}"


T = TypeVar("T")

_FORM = regex.compile(
    r"(?P<name>[A-Za-z][\w-]*)\s*(?:\((?P<arguments>[^()]*)\))?\s*(?:@(?P<parameters>.+))?", regex.UNICODE
)
_PARAMETER = regex.compile(r"\s*(?P<key>[A-Za-z]\w*)\s*=\s*(?P<value>[^,=]+?)\s*")


class Measure(NamedTuple):
    """A measure as one writes it: its name, what it is about, and its parameters."""

    name: str
    arguments: tuple[str, ...] = ()
    parameters: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        text = f"{self.name}({','.join(self.arguments)})" if self.arguments else self.name
        if self.parameters:
            text += "@" + ",".join(f"{key}={value}" for key, value in self.parameters)
        return text


def parse_measure(text: str) -> Measure:
    """Read a measure as one writes it."""
    match = _FORM.fullmatch(text.strip())
    if match is None:
        hint = Notice("write-like-f-b")
        raise UsageError("no-measure", hint=hint, text=text)
    arguments = match.group("arguments")
    parameters = []
    for part in (match.group("parameters") or "").split(",") if match.group("parameters") else ():
        pair = _PARAMETER.fullmatch(part)
        if pair is None:
            what = Notice("no-parameter", part=part, group=match.group("name"))
            raise UsageError(what, hint="write-like-t-0")
        parameters.append((pair.group("key"), pair.group("value")))
    return Measure(
        match.group("name"),
        tuple(part.strip() for part in arguments.split(",")) if arguments else (),
        tuple(parameters),
    )


def compute(measure: Measure, function: Callable[..., T], votes: object, **given: object) -> T:
    """Call the function behind a measure: what is in brackets in order, what is after `@` by name.

    `given` are arguments that the caller adds and nobody writes. Where the function takes numbers, what was
    written is read as such.
    """
    takes = inspect.signature(function)
    known = {name: value for name, value in given.items() if name in takes.parameters}
    try:
        bound = takes.bind(votes, *measure.arguments, **known, **dict(measure.parameters))
    except TypeError:
        names = [name for name in takes.parameters if name != "votes" and name not in given]
        what = (
            Notice("only", names=" and ".join(names)) if names else Notice("nothing-brackets-no-parameters")
        )
        raise UsageError(
            "cannot-make-sense", hint="takes", measure=measure, name=measure.name, reason=what
        ) from None
    for name, value in bound.arguments.items():
        kind = type(takes.parameters[name].default)
        if isinstance(value, str) and kind in (int, float):
            bound.arguments[name] = _number(measure, name, value, kind)
    return function(*bound.args, **bound.kwargs)


def _number(measure: Measure, name: str, given: str, kind: type[int] | type[float]) -> int | float:
    try:
        number = kind(given)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise UsageError("of-must-be-a-number-not", name=name, name2=measure.name, given=given)
    return number
