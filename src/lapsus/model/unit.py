"""Units: what is judged, what a judge may see of the document, and which turns a guideline wants judged at all."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from lapsus.errors import InvalidError
from lapsus.model.document import Document, Segment
from lapsus.model.frozen import EMPTY
from lapsus.model.judgment import Entry, UnitKey, latest
from lapsus.model.scheme import Scheme, UnitRule
from lapsus.notices import Notice

SAMPLE = "drawn_units"
"""In a document's metadata: which of its units were drawn to be judged, and what each stands for."""
WHOLE = ""
"""The whole document among the units drawn."""


class Unit(msgspec.Struct, frozen=True):
    """A thing to judge. It holds what may be seen and nothing else, so later turns cannot leak through it."""

    document: str
    language: str | None
    target: Segment | None
    """The segment to judge, or None where the whole document is judged."""
    context: tuple[Segment, ...]
    """What else the judge may see: what came before the target, or the whole document."""

    @property
    def key(self) -> UnitKey:
        """Which unit this is."""
        return UnitKey(self.document, self.target.id if self.target else None)

    @property
    def visible(self) -> tuple[Segment, ...]:
        """All that the judge may see, in order; the target, where it comes last, included."""
        if self.target is None or self.target in self.context:
            return self.context
        return (*self.context, self.target)


def units(document: Document, rule: UnitRule) -> Iterator[Unit]:
    """The units of a document under a scheme's rule, in order; where a sample was drawn, those drawn."""
    drawn = sample_of(document, rule)
    if rule.role == "document":
        if drawn is None or WHOLE in drawn:
            yield Unit(document.id, document.language, None, document.segments)
        return
    for place, segment in enumerate(document.segments):
        if segment.role == rule.role and (drawn is None or segment.id in drawn):
            yield Unit(document.id, document.language, segment, _context(document, place, rule))


def sample_of(document: Document, rule: UnitRule) -> Mapping[str, Mapping[str, Any]] | None:
    """The units that were drawn from a document, by segment, with weight and stratum; None where all are judged."""
    sample = drawn_units(document)
    return sample["units"] if sample.get("role") == rule.role else None


def drawn_units(document: Document) -> Mapping[str, Any]:
    """What a document's metadata says of drawn units: `role` and `units`; empty where it says nothing sound."""
    sample = document.metadata.get(SAMPLE)
    if not isinstance(sample, Mapping) or not isinstance(units := sample.get("units"), Mapping):
        return EMPTY
    return sample if all(isinstance(about, Mapping) for about in units.values()) else EMPTY


def weight_of(about: Mapping[str, Any]) -> float | None:
    """How many units a drawn one stands for; None where that is not said, or makes no sense."""
    weight = about.get("weight")
    is_sound = isinstance(weight, int | float) and math.isfinite(weight) and weight > 0
    return float(weight) if is_sound else None  # type: ignore[arg-type]


def unit(document: Document, rule: UnitRule, segment: str | None) -> Unit:
    """One unit of a document."""
    for candidate in units(document, rule):
        if candidate.key.segment == segment:
            return candidate
    raise InvalidError(
        "segment-not-judged-under",
        where=Notice("document", document=document.id),
        segment=segment,
        role=rule.role,
    )


def visible_part(document: Document, rule: UnitRule, segment: str | None) -> Document:
    """The document as the judge of one of its units sees it."""
    if segment is None or rule.context == "all":
        return document
    for place, target in enumerate(document.segments):
        if target.id == segment:
            visible = (*_context(document, place, rule), target)
            return msgspec.structs.replace(document, segments=visible)
    return document


def _context(document: Document, place: int, rule: UnitRule) -> tuple[Segment, ...]:
    if rule.context == "none":
        return ()
    return document.segments if rule.context == "all" else document.segments[:place]


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
