"""Cases: units with what else is known of them when they are judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from lapsus.model import EMPTY, Document, Entry, Scheme, Unit, units
from lapsus.model.targets import target_votes, wanted_units


class Case(NamedTuple):
    """A unit to judge."""

    unit: Unit
    earlier: Mapping[str, float] = EMPTY
    """Under a scheme that goes on from another: the share of votes for each label there, where there are any."""


def document_of(item: Document | Entry) -> Document | None:
    """The document itself, or that of an entry."""
    return item.document if isinstance(item, Entry) else item


def cases_of(item: Document | Entry, scheme: Scheme, *, all_units: bool = False) -> Iterator[Case]:
    """The units of a document that a scheme wants judged, in order; or all, whatever its target says."""
    entry = item if isinstance(item, Entry) else Entry(item.id, item)
    if entry.document is None:
        return
    votes = target_votes(entry, scheme)
    for unit in units(entry.document, scheme.unit) if all_units else wanted_units(entry, scheme):
        counts = votes.get(unit.key)
        total = counts.total() if counts else 0
        yield Case(
            unit, {label: count / total for label, count in counts.items()} if counts and total else EMPTY
        )
