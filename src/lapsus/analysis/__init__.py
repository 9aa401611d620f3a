"""From files to results: what the commands `score`, `compare`, `agree` and `gold` do."""

from lapsus.analysis.agreeing import agree
from lapsus.analysis.comparing import compare
from lapsus.analysis.scoring import score

__all__ = ["agree", "compare", "score"]
