"""Named things that come from Lapsus itself or, through entry points, from other packages.

Nothing is imported until it is asked for by name, so that a listing or a mistyped name costs no heavy import.
"""

import difflib
import importlib
from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar

from lapsus.errors import UsageError
from lapsus.notices import Notice, notice

T = TypeVar("T")


def did_you_mean(name: str, names: list[str]) -> str:
    """Say which of the names comes closest, and list them all."""
    by_lower = {candidate.lower(): candidate for candidate in names}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.5)
    known = ", ".join(names)
    return (
        Notice("did-you-mean-known", by_lower=by_lower[close[0]], known=known)
        if close
        else Notice("known", known=known)
    )


def points_of(group: str) -> dict[str, EntryPoint]:
    """What other packages offer in a group of entry points, by name."""
    # Looked up once for each place to look: going through all that is installed takes milliseconds.
    key = entry_points, group
    if key not in _points:
        _points[key] = {point.name: point for point in entry_points(group=group)}
    return _points[key]


_points: dict[tuple[object, str], dict[str, EntryPoint]] = {}


class Registry(Generic[T]):
    """Things of one kind by name: own ones as `module:attribute`, others' by entry point."""

    def __init__(self, kind: str, group: str, own: Mapping[str, str]) -> None:
        self.kind = kind
        self.group = group
        self._own = dict(own)
        self._loaded: dict[str, T] = {}

    def names(self) -> list[str]:
        """Every known name, our own first."""
        return [*self._own, *sorted(points_of(self.group).keys() - self._own.keys())]

    def get(self, name: str) -> T:
        """Load the thing of that name, or say which name may have been meant."""
        if name not in self._loaded:
            if name in self._own:
                module, _, attribute = self._own[name].partition(":")
                self._loaded[name] = getattr(importlib.import_module(module), attribute)
            elif name in (foreign := points_of(self.group)):
                self._loaded[name] = foreign[name].load()
            else:
                raise UsageError(
                    "no-called", hint=did_you_mean(name, self.names()), kind=notice(self.kind, {}), name=name
                )
        return self._loaded[name]

    def __iter__(self) -> Iterator[T]:
        return (self.get(name) for name in self.names())
