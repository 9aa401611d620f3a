"""A cascade of judges: one judges all, a dearer one what the first doubts, people what the two dispute."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from lapsus.analysis.corpus import Announce, Corpus, choose_scheme, countable_questions
from lapsus.analysis.trust import doubts, load_corpora, people_and_judges, sampled_documents
from lapsus.errors import InputError, UsageError
from lapsus.formats import read
from lapsus.kinds import Kind, kinds_of
from lapsus.model import Entry, Judgment, Scheme, UnitKey, latest
from lapsus.model.judgment import PROGRAM
from lapsus.model.unit import WHOLE

DOUBT = 0.3
"""From which doubt about its least sure answer the next judge is asked."""
CASCADE = "cascade"


class Stage(msgspec.Struct, frozen=True):
    """One stage: whom it asked, about how many units, and what that cost."""

    stage: str
    by: tuple[str, ...]
    asked: int
    """Units that are this stage's to judge."""
    judged: int
    settled: int
    """Units that need no later stage."""
    tokens: int
    seconds: float | None
    """None where some of its judgments do not say how long they took."""


class Cascade(msgspec.Struct, frozen=True):
    """How far a cascade is: its stages, and what is to be done next."""

    scheme: str
    doubt: float
    units: int
    stages: tuple[Stage, ...]
    waits_for: str | None
    """The stage that has still to judge; None where all is settled."""
    waiting: int


class _Judged(NamedTuple):
    """Who said what of each unit."""

    first: dict[UnitKey, Judgment]
    second: dict[UnitKey, Judgment]
    people: dict[UnitKey, list[Judgment]]


def cascade(
    data: Path | str,
    *more: Path | str,
    judges: Sequence[str],
    scheme: str | None = None,
    doubt: float = DOUBT,
    only: str | None = None,
    language: str | None = None,
    announce: Announce = lambda reading: None,
) -> tuple[Cascade, Iterator[Entry]]:
    """How far a cascade is, and the entries for its next step.

    While a stage waits, these are the documents with the units that it has to judge; in the end the documents with
    the cascade's own judgments.
    """
    if not 1 <= len(judges) <= 2:
        raise UsageError("cascade-first-judge-second", hint="judge-twice")
    paths = [data, *more]
    corpus = load_corpora(paths, only=only, language=language, scheme=scheme, announce=announce)
    chosen = choose_scheme([corpus], scheme)
    there = {judges[0], *(judgment.annotator for judgment in corpus.judgments)}
    named = [name for name in judges if name in there]
    who = people_and_judges(corpus, chosen, named, by_name=False, need_people=False)
    said = _said(corpus, chosen, judges, who.people)
    kinds = kinds_of(chosen)
    doubted = {
        unit for unit, judgment in said.first.items() if max(doubts(judgment, kinds), default=0.0) >= doubt
    }
    counted = [kinds[question.id] for question in countable_questions(chosen)]
    disputed = {
        unit
        for unit in doubted
        if unit in said.second and _key(said.first[unit], counted) != _key(said.second[unit], counted)
    }
    stages = _stages(judges, said, doubted, disputed)
    waiting, stage = doubted - said.second.keys(), "second"
    if not waiting:
        waiting, stage = disputed - said.people.keys(), "people"
    told = Cascade(chosen.id, doubt, len(said.first), stages, stage if waiting else None, len(waiting))
    if waiting:
        units: dict[str, dict[str, dict[str, Any]]] = {}
        for document, segment in sorted(waiting, key=lambda unit: unit.segment or WHOLE):
            units.setdefault(document, {})[segment if segment is not None else WHOLE] = {}
        documents = sampled_documents(paths, units, chosen, only, language)
        return told, (Entry(document.id, document) for document in documents)
    return told, _settled(paths, _final(said, disputed, list(kinds.values())), only, language)


def _said(corpus: Corpus, scheme: Scheme, judges: Sequence[str], people: Sequence[str]) -> _Judged:
    first: dict[UnitKey, Judgment] = {}
    second: dict[UnitKey, Judgment] = {}
    others: dict[UnitKey, list[Judgment]] = {}
    known = set(people)
    for judgment in latest(corpus.under(scheme.id)):
        if judgment.annotator == judges[0]:
            first[judgment.unit] = judgment
        elif judgment.annotator in judges[1:]:
            second[judgment.unit] = judgment
        elif judgment.annotator in known:
            others.setdefault(judgment.unit, []).append(judgment)
    if not any(judgment.distributions for judgment in first.values()):
        raise InputError(
            "does-not-say-how", where=corpus.name, hint="begin-judge-gives-shares", judges=judges[0]
        )
    return _Judged(first, second, others)


def _key(judgment: Judgment, kinds: Iterable[Kind]) -> Hashable:
    """Equal for judgments that say the same."""
    return tuple(kind.same_or_none(judgment.answers.get(kind.question.id)) for kind in kinds)


def _stages(
    judges: Sequence[str], said: _Judged, doubted: set[UnitKey], disputed: set[UnitKey]
) -> tuple[Stage, ...]:
    asked = {unit: judgment for unit, judgment in said.second.items() if unit in doubted}
    heard = {unit: judgments for unit, judgments in said.people.items() if unit in disputed}
    by_people = [judgment for judgments in heard.values() for judgment in judgments]
    who = tuple(dict.fromkeys(judgment.annotator for judgment in by_people))
    return (
        Stage("first", (judges[0],), len(said.first), len(said.first), len(said.first) - len(doubted),
              *_cost(said.first.values())),
        Stage("second", tuple(judges[1:]), len(doubted), len(asked), len(asked) - len(disputed),
              *_cost(asked.values())),
        Stage("people", who, len(disputed), len(heard), len(heard), *_cost(by_people)),
    )  # fmt: skip


def _cost(judgments: Iterable[Judgment]) -> tuple[int, float | None]:
    """Tokens and seconds."""
    tokens, taken = 0, []
    for judgment in judgments:
        counted = judgment.metadata.get("tokens")
        tokens += sum(counted.values()) if isinstance(counted, Mapping) else 0
        taken.append(judgment.seconds)
    measured = [seconds for seconds in taken if seconds is not None]
    return tokens, round(sum(measured), 3) if len(measured) == len(taken) else None


def _final(said: _Judged, disputed: set[UnitKey], kinds: Sequence[Kind]) -> dict[UnitKey, Judgment]:
    """The first judge's answers where it is sure or the second says the same; else what most people said."""
    final = {}
    for unit, judgment in said.first.items():
        source, by = judgment, judgment.annotator
        if unit in disputed:
            given = Counter(_key(one, kinds) for one in said.people[unit])
            usual = given.most_common(1)[0][0]
            source = next(one for one in said.people[unit] if _key(one, kinds) == usual)
            by = "people"
        metadata = {PROGRAM: True, "settled_by": by}
        final[unit] = msgspec.structs.replace(source, annotator=CASCADE, revision=1, metadata=metadata)
    return final


def _settled(
    paths: Sequence[Path | str], final: Mapping[UnitKey, Judgment], only: str | None, language: str | None
) -> Iterator[Entry]:
    by_document: dict[str, list[Judgment]] = {}
    for unit, judgment in final.items():
        by_document.setdefault(unit.document, []).append(judgment)
    for path in paths:
        for entry in read(path, only=only, language=language):
            if (judgments := by_document.pop(entry.id, None)) is not None:
                yield Entry(entry.id, entry.document, tuple(judgments))
