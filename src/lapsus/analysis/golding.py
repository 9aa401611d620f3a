"""Gold: votes put together, written as the judgments of one more annotator."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

from lapsus.analysis.corpus import choose_scheme, countable_questions, load_corpus
from lapsus.analysis.scoring import Announce
from lapsus.errors import UsageError
from lapsus.formats import read
from lapsus.measures.gold import METHODS, Gold, make_gold
from lapsus.model import Answer, Entry, Judgment, Question, Scheme, UnitKey
from lapsus.registry import did_you_mean

FOR_LABELS = ("majority", "distribution", "dawid-skene", "mace")
"""Methods for questions with one label; other kinds of question have one way each."""
ANNOTATOR = "gold"


def gold(
    data: Path | str,
    *,
    method: str = "majority",
    threshold: float | None = None,
    scheme: str | None = None,
    only: str | None = None,
    announce: Announce = lambda reading: None,
) -> dict[str, Gold]:
    """The gold of every question that was answered, by the question's id."""
    return _make(data, method, threshold, scheme, only, announce)[1]


def gold_entries(
    data: Path | str,
    *,
    method: str = "majority",
    threshold: float | None = None,
    scheme: str | None = None,
    only: str | None = None,
    announce: Announce = lambda reading: None,
) -> tuple[dict[str, Gold], Iterator[Entry]]:
    """The gold, and the documents with the gold as their only judgments."""
    chosen, found = _make(data, method, threshold, scheme, only, announce)
    judgments = _judgments(chosen, found)
    return found, _with_documents(data, only, judgments)


def _make(
    data: Path | str,
    method: str,
    threshold: float | None,
    scheme: str | None,
    only: str | None,
    announce: Announce,
) -> tuple[Scheme, dict[str, Gold]]:
    if method.partition("@")[0].partition("(")[0] not in (*FOR_LABELS, *METHODS.names()):
        raise UsageError(f"no method is called {method!r}", hint=did_you_mean(method, list(FOR_LABELS)))
    corpus = load_corpus(data, only=only, announce=announce)
    chosen = choose_scheme([corpus], scheme)
    found: dict[str, Gold] = {}
    for question in countable_questions(chosen):
        votes = corpus.votes(chosen, question)
        if votes.units:
            found[question.id] = make_gold(_method_for(question, method, threshold), votes)
    return chosen, found


def _method_for(question: Question, method: str, threshold: float | None) -> str:
    """How to put the answers to a question together, as one writes it."""
    match question.kind:
        case "label":
            is_majority = method == "majority" and threshold is not None
            if threshold is not None and not is_majority:
                raise UsageError(f"{method} takes no threshold", hint="only majority does")
            return f"{method}@t={threshold}" if is_majority else method
        case "labels":
            return f"label_sets@share={0.5 if threshold is None else threshold}"
        case "scale":
            return method if method in ("mean", "median") else "mean"
        case _:
            return "spans"


def _judgments(scheme: Scheme, found: Mapping[str, Gold]) -> dict[str, list[Judgment]]:
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
    """Read the source a second time: its documents were not kept."""
    for entry in read(data, only=only):
        mine = tuple(judgments.get(entry.id, ()))
        if entry.document is not None or mine:
            yield Entry(entry.id, entry.document, mine)
