"""May this judge replace a person, and what is the true share? Numbers out of votes of people and judges.

One function a figure, each giving plain records: `standings` (the test and a ranking), `estimates` (judge, people,
corrected), `confusion`, `calibration`, `disagreements`; `units_for_width`, `units_for_test` and `draw` plan a sample,
`likeness` is what gates look at.
"""

from lapsus.kinds.similarity import compared
from lapsus.trust.alternative_test import Duels, duels, trial
from lapsus.trust.estimators import Estimate, Estimates, Sample, difference, estimates
from lapsus.trust.figures import calibration, confusion, disagreements, sure_answers
from lapsus.trust.jury import likeness
from lapsus.trust.ranking import Sight, Standing, standings
from lapsus.trust.sampling import draw, strata, units_for_test, units_for_width

__all__ = [
    "Duels",
    "Estimate",
    "Estimates",
    "Sample",
    "Sight",
    "Standing",
    "calibration",
    "compared",
    "confusion",
    "difference",
    "disagreements",
    "draw",
    "duels",
    "estimates",
    "likeness",
    "standings",
    "strata",
    "sure_answers",
    "trial",
    "units_for_test",
    "units_for_width",
]
