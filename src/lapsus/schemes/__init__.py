"""The guidelines as data: loading, checking, and judging answers by them."""

from lapsus.schemes.check import Problem, check_scheme
from lapsus.schemes.library import load_scheme, read_scheme, scheme_names
from lapsus.schemes.rules import BrokenRule, broken_rules

__all__ = [
    "BrokenRule",
    "Problem",
    "broken_rules",
    "check_scheme",
    "load_scheme",
    "read_scheme",
    "scheme_names",
]
