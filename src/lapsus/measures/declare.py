"""Measures are declared apart from the code that computes them: `F(B)@t=0.5` parses and prints back."""

from __future__ import annotations

from typing import NamedTuple

import regex

from lapsus.errors import UsageError

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
        hint = "write it like F(B)@t=0.5, JSD(NB,PB+B) or alpha(ordinal)"
        raise UsageError(f"{text!r} is no measure", hint=hint)
    arguments = match.group("arguments")
    parameters = []
    for part in (match.group("parameters") or "").split(",") if match.group("parameters") else ():
        pair = _PARAMETER.fullmatch(part)
        if pair is None:
            what = f"{part!r} is no parameter of {match.group('name')!r}"
            raise UsageError(what, hint="write it like t=0.5")
        parameters.append((pair.group("key"), pair.group("value")))
    return Measure(
        match.group("name"),
        tuple(part.strip() for part in arguments.split(",")) if arguments else (),
        tuple(parameters),
    )
