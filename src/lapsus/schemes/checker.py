"""Many judgments held against their guidelines: answers that come often are judged once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache

from lapsus.errors import LapsusError
from lapsus.kinds import kinds_of
from lapsus.kinds.messages import BrokenRule
from lapsus.model import Answer, Document, FrozenDict, Judgment, Scheme
from lapsus.schemes.answer_rules import broken_rules, questions_open, without_open
from lapsus.schemes.library import load_scheme

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
