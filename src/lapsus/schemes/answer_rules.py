"""Judging answers by a scheme: every broken rule at once, each with a message in the reader's language."""

from collections.abc import Iterable, Mapping
from typing import Final

from lapsus.errors import InputError
from lapsus.kinds import BrokenRule, kind_of
from lapsus.model import Answer, Document, Question, Scheme, visible_part
from lapsus.notices import Notice

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
