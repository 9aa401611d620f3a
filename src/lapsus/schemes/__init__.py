"""The guidelines as data: loading, checking, and judging answers by them."""

from lapsus.kinds import BrokenRule as BrokenRule
from lapsus.schemes.answer_rules import asked_answers as asked_answers
from lapsus.schemes.answer_rules import broken_rules as broken_rules
from lapsus.schemes.answer_rules import is_asked as is_asked
from lapsus.schemes.answer_rules import need_askable as need_askable
from lapsus.schemes.answer_rules import questions_open as questions_open
from lapsus.schemes.answer_rules import without_open as without_open
from lapsus.schemes.library import AnyScheme as AnyScheme
from lapsus.schemes.library import given_schemes as given_schemes
from lapsus.schemes.library import known_scheme as known_scheme
from lapsus.schemes.library import load_scheme as load_scheme
from lapsus.schemes.library import read_scheme as read_scheme
from lapsus.schemes.library import scheme_differences as scheme_differences
from lapsus.schemes.library import scheme_digest as scheme_digest
from lapsus.schemes.library import scheme_names as scheme_names
from lapsus.schemes.library import spelt_answers as spelt_answers
from lapsus.schemes.scheme_check import SchemeProblem as SchemeProblem
from lapsus.schemes.scheme_check import check_scheme as check_scheme
