"""Which units of a document a scheme wants judged at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from lapsus.model import Entry, Scheme, Unit, UnitKey, latest, units


def target_votes(entry: Entry, scheme: Scheme) -> dict[UnitKey, Counter[str]]:
    """The votes by which a scheme's target is chosen."""
    votes: dict[UnitKey, Counter[str]] = {}
    if (target := scheme.target) is not None:
        for judgment in latest(j for j in entry.judgments if j.scheme == target.scheme):
            answer = judgment.answers.get(target.question, ())
            labels = answer if isinstance(answer, tuple) else (answer,)
            votes.setdefault(judgment.unit, Counter()).update(str(label) for label in labels)
    return votes


def wanted_units(entry: Entry, scheme: Scheme) -> Iterator[Unit]:
    """The units of a document; where the scheme has a target and the votes for it are there, those that they choose."""
    if entry.document is None:
        return
    target, votes = scheme.target, target_votes(entry, scheme)
    for unit in units(entry.document, scheme.unit):
        if target is None or not votes or target.admits(votes.get(unit.key, Counter())):
            yield unit
