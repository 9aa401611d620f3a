"""Chat logs looked over for breakdowns, and texts made from data for errors: ranked, summed up by system, as a page."""

from lapsus.log_check.checking import check as check
from lapsus.log_check.guideline_check import GuidelineCheck as GuidelineCheck
from lapsus.log_check.pair_ranking import PairCheck as PairCheck
from lapsus.log_check.pair_ranking import check_pairs as check_pairs
from lapsus.log_check.ranking import LogCheck as LogCheck
from lapsus.log_check.ranking import check_entries as check_entries
