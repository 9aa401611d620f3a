"""Answers held against a scheme: every broken rule at once, with a message in the reader's language; the way to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Any, Final

import msgspec

from lapsus.errors import InputError, LapsusError
from lapsus.kinds import BrokenRule, kind_of, kinds_of
from lapsus.kinds.messages import join
from lapsus.model import Answer, Document, FrozenDict, Judgment, Question, Scheme, visible_part
from lapsus.notices import Notice
from lapsus.schemes.library import load_scheme

_MISSING: Final = "missing-answer"


def broken_rules(
    scheme: Scheme,
    answers: Mapping[str, Answer],
    document: Document | None = None,
    segment: str | None = None,
) -> list[BrokenRule]:
    """Every rule that a set of answers breaks; with the document at hand, also where spans may stand.

    A mark on what the judge of the unit does not see is a mark on nothing, and no message quotes it.
    """
    found: list[BrokenRule] = []
    if document is not None:
        if not _is_unit(scheme, document, segment):
            found.append(BrokenRule("not-judged", "", {}))
        document = visible_part(document, scheme.unit, segment)
    for id in answers:
        if scheme.question(id) is None:
            found.append(BrokenRule("unknown-question", id, {"question": id}))
    for question in scheme.questions:
        answer = answers.get(question.id)
        if not is_asked(scheme, question, answers):
            if answer is not None:
                found.append(BrokenRule("not-asked", question.id, {"question": question.name}))
        elif answer is not None:
            found.extend(kind_of(question, scheme).check(answer, document))
        elif question.required:
            found.append(BrokenRule(_MISSING, question.id, {"question": question.name}))
    return found


def need_askable(scheme: Scheme, document: Document) -> None:
    """Complain of a document about which a question cannot be asked, whatever the answer."""
    for question in scheme.questions:
        for why in kind_of(question, scheme).lacking(document):
            raise InputError("cannot-be-asked", where=Notice("document", document=document.id), why=why)


def asked_answers(scheme: Scheme, answers: Mapping[str, Answer]) -> dict[str, Answer]:
    """The answers without those to questions that are not asked, whose condition the other answers do not meet."""
    kept = dict(answers)
    for question in scheme.questions:
        if not is_asked(scheme, question, kept):
            kept.pop(question.id, None)
    return kept


def is_asked(scheme: Scheme, question: Question, answers: Mapping[str, Answer]) -> bool:
    """Whether a question is asked of whoever gave these answers."""
    rule = question.only_if
    before = None if rule is None else scheme.question(rule.question)
    if rule is None or before is None:
        return True
    kind, answer = kind_of(before, scheme), answers.get(before.id)
    return kind.holds(answer) and not set(rule.answers).isdisjoint(kind.chosen(answer))


def without_open(rules: Iterable[BrokenRule]) -> list[BrokenRule]:
    """What a program breaks: it may leave a required question open, as a judge does that did not learn to answer it."""
    return [rule for rule in rules if rule.rule != _MISSING]


def questions_open(rules: Iterable[BrokenRule]) -> list[str]:
    """The required questions that were left open."""
    return [rule.question for rule in rules if rule.rule == _MISSING]


def _is_unit(scheme: Scheme, document: Document, segment: str | None) -> bool:
    if scheme.unit.role == "document":
        return segment is None
    return any(s.id == segment and s.role == scheme.unit.role for s in document.segments)


REMEMBERED = 10_000
"""How many sets of answers are remembered for each guideline."""


class Checker:
    """Says of each judgment which rules it breaks. Schemes that are not installed must be given."""

    def __init__(self, given: Iterable[Scheme] = ()) -> None:
        self._checks: dict[str, _SchemeChecker | None] = {s.id: _SchemeChecker(s) for s in given}

    def knows(self, scheme: str) -> bool:
        """Whether the rules of a scheme are at hand."""
        return self._check(scheme) is not None

    def broken(self, judgment: Judgment, document: Document | None) -> tuple[BrokenRule, ...]:
        """Every rule that a judgment breaks; none where its scheme is unknown. Programs and gold may leave open."""
        rules = self._rules(judgment, document)
        return tuple(without_open(rules)) if rules and judgment.may_leave_open else rules

    def left_open(self, judgment: Judgment) -> list[str]:
        """The required questions that a program, or gold, left open."""
        return questions_open(self._rules(judgment, None)) if judgment.may_leave_open else []

    def _rules(self, judgment: Judgment, document: Document | None) -> tuple[BrokenRule, ...]:
        check = self._check(judgment.scheme)
        return check.broken(judgment, document) if check else ()

    def _check(self, scheme: str) -> _SchemeChecker | None:
        if scheme not in self._checks:
            try:
                self._checks[scheme] = _SchemeChecker(load_scheme(scheme))
            except LapsusError:
                self._checks[scheme] = None
        return self._checks[scheme]


class _SchemeChecker:
    """The rules of one scheme."""

    def __init__(self, scheme: Scheme) -> None:
        self.scheme = scheme
        self._rules = lru_cache(REMEMBERED)(self._without_document)
        self._document: Document | None = None
        self._units: frozenset[str | None] = frozenset()

    @cached_property
    def _has_marks(self) -> bool:
        """Whether answers stand somewhere in the document, so that no two are judged alike."""
        return any(kind.on_text for kind in kinds_of(self.scheme).values())

    def broken(self, judgment: Judgment, document: Document | None) -> tuple[BrokenRule, ...]:
        if self._has_marks or not isinstance(judgment.answers, FrozenDict):
            return tuple(broken_rules(self.scheme, judgment.answers, document, judgment.segment))
        found = self._rules(judgment.answers)
        if document is not None and judgment.segment not in self._units_of(document):
            return (BrokenRule("not-judged", "", {}), *found)
        return found

    def _without_document(self, answers: Mapping[str, Answer]) -> tuple[BrokenRule, ...]:
        return tuple(broken_rules(self.scheme, answers))

    def _units_of(self, document: Document) -> frozenset[str | None]:
        if document is not self._document:
            role = self.scheme.unit.role
            self._units = frozenset(s.id for s in document.segments if s.role == role)
            if role == "document":
                self._units = frozenset({None})
            self._document = document
        return self._units


_TOGETHER = ("alone", "apart")
"""Rules by which one label rules another out."""


class Procedure(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is kept with a judgment of the way to it."""

    guideline: str | None = None
    """The language of the guideline's text that the annotator had at hand."""
    walk: tuple[str, ...] = ()
    """The labels that were asked one by one, in that order."""
    steps: tuple[str, ...] = ()
    """The steps that were taken, in that order."""

    def record(self) -> dict[str, Any]:
        """As metadata of the judgment; nothing where nothing is known."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found


class Required(msgspec.Struct, frozen=True):
    """What a plan asks for beside the rules."""

    walk: bool = False
    steps: bool = False

    def broken(
        self, scheme: Scheme, answers: Mapping[str, Answer], procedure: Procedure
    ) -> Iterator[BrokenRule]:
        """What was left out of the way that the plan asks for."""
        for question in scheme.questions if self.walk else ():
            if question.in_order and (left := unasked(scheme, question, answers, procedure.walk)):
                names = {label.id: label for label in scheme.labels_of(question)}
                numbers = join([str(names[id].number or id) for id in left])
                yield BrokenRule("walk", question.id, {"question": question.name, "labels": numbers})
        if self.steps and (late := [step for step in scheme.steps if step.id not in procedure.steps]):
            marked = next((q for q in scheme.questions if kind_of(q).on_text), scheme.questions[0])
            yield BrokenRule("steps", marked.id, {"steps": join([step.title for step in late])})


def unasked(
    scheme: Scheme, question: Question, answers: Mapping[str, Answer], asked: tuple[str, ...]
) -> list[str]:
    """The labels that were neither asked nor ruled out by what was chosen."""
    chosen = answers.get(question.id, ())
    mine = tuple(chosen) if isinstance(chosen, tuple) else (chosen,)
    found = []
    for label in scheme.labels_of(question):
        if label.id in asked:
            continue
        with_it = broken_rules(scheme, {question.id: (*mine, label.id)}) if label.id not in mine else []
        if not any(rule.rule in _TOGETHER for rule in with_it):
            found.append(label.id)
    return found
