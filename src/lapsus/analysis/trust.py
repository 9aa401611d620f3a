"""From files to what can be said of judges: `lapsus trust`."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from lapsus.analysis.corpus import (
    Announce,
    Corpus,
    DocumentFacts,
    choose_scheme,
    countable_questions,
    known_schemes,
    load_corpus,
)
from lapsus.errors import InputError, UsageError
from lapsus.formats import read
from lapsus.kinds import Kind
from lapsus.measures.score import Interval, Score
from lapsus.model import ANONYMOUS, Document, Judgment, Scheme
from lapsus.model.judgment import GOLD, learned_from
from lapsus.model.unit import SAMPLE, WHOLE
from lapsus.notices import Notice
from lapsus.registry import did_you_mean
from lapsus.reports import Table
from lapsus.reports.table import Cell
from lapsus.schemes import AnyScheme, given_schemes
from lapsus.schemes.library import Spelling
from lapsus.trust.alternative_test import EPSILONS, LEAST_UNITS
from lapsus.trust.ranking import USUAL_EPSILON, PeopleAndJudges, Standing, standings, without_verdict

EPSILONS_SAID = "ε is by how much a judge may do worse than a person, for what it saves: " + ", ".join(
    f"{epsilon:g} beside {people}" for epsilon, people in EPSILONS.items()
)
COLUMNS = (
    "judge", "advantage", "winning rate", "clustered", "passes", "agreement", "people's own", "people", "units",
    "settled by",
)  # fmt: skip


def rank_judges(
    data: Path | str,
    *more: Path | str,
    judges: Sequence[str] = (),
    scheme: AnyScheme | None = None,
    questions: Sequence[str] = (),
    epsilon: float = USUAL_EPSILON,
    least_units: int = LEAST_UNITS,
    jury: bool = False,
    only: str | None = None,
    language: str | None = None,
    announce: Announce = lambda reading: None,
) -> Table:
    """The alternative annotator test of every judge on every question, with floors and people's own agreement.

    `judges` names annotators who do not count as people; without it, whoever left a program's judgments. With `jury`
    there is also a row for all of them as one.
    """
    corpus = load_corpora([data, *more], only=only, language=language, scheme=scheme, announce=announce)
    chosen = choose_scheme([corpus], scheme)
    found = all_standings(
        corpus, chosen, judges, questions=questions, epsilon=epsilon, least_units=least_units, jury=jury
    )
    several = len({one.question for one in found}) > 1
    rows = tuple(_row(one, several) for one in found)
    verdicts = [
        Notice("prefixed", name=f"{one.question}: {one.judge}" if several else one.judge, text=one.verdict)
        for one in found
        if not one.floor
    ]
    notes = (
        *verdicts,
        Notice("passes-plain-test-published", epsilon=epsilon),
        EPSILONS_SAID,
        *(said for one in found if (said := _rates_said(one, several))),
        *dict.fromkeys(one.signature for one in found),
        *corpus.version_warnings(chosen),
        *(
            Notice("warning", text=told)
            for told in learned_warnings(corpus, chosen, people_and_judges(corpus, chosen, judges))
        ),
    )
    return Table(COLUMNS, rows, notes=notes, data=found)


def _rates_said(one: Standing, several: bool) -> str | None:
    """Sensitivity and specificity of each label, in one line."""
    rates = [
        f"{rate.label} {_share(rate.sensitivity)} / {_share(rate.specificity)}"
        for rate in one.rates
        if rate.n
    ]
    who = f"{one.question}: {one.judge}" if several else one.judge
    return (
        Notice("sensitivity-specificity-n", who=who, rates=", ".join(rates), n=one.rates[0].n)
        if rates
        else None
    )


def _share(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.2f}"


def all_standings(
    corpus: Corpus,
    scheme: Scheme,
    judges: Sequence[str] = (),
    *,
    questions: Sequence[str] = (),
    epsilon: float = USUAL_EPSILON,
    least_units: int = LEAST_UNITS,
    jury: bool = False,
) -> list[Standing]:
    """Where each judge stands, question by question."""
    found: list[Standing] = []
    who = people_and_judges(corpus, scheme, judges)
    corpus = only_drawn(corpus, scheme, who.people)
    for question in countable_questions(scheme, questions):
        votes = corpus.votes(scheme, question)
        here = PeopleAndJudges(*(tuple(name for name in names if name in votes.annotators) for names in who))
        if here.judges:
            found += standings(
                question.id, votes, here, epsilon=epsilon, least_units=least_units, with_jury=jury
            )
    learned = learned_documents(corpus, scheme, who)
    return [
        without_verdict(one, learned[one.judge].learned) if one.judge in learned else one for one in found
    ]


def load_corpora(
    paths: Sequence[Path | str],
    *,
    only: str | None = None,
    language: str | None = None,
    scheme: AnyScheme | None = None,
    announce: Announce = lambda reading: None,
) -> Corpus:
    """Several sources about the same documents as one: people's judgments in one file, a judge's in another."""
    parts = [
        load_corpus(path, only=only, language=language, scheme=scheme, announce=announce) for path in paths
    ]
    if len(parts) == 1:
        return parts[0]
    documents: dict[str, DocumentFacts] = {}
    for part in parts:
        # A drawn sample is said in one of the files only, and holds wherever the document stands.
        for id, facts in part.documents.items():
            if not (id in documents and documents[id].sample):
                documents[id] = facts
    judgments = list(dict.fromkeys(judgment for part in parts for judgment in part.judgments))
    # A file of judgments alone does not say where the elements of a triple are; another one does.
    texts = {id: text for part in parts for id, text in part.texts.items()}
    with given_schemes(known_schemes(scheme)):
        spelling = Spelling()
        judgments = [spelling.judgment(one, texts.get(one.document)) for one in judgments]
    return Corpus(parts[0].name, documents, judgments, texts)


def sampled_documents(
    paths: Sequence[Path | str],
    sample: Mapping[str, Mapping[str, Mapping[str, Any]]],
    scheme: Scheme,
    only: str | None,
    language: str | None,
) -> Iterator[Document]:
    """The documents that units were drawn from, with the sample in their metadata."""
    left = dict(sample)
    for path in paths:
        for entry in read(path, only=only, language=language):
            if entry.document is not None and (drawn := left.pop(entry.id, None)) is not None:
                metadata = {**entry.document.metadata, SAMPLE: {"role": scheme.unit.role, "units": drawn}}
                yield msgspec.structs.replace(entry.document, metadata=metadata)


def people_and_judges(
    corpus: Corpus,
    scheme: Scheme,
    named: Sequence[str] = (),
    *,
    by_name: bool = True,
    need_people: bool = True,
    need_judges: bool = True,
) -> PeopleAndJudges:
    """Who is a judge and who a person. Programs and gold never count as people.

    `by_name`: people must be told apart from unit to unit.
    """
    judgments = corpus.under(scheme.id)
    everybody = list(dict.fromkeys(judgment.annotator for judgment in judgments))
    programs = {judgment.annotator for judgment in judgments if judgment.by_program}
    gold = {judgment.annotator for judgment in judgments if GOLD in judgment.metadata}
    for name in named:
        if name not in everybody:
            raise UsageError("nobody-called", hint=did_you_mean(name, everybody), name=name)
    judges = list(dict.fromkeys(named)) or [name for name in everybody if name in programs - gold]
    if need_judges and not judges:
        raise _no_judge(everybody)
    people = [name for name in everybody if name not in {*judges, *programs, *gold}]
    if by_name and need_people and any(name.startswith(ANONYMOUS) for name in people):
        raise InputError("people-no-names-nobody", where=corpus.name, hint="use-data-says-who")
    if need_people and not people:
        raise InputError("no-judgments-people-compare", where=corpus.name)
    return PeopleAndJudges(tuple(people), tuple(judges))


def _no_judge(everybody: Sequence[str]) -> UsageError:
    some = ", ".join(everybody[:10])
    return UsageError("annotators-judge-no-programs", hint="lapsus-export-campaign-out", some=some)


def only_drawn(corpus: Corpus, scheme: Scheme, people: Sequence[str]) -> Corpus:
    """Where a sample was drawn, without what people said of other units: it is no random part of them."""
    samples = {
        id: facts.sample
        for id, facts in corpus.documents.items()
        if facts.sample.get("role") == scheme.unit.role
    }
    if not samples:
        return corpus
    known = set(people)
    kept = [
        judgment
        for judgment in corpus.judgments
        if judgment.annotator not in known
        or (judgment.segment or WHOLE) in samples.get(judgment.document, {}).get("units", {})
    ]
    return Corpus(corpus.name, corpus.documents, kept)


def doubts(judgment: Judgment, kinds: Mapping[str, Kind]) -> list[float]:
    """How much a judge doubts each of its answers, where it gave shares. `kinds`: the scheme's, by question."""
    return [
        kinds[question].doubt(shares)
        for question, shares in judgment.distributions.items()
        if shares and question in kinds
    ]


