"""What a judge learns from: the documents that are drawn, what people said of them, and where that came from."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
import numpy as np

from lapsus.annotators.cases import Case
from lapsus.annotators.judge.given_answers import GivenAnswers, given_answers
from lapsus.annotators.training_examples import Origin
from lapsus.errors import InputError
from lapsus.kinds import kinds_of
from lapsus.kinds.votes import marks_in
from lapsus.model import Scheme, UnitKey
from lapsus.model.votes import SpanVotes, Votes

LEAST: Final = 5
"""Documents that it takes at least: with fewer nothing can be said of how well it was learned."""
TUNED: Final = 0.6
"""The share of documents that an encoder is tuned with; the regression learns from the others."""


def drawn_cases(cases: Sequence[Case], most: int, seed: int) -> Sequence[Case]:
    """The cases, or those of some documents where there are more than can be held at once."""
    sizes = Counter(case.unit.document for case in cases)
    documents = list(sizes)
    if len(documents) < LEAST:
        count = f"{len(documents)} judged document{'' if len(documents) == 1 else 's'}"
        raise InputError(
            f"too little to learn from: {count}" if documents else "there is no judged unit to learn from",
            hint=f"a judge needs {LEAST} at least, better 50: it is checked on documents that it did not see",
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
) -> dict[str, GivenAnswers]:
    """What people answered to each question that can be learned, where they answered enough."""
    found = {
        id: given_answers(kind, votes[id], units)
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


def origin_of(
    scheme: Scheme,
    cases: Sequence[Case],
    given: Mapping[str, GivenAnswers],
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
    return Origin(
        version=scheme.version,
        documents=len({case.unit.document for case in cases}),
        units=len(cases),
        votes=people,
        digest=hashed.hexdigest(),
        languages=tuple(languages),
        words={},
    )
