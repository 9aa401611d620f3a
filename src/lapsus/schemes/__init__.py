"""The guidelines as data: loading, checking, and judging answers by them."""

from lapsus.kinds import BrokenRule
from lapsus.schemes.answer_rules import asked_answers, broken_rules, is_asked, questions_open, without_open
from lapsus.schemes.differences import scheme_differences, scheme_digest
from lapsus.schemes.library import (
    AnyScheme,
    given_schemes,
    known_scheme,
    load_scheme,
    read_scheme,
    scheme_names,
)
from lapsus.schemes.scheme_check import SchemeProblem, check_scheme
from lapsus.schemes.spelling import spelt_answers

__all__ = [
    "AnyScheme",
    "BrokenRule",
    "SchemeProblem",
    "asked_answers",
    "broken_rules",
    "check_scheme",
    "given_schemes",
    "is_asked",
    "known_scheme",
    "load_scheme",
    "questions_open",
    "read_scheme",
    "scheme_differences",
    "scheme_digest",
    "scheme_names",
    "spelt_answers",
    "without_open",
]
