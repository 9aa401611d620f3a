"""From files to results: what the commands `score`, `compare`, `agree`, `gold` and `validate` do."""

from lapsus.analysis.agreement import agree
from lapsus.analysis.comparison import compare
from lapsus.analysis.gold_standard import gold
from lapsus.analysis.scores import score
from lapsus.analysis.validating import validate

__all__ = ["agree", "compare", "gold", "score", "validate"]
