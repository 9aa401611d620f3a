"""Chat logs looked over for breakdowns, and texts made from data for errors: ranked, summed up by system, as a page."""

from lapsus.log_check.checking import check
from lapsus.log_check.finding import Finding
from lapsus.log_check.guideline_check import GuidelineCheck
from lapsus.log_check.pair_ranking import PairCheck, PairFinding, check_pairs
from lapsus.log_check.ranking import LogCheck, check_entries

__all__ = [
    "Finding",
    "GuidelineCheck",
    "LogCheck",
    "PairCheck",
    "PairFinding",
    "check",
    "check_entries",
    "check_pairs",
]
