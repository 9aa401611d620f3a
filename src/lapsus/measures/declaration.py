"""Measures are declared apart from the code that computes them: `F(B)@t=0.5` parses and prints back."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import regex

from lapsus.errors import UsageError
from lapsus.notices import Notice

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

    def parameter(self, key: str, default: str) -> str:
        """The value of a parameter."""
        return dict(self.parameters).get(key, default)


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
