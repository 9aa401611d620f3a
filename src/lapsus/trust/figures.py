"""What a page shows of one judge beside people: confusion, calibration, the biggest disagreements. Plain records."""

from collections.abc import Iterable
from typing import NamedTuple

import msgspec
import numpy as np

from lapsus.kinds.votes import compared, quantities
from lapsus.model import UnitKey
from lapsus.model.votes import Votes, row_means
from lapsus.trust.ranking import PeopleAndJudges

BINS = 10


class Confused(msgspec.Struct, frozen=True):
    """How often people said one label where the judge said another; each unit counts once, however many judged it."""

    people: str
    judge: str
    units: float


class CalibrationBin(msgspec.Struct, frozen=True):
    """Answers of which the judge was about as sure, and how often people said the same."""

    low: float
    high: float
    answers: int
    sure: float
    """Mean share that the judge gave its answer."""
    right: float
    """Mean share of people who gave the same answer."""


class Disagreement(msgspec.Struct, frozen=True):
    """A unit that the judge sees otherwise than people, who see it alike."""

    document: str
    segment: str | None
    judge_agreement: float
    people_agreement: float
    """1, or the best there is, where only one person judged it."""


def confusion(votes: Votes, who: PeopleAndJudges) -> list[Confused]:
    """People's labels against those of the first judge, for each pair of labels; nothing for scales and spans."""
    shares = [quantity for quantity in quantities(votes) if quantity.is_share]
    people, (judge, *_) = who.columns(votes)
    said = {quantity.label: row_means(quantity.values[:, people]) for quantity in shares}
    judged = {quantity.label: quantity.values[:, judge] for quantity in shares}
    return [
        Confused(one, other, float(np.nansum(said[one] * judged[other]))) for one in said for other in judged
    ]


class Sure(NamedTuple):
    """How sure a judge was of its answer to a unit, and the share of people who gave the same."""

    share: float
    right: float


def calibration(answers: Iterable[Sure], bins: int = BINS) -> list[CalibrationBin]:
    """Answers by how sure the judge was: well calibrated, `sure` and `right` are the same in every bin."""
    given = np.array(list(answers), dtype=np.float64).reshape(-1, 2)
    place = np.clip((given[:, 0] * bins).astype(np.intp), 0, bins - 1)
    found = []
    for number in np.unique(place).tolist():
        own = given[place == number]
        sure, right = own.mean(axis=0).tolist()
        found.append(CalibrationBin(number / bins, (number + 1) / bins, len(own), sure, right))
    return found


def sure_answers(votes: Votes, who: PeopleAndJudges, shares: dict[UnitKey, dict[str, float]]) -> list[Sure]:
    """For `calibration`: the judge's shares by unit beside what people said, label by label that it chose."""
    people, (judge, *_) = who.columns(votes)
    found = []
    for quantity in quantities(votes):
        if not quantity.is_share:
            continue
        said, judged = row_means(quantity.values[:, people]), quantity.values[:, judge]
        for row in np.flatnonzero((judged == 1) & np.isfinite(said)).tolist():
            share = shares.get(votes.units[row], {}).get(quantity.label)
            if share is not None:
                found.append(Sure(share, float(said[row])))
    return found


def disagreements(votes: Votes, who: PeopleAndJudges, top: int = 20) -> list[Disagreement]:
    """The units on which the judge is farthest from people, those first on which people agree best."""
    answers = compared(votes)
    people, (judge, *_) = who.columns(votes)
    given, judged = answers.codes[:, people], answers.codes[:, judge]
    found = []
    for row in np.flatnonzero((given >= 0).any(axis=1) & (judged >= 0)).tolist():
        said = given[row : row + 1, given[row] >= 0]
        near = answers.near(judged[row : row + 1, None], said)[0, 0]
        among = answers.near(said, said)[0]
        others = len(near) - 1
        own = (among.sum(axis=1) - np.diagonal(among)) / others if others else np.diagonal(among)
        mine, theirs = (float(answers.score(np.array([values.mean()]))[0]) for values in (near, own))
        found.append(Disagreement(*votes.units[row], mine, theirs))
    found.sort(key=lambda one: (one.judge_agreement - one.people_agreement, one.document, one.segment or ""))
    return found[:top]
