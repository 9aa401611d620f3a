"""Gold: votes put together within the guideline, written as the judgments of one more annotator."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from lapsus.analysis.corpus import (
    Announce,
    broken_counts,
    broken_notes,
    choose_scheme,
    countable_questions,
    load_corpus,
    signed_without,
)
from lapsus.errors import UsageError
from lapsus.formats import read
from lapsus.kinds import Kind, kind_of
from lapsus.language import tokens
from lapsus.measures.gold import METHODS, Gold, make_gold
from lapsus.measures.gold.spans import POSTERIORS, Words
from lapsus.measures.score import parse_measure
from lapsus.model import Answer, Document, Entry, Judgment, Question, Scheme, UnitKey
from lapsus.model.judgment import GOLD
from lapsus.model.votes import Votes
from lapsus.registry import did_you_mean
from lapsus.schemes import AnyScheme, asked_answers

USUAL_METHOD = "majority"
ANNOTATOR = "gold"
HALF = 0.5
"""The share of annotators that an answer needs unless told otherwise."""


class Made(NamedTuple):
    """The gold of each question, and what is to be said of judgments that break the guideline."""

    scheme: Scheme
    gold: dict[str, Gold]
    broken: int
    notes: list[str]


def gold(
    data: Any,
    *,
    method: str = "majority",
    threshold: float | None = None,
    scheme: AnyScheme | None = None,
    questions: Sequence[str] = (),
    only: str | None = None,
    drop_broken: bool = False,
    announce: Announce = lambda reading: None,
) -> dict[str, Gold]:
    """The gold of every question that was answered, by the question's id."""
    return gold_entries(data, method, threshold, scheme, questions, only, drop_broken, announce)[0].gold


def gold_entries(
    data: Any,
    method: str = "majority",
    threshold: float | None = None,
    scheme: AnyScheme | None = None,
    questions: Sequence[str] = (),
    only: str | None = None,
    drop_broken: bool = False,
    announce: Announce = lambda reading: None,
) -> tuple[Made, Iterator[Entry]]:
    """The gold, and the documents with the gold as their only judgments."""
    corpus = load_corpus(data, only=only, scheme=scheme, drop_broken=drop_broken, announce=announce)
    chosen = choose_scheme([corpus], scheme)
    asked = {q.id: (q, corpus.votes(chosen, q)) for q in countable_questions(chosen, questions)}
    ways = ways_to([question for question, votes in asked.values() if votes.units], method, threshold)
    found = {
        id: settled_gold(way, kind_of(asked[id][0], chosen), asked[id][1], corpus.texts.get)
        for id, way in ways.items()
    }
    broken = broken_counts([corpus], chosen)
    if drop_broken:
        found = {
            id: replace(made, signature=signed_without(made.signature, broken)) for id, made in found.items()
        }
    made = Made(chosen, found, broken, broken_notes([corpus], chosen))
    return made, _with_documents(data, only, gold_judgments(chosen, found))


def settled_gold(
    way: str, kind: Kind, votes: Votes, document: Callable[[str], Document | None] = lambda name: None
) -> Gold:
    """Gold by a method as one writes it, of answers that the guideline allows; what has none is undecided.

    `document` finds a document by its name, for answers that stand on its text.
    """
    made = make_gold(way, votes, words=words_of(kind, document), **kind.gold_options)
    if made.answers is None:
        stands = make_gold(kind.typical_method, votes, **kind.gold_options)
        made = replace(made, answers=stands.answers)
    if made.distributions is None and kind.choices:
        made = replace(made, labels=kind.choices, distributions=kind.shares(votes))
    parameters = dict(parse_measure(way).parameters)
    share = next((float(parameters[name]) for name in kind.thresholds.values() if name in parameters), HALF)
    answers = kind.settled_all(made.answers or (), made.distributions, votes, share, document)
    undecided = tuple(
        unit
        for row, (unit, answer) in enumerate(zip(made.units, answers, strict=True))
        if answer is None and kind.of_unit(votes, row)
    )
    return replace(made, answers=tuple(answers), undecided=undecided)


