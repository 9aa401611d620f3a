"""Chat logs looked over for breakdowns: ranked, with evidence, summed up by system, and as a page."""

from lapsus.checking.checking import Check, check_entries
from lapsus.checking.finding import Finding
from lapsus.checking.page import check_page
from lapsus.checking.text import check_lines
from lapsus.checking.words import LANGUAGES

__all__ = ["LANGUAGES", "Check", "Finding", "check_entries", "check_lines", "check_page"]