def _row(one: Standing, several: bool) -> tuple[Cell, ...]:
    interval = None if one.advantage_low is None else Interval(one.advantage_low, one.advantage_high or 0.0)
    rank = f"{one.rank}. " if one.rank else ""
    name = f"{one.question}: {rank}{one.judge}" if several else f"{rank}{one.judge}"
    return (
        name,
        Score("advantage", one.advantage, one.units, interval),
        one.winning_rate,
        one.clustered["winning_rate"],
        "-" if one.passes is None else "yes" if one.passes else "no",
        one.judge_agreement,
        one.people_agreement,
        one.people,
        one.units,
        _settled(one),
    )


def _settled(one: Standing) -> str:
    if one.passes is None:
        return "-"
    if one.more_units is None:
        return "too many"
    return "is settled" if one.more_units == 0 else f"{one.more_units:,} more a person"


class Learned(NamedTuple):
    """Of the documents that a judge and people judged, how many the judge says it learned from."""

    learned: int
    documents: int


def learned_documents(corpus: Corpus, scheme: Scheme, who: PeopleAndJudges) -> dict[str, Learned]:
    """For each judge that learned from documents it is compared on."""
    people, judges = set(who.people), set(who.judges)
    judgments = corpus.under(scheme.id)
    judged = {one.document for one in judgments if one.annotator in people}
    seen: dict[str, dict[str, bool]] = {}
    for one in judgments:
        if one.annotator in judges and one.document in judged:
            own = seen.setdefault(one.annotator, {})
            own[one.document] = own.get(one.document, False) or learned_from(one)
    return {name: Learned(sum(own.values()), len(own)) for name, own in seen.items() if any(own.values())}


def learned_warnings(corpus: Corpus, scheme: Scheme, who: PeopleAndJudges) -> list[str]:
    """The same in words."""
    return [learned_words(name, one) for name, one in learned_documents(corpus, scheme, who).items()]


def learned_words(name: str, found: Learned) -> str:
    """What that means for a judge's figures, and what to do."""
    return Notice(
        "learned-documents-figures-too", name=name, learned=found.learned, documents=found.documents
    )
