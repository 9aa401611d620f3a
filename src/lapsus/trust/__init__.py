"""May this judge replace a person, and what is the true share? Numbers out of votes of people and judges.

One function a figure, each giving plain records: `standings` (the test and a ranking), `estimates` (judge, people,
corrected), `confusion`, `calibration`, `disagreements`; `units_for_width`, `units_for_test` and `draw` plan a sample,
`agreement_with_people` is what gates look at.
"""

from lapsus.kinds.similarity import compared as compared
from lapsus.trust.figures import calibration as calibration
from lapsus.trust.figures import confusion as confusion
from lapsus.trust.figures import disagreements as disagreements
from lapsus.trust.figures import sure_answers as sure_answers
from lapsus.trust.jury import agreement_with_people as agreement_with_people
from lapsus.trust.ranking import PeopleAndJudges as PeopleAndJudges
