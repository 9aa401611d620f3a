"""Which turns a guideline wants judged at all: where it has a target rule, votes that came along choose them."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from lapsus.model.document import Document
from lapsus.model.judgment import Entry, UnitKey, latest
from lapsus.model.scheme import Scheme
from lapsus.model.unit import Unit, units


class Targets(msgspec.Struct, frozen=True):
    """What the votes on a document say about its units."""

    judged: int
    """How many units have votes."""
    chosen: tuple[str | None, ...]
    """The segments of those that are to be judged."""


class Screened(NamedTuple):
    """A document and its targets; None where nothing was voted on, so that all its units are judged."""

    document: Document
    targets: Targets | None = None

    def units(self, scheme: Scheme) -> Iterator[Unit]:
        """The units that are to be judged."""
        for unit in units(self.document, scheme.unit):
            if self.targets is None or unit.key.segment in self.targets.chosen:
                yield unit


def target_votes(entry: Entry, scheme: Scheme) -> dict[UnitKey, Counter[str]]:
    """The votes by which a scheme's target is chosen."""
    votes: dict[UnitKey, Counter[str]] = {}
    if (target := scheme.target) is not None:
        for judgment in latest(j for j in entry.judgments if j.scheme == target.scheme):
            answer = judgment.answers.get(target.question, ())
            labels = answer if isinstance(answer, tuple) else (answer,)
            votes.setdefault(judgment.unit, Counter()).update(str(label) for label in labels)
    return votes


def targets_of(entry: Entry, scheme: Scheme) -> Targets | None:
    """The targets of an entry's document; None where the scheme has no rule or there are no votes."""
    if scheme.target is None or entry.document is None or not (votes := target_votes(entry, scheme)):
        return None
    found = [unit.key for unit in units(entry.document, scheme.unit)]
    voted = [key for key in found if key in votes]
    chosen = tuple(key.segment for key in voted if scheme.target.admits(votes[key]))
    return Targets(len(voted), chosen)


def screened(entries: Iterable[Entry], scheme: Scheme) -> Iterator[Screened]:
    """The documents of some entries, each with its targets."""
    for entry in entries:
        if entry.document is not None:
            yield Screened(entry.document, targets_of(entry, scheme))


def voted_segments(entry: Entry, scheme: str) -> frozenset[str | None] | None:
    """The segments that somebody judged under a scheme; None where nobody did."""
    found = frozenset(judgment.segment for judgment in entry.judgments if judgment.scheme == scheme)
    return found or None


def wanted_units(entry: Entry, scheme: Scheme) -> Iterator[Unit]:
    """The units of a document; where the scheme has a target and the votes for it are there, those that they choose."""
    if entry.document is not None:
        yield from Screened(entry.document, targets_of(entry, scheme)).units(scheme)
