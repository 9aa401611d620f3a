"""What a judge learns from: the documents that are drawn, what people answered there, and where that came from."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Self, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.cases import Case, Origin, origin_of
from lapsus.errors import InputError
from lapsus.kinds import Kind, kinds_of
from lapsus.kinds.votes import marks_in
from lapsus.model import Answer, Scheme, UnitKey
from lapsus.model.votes import SpanVotes, Votes
from lapsus.notices import Notice

Matrix: TypeAlias = NDArray[np.float64]

LEAST: Final = 5
"""Documents that it takes at least: with fewer nothing can be said of how well it was learned."""
TUNED: Final = 0.6
"""The share of documents that an encoder is tuned with; the regression learns from the others."""


@dataclass(frozen=True)
class PeopleAnswers:
    """The answers to one question. A row is a unit that somebody answered it for."""

    kind: Kind
    rows: NDArray[np.intp]
    """Which of all units each row is."""
    groups: NDArray[np.intp]
    """Which document each row is of."""
    shares: Matrix
    """The share of people who gave each of the kind's choices."""
    answers: tuple[Answer, ...]
    """All different answers that were given."""
    counts: Matrix
    """How often each of them was given: a row a unit, a column an answer."""

    def __len__(self) -> int:
        return len(self.rows)

    def where(self, kept: NDArray[np.bool_]) -> Self:
        """Those of some rows."""
        return replace(
            self,
            rows=self.rows[kept],
            groups=self.groups[kept],
            shares=self.shares[kept],
            counts=self.counts[kept],
        )


def people_answers(kind: Kind, votes: Votes, units: Sequence[UnitKey]) -> PeopleAnswers:
    """The answers to one question on some units."""
    place = {unit: row for row, unit in enumerate(votes.units)}
    found: dict[Any, int] = {}
    answers: list[Answer] = []
    rows: list[int] = []
    tallies: list[dict[int, int]] = []
    for number, unit in enumerate(units):
        if unit not in place:
            continue
        tally: dict[int, int] = {}
        for answer in kind.of_unit(votes, place[unit]):
            code = found.setdefault(kind.same(answer), len(answers))
            if code == len(answers):
                answers.append(answer)
            tally[code] = tally.get(code, 0) + 1
        if tally:
            rows.append(number)
            tallies.append(tally)
    counts = np.zeros((len(rows), len(answers)))
    for row, tally in zip(counts, tallies, strict=True):
        row[list(tally)] = list(tally.values())
    kept = np.array([place[units[row]] for row in rows], dtype=np.intp)
    documents: dict[str, int] = {}
    groups = [documents.setdefault(units[row].document, len(documents)) for row in rows]
    return PeopleAnswers(
        kind,
        np.array(rows, dtype=np.intp),
        np.array(groups, dtype=np.intp),
        kind.shares(votes)[kept],
        tuple(answers),
        counts,
    )


def left_open(given: Mapping[str, PeopleAnswers], units: int) -> dict[str, Matrix]:
    """For each question and unit the share of people who judged the unit and left the question open.

    Who judged a unit is not counted but taken from the question that most people answered.
    """
    answered = {}
    for id, one in given.items():
        answered[id] = np.zeros(units)
        answered[id][one.rows] = one.counts.sum(axis=1)
    most = np.maximum(1, np.max(list(answered.values()), axis=0))
    return {id: 1 - count / most for id, count in answered.items()}


def drawn_cases(cases: Sequence[Case], most: int, seed: int) -> Sequence[Case]:
    """The cases, or those of some documents where there are more than can be held at once."""
    sizes = Counter(case.unit.document for case in cases)
    documents = list(sizes)
    if len(documents) < LEAST:
        count = f"{len(documents)} judged document{'' if len(documents) == 1 else 's'}"
        raise InputError(
            Notice("too-little-learn", count=count) if documents else Notice("no-judged-unit-learn"),
            hint="judge-needs-least-better",
            least=LEAST,
        )
    if len(cases) <= most:
        return cases
    kept: set[str] = set()
    room = most
    for place in np.random.default_rng(seed).permutation(len(documents)).tolist():
        room -= sizes[documents[place]]
        if room < 0 and len(kept) >= LEAST:
            break
        kept.add(documents[place])
    return [case for case in cases if case.unit.document in kept]


def parted_for_tuning(cases: Sequence[Case], seed: int) -> tuple[list[Case], list[Case]]:
    """Cases to tune an encoder with, and others, by document."""
    names = list(dict.fromkeys(case.unit.document for case in cases))
    kept = np.random.default_rng(seed).permutation(len(names))[: round(TUNED * len(names))]
    chosen = {names[place] for place in kept.tolist()}
    return (
        [case for case in cases if case.unit.document in chosen],
        [case for case in cases if case.unit.document not in chosen],
    )


def learnable_answers(
    scheme: Scheme, votes: Mapping[str, Votes], units: Sequence[UnitKey]
) -> dict[str, PeopleAnswers]:
    """What people answered to each question that can be learned, where they answered enough."""
    found = {
        id: people_answers(kind, votes[id], units)
        for id, kind in kinds_of(scheme).items()
        if kind.choices and not kind.on_text and id in votes
    }
    return {id: one for id, one in found.items() if len(np.unique(one.groups)) >= LEAST}


def learnable_marks(
    scheme: Scheme, votes: Mapping[str, Votes], cases: Sequence[Case]
) -> dict[str, SpanVotes]:
    """The marks of people on each question of kind spans, where they answered enough."""
    found = {}
    for id, kind in kinds_of(scheme).items():
        given = marks_in(votes.get(id))
        if kind.on_text and given is not None:
            answered = {
                unit
                for unit, said in zip(given.units, given.spans, strict=True)
                if any(one is not None for one in said)
            }
            known = {case.unit.document for case in cases if case.unit.key in answered}
            if len(known) >= LEAST:
                found[id] = given
    return found


def origin_of_answers(
    scheme: Scheme,
    cases: Sequence[Case],
    given: Mapping[str, PeopleAnswers],
    marks: Mapping[str, SpanVotes],
    languages: Sequence[str],
) -> Origin:
    """What a model says of where it learned."""
    hashed = hashlib.blake2b(digest_size=12)
    for case in cases:
        texts = [segment.text for segment in case.unit.visible[-2:]]
        hashed.update(msgspec.json.encode([case.unit.document, case.unit.key.segment, texts]))
    for one in given.values():
        hashed.update(one.shares.tobytes())
    people = int(sum(one.counts.sum() for one in given.values()))
    for votes in marks.values():
        hashed.update(msgspec.json.encode(votes.spans))
        people += sum(spans is not None for said in votes.spans for spans in said)
    return origin_of(scheme, (case.unit for case in cases), people, hashed.hexdigest(), languages)
