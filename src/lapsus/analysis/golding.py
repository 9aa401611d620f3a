"""Gold: votes put together, written as the judgments of one more annotator."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from lapsus.analysis.corpus import Announce, choose_scheme, countable_questions, load_corpus
from lapsus.errors import UsageError
from lapsus.formats import read
from lapsus.measures.declare import parse_measure
from lapsus.measures.gold import METHODS, Gold, make_gold
from lapsus.model import Answer, Entry, Judgment, Question, Scheme, UnitKey
from lapsus.registry import did_you_mean

FOR_LABELS = ("majority", "distribution", "dawid-skene", "mace")
MADE_FOR = {
    "label": ("majority", "distribution", "dawid_skene", "mace"),
    "labels": ("label_sets",),
    "scale": ("mean", "median"),
    "spans": ("spans",),
}
USUAL_METHODS = {"label": "majority", "labels": "label_sets", "scale": "mean", "spans": "spans"}
USUAL_METHOD = "majority"
ANNOTATOR = "gold"


def gold(
    data: Path | str,
    *,
    method: str = "majority",
    threshold: float | None = None,
    scheme: str | None = None,
    questions: Sequence[str] = (),
    only: str | None = None,
    announce: Announce = lambda reading: None,
) -> dict[str, Gold]:
    """The gold of every question that was answered, by the question's id."""
    return _make(data, method, threshold, scheme, questions, only, announce)[1]


def gold_entries(
    data: Path | str,
    *,
    method: str = "majority",
    threshold: float | None = None,
    scheme: str | None = None,
    questions: Sequence[str] = (),
    only: str | None = None,
    announce: Announce = lambda reading: None,
) -> tuple[dict[str, Gold], Iterator[Entry]]:
    """The gold, and the documents with the gold as their only judgments."""
    chosen, found = _make(data, method, threshold, scheme, questions, only, announce)
    judgments = gold_judgments(chosen, found)
    return found, _with_documents(data, only, judgments)


def _make(
    data: Path | str,
    method: str,
    threshold: float | None,
    scheme: str | None,
    questions: Sequence[str],
    only: str | None,
    announce: Announce,
) -> tuple[Scheme, dict[str, Gold]]:
    corpus = load_corpus(data, only=only, announce=announce)
    chosen = choose_scheme([corpus], scheme)
    asked = {q.id: (q, corpus.votes(chosen, q)) for q in countable_questions(chosen, questions)}
    ways = ways_to([question for question, votes in asked.values() if votes.units], method, threshold)
    return chosen, {id: make_gold(way, asked[id][1]) for id, way in ways.items()}


def ways_to(questions: Sequence[Question], method: str, threshold: float | None = None) -> dict[str, str]:
    """How the answers to each question are put together: by the method asked for where it is made for them."""
    ways = {question.id: _way(question, method, threshold) for question in questions}
    if not any(way.suits_method for way in ways.values()) and method != USUAL_METHOD:
        made_for = {way.usual for way in ways.values()}
        raise UsageError(
            f"{method} is not made for these answers", hint=f"use {' or '.join(sorted(made_for))}"
        )
    if threshold is not None and not any(way.suits_threshold for way in ways.values()):
        raise UsageError(f"{method} takes no threshold", hint="majority does, and several labels do")
    return {id: way.method for id, way in ways.items()}


class _Way(NamedTuple):
    """How the answers to one question are put together, as one writes it."""

    method: str
    usual: str
    suits_method: bool
    suits_threshold: bool


def _way(question: Question, method: str, threshold: float | None) -> _Way:
    """The method asked for where it is made for this kind of question, else the kind's usual one."""
    name = parse_measure(method).name.replace("-", "_")
    if name not in METHODS.names():
        raise UsageError(f"no method is called {method!r}", hint=did_you_mean(method, list(FOR_LABELS)))
    usual = USUAL_METHODS[question.kind]
    suits = name in MADE_FOR[question.kind]
    way = method if suits else usual
    parameter = {"majority": "t", "label_sets": "share"}.get(way.replace("-", "_"))
    if threshold is not None and parameter:
        way = f"{way}@{parameter}={threshold}"
    return _Way(way, usual, suits, parameter is not None)


def gold_judgments(scheme: Scheme, found: Mapping[str, Gold]) -> dict[str, list[Judgment]]:
    """One judgment a unit, with the answers to all questions and how they were made."""
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
    by_document: dict[str, list[Judgment]] = {}
    for unit in dict.fromkeys([*answers, *shares]):
        judgment = Judgment(
            unit.document,
            unit.segment,
            ANNOTATOR,
            scheme.id,
            scheme.version,
            answers.get(unit, {}),
            distributions=shares.get(unit, {}),
            metadata={"gold": signatures},
        )
        by_document.setdefault(unit.document, []).append(judgment)
    return by_document


def _with_documents(
    data: Path | str, only: str | None, judgments: Mapping[str, list[Judgment]]
) -> Iterator[Entry]:
    """Read the source a second time: its documents were not kept. A document may come in several pieces."""
    left = dict(judgments)
    for entry in read(data, only=only):
        mine = tuple(left.pop(entry.id, ()))
        if entry.document is not None or mine:
            yield Entry(entry.id, entry.document, mine)