def words_of(kind: Kind, document: Callable[[str], Document | None]) -> Words:
    """The words of a unit on which a label of marks may stand; none where its text is not at hand."""
    roles = {label.id: label.on for label in kind.labels}

    @lru_cache(maxsize=8)
    def of(name: str) -> tuple[tuple[str, str, int, int], ...]:
        found = document(name)
        if found is None:
            return ()
        return tuple(
            (segment.id, segment.role, word.start, word.end)
            for segment in found.segments
            for word in tokens(segment.text, found.language)
        )

    def words(unit: UnitKey, label: str) -> list[tuple[str, int, int]]:
        return [
            (segment, start, end)
            for segment, role, start, end in of(unit.document)
            if roles.get(label) in (None, role) and unit.segment in (None, segment)
        ]

    return words


def ways_to(questions: Sequence[Question], method: str, threshold: float | None = None) -> dict[str, str]:
    """How the answers to each question are put together: by the method asked for where it is made for them."""
    name = parse_measure(method).name.replace("-", "_")
    if name not in METHODS.names():
        known = [known.replace("_", "-") for known in METHODS.names()]
        raise UsageError("no-method-called", hint=did_you_mean(method, known), method=method)
    kinds = [kind_of(question) for question in questions]
    if kinds and method != USUAL_METHOD and not any(name in kind.gold_methods for kind in kinds):
        better = " or ".join(sorted({kind.gold_methods[0] for kind in kinds})).replace("_", "-")
        raise UsageError("not-made-answers", hint="use", method=method, better=better)
    ways = {kind.question.id: method if name in kind.gold_methods else kind.gold_methods[0] for kind in kinds}
    if threshold is None:
        return ways
    taking = {
        kind.question.id: kind.thresholds.get(ways[kind.question.id].replace("-", "_")) for kind in kinds
    }
    if ways and not any(taking.values()):
        raise UsageError("takes-no-threshold", hint="majority-does-several-labels", method=method)
    return {id: f"{way}@{taking[id]}={threshold}" if taking[id] else way for id, way in ways.items()}


def gold_judgments(scheme: Scheme, found: Mapping[str, Gold]) -> dict[str, list[Judgment]]:
    """One judgment a unit, with the answers that were decided, question by question, and how they were made.

    A question on which the unit is undecided is left open: its shares go along, an answer does not. A unit on which
    nothing is decided has no judgment.
    """
    answers: dict[UnitKey, dict[str, Answer]] = {}
    shares: dict[UnitKey, dict[str, dict[str, float]]] = {}
    for question, made in found.items():
        for unit, answer in made.by_unit().items():
            answers.setdefault(unit, {})[question] = answer
        if made.distributions is not None:
            for unit, row in zip(made.units, made.distributions.tolist(), strict=True):
                if not any(map(math.isnan, row)):
                    shares.setdefault(unit, {})[question] = dict(zip(made.labels, row, strict=True))
    signatures = {question: made.signature for question, made in found.items()}
    doubts = {id: made.details[POSTERIORS] for id, made in found.items() if POSTERIORS in made.details}
    by_document: dict[str, list[Judgment]] = {}
    rules = (question.only_if for question in scheme.questions if question.id in found)
    has_conditions = all(rule is None or rule.question in found for rule in rules)
    for unit, decided in answers.items():
        # Of a question alone nobody can say where it is asked.
        decided = asked_answers(scheme, decided) if has_conditions else decided
        judgment = Judgment(
            unit.document,
            unit.segment,
            ANNOTATOR,
            scheme.id,
            scheme.version,
            decided,
            distributions=shares.get(unit, {}),
            metadata={GOLD: signatures, **_posteriors(unit, doubts)},
        )
        by_document.setdefault(unit.document, []).append(judgment)
    return by_document


def _posteriors(unit: UnitKey, doubts: Mapping[str, Mapping[UnitKey, Sequence[Any]]]) -> dict[str, Any]:
    """How likely each stretch that somebody marked is right, by question: for adjudication by doubt."""
    marks = {id: [mark._asdict() for mark in found.get(unit, ())] for id, found in doubts.items()}
    return {POSTERIORS: marks} if any(marks.values()) else {}


def _with_documents(data: Any, only: str | None, judgments: Mapping[str, list[Judgment]]) -> Iterator[Entry]:
    """Read the source a second time: its documents were not kept. A document may come in several pieces."""
    left = dict(judgments)
    for entry in read(data, only=only):
        mine = tuple(left.pop(entry.id, ()))
        if entry.document is not None or mine:
            yield Entry(entry.id, entry.document, mine)
