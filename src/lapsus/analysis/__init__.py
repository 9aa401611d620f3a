"""From files to results: what the commands `score`, `compare`, `agree` and `gold` do."""

from lapsus.analysis.agreeing import agree
from lapsus.analysis.comparing import compare
from lapsus.analysis.golding import gold
from lapsus.analysis.scoring import score

__all__ = ["agree", "compare", "gold", "score"]
