"""The score from which a turn is called likely, moved to what people said of turns of their own system."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from lapsus.annotators.breakdown import QUESTION, SCHEME
from lapsus.log_check.finding import CUT
from lapsus.log_check.ranking import findings_of
from lapsus.model import Entry, Judgment

_FAULTY: Final = {"O": 0.0, "T": 0.5, "X": 1.0}
_TRUST: Final = 0.75
"""How far from the usual cut one may easily lie: the standard deviation of the prior."""


def own_cut(judged: Iterable[tuple[float, float]]) -> float:
    """The cut that fits turns best, given each one's score and the share of people who see a fault in it.

    The likeliest cut where the chance of a fault is a logistic curve of score less cut, and the usual cut is likely
    beforehand: twenty turns move it a little, two hundred as far as need be.
    """
    pairs = np.array(list(judged), dtype=float).reshape(-1, 2)
    cuts = np.arange(CUT - 5, CUT + 5.01, 0.05)
    ahead = pairs[:, :1] - cuts
    # log(1 + e^a) - y a, summed: the negative log likelihood at each cut.
    cost = (np.logaddexp(0, ahead) - pairs[:, 1:] * ahead).sum(axis=0) + (cuts - CUT) ** 2 / (2 * _TRUST**2)
    return round(float(cuts[cost.argmin()]), 2)


def scored(
    entries: Iterable[Entry], people: Mapping[str, Sequence[Judgment]]
) -> Iterable[tuple[float, float]]:
    """The score of every turn that people judged, and the share of them who see a fault; a doubt is half of one."""
    for entry in entries:
        if entry.document is None:
            continue
        said: dict[str | None, list[float]] = {}
        for judgment in people.get(entry.id, ()):
            if judgment.scheme == SCHEME and judgment.answers.get(QUESTION) in _FAULTY:
                said.setdefault(judgment.segment, []).append(_FAULTY[str(judgment.answers[QUESTION])])
        for finding in findings_of(entry.document, entry):
            if votes := said.get(finding.turn.id):
                yield finding.score, sum(votes) / len(votes)
