"""Several judges as one, and whether a judge has changed since it was last measured."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lapsus.kinds.similarity import Answers, Codes

JURY = "(jury)"
SHUFFLES = 200


def jury(answers: Answers, judges: Sequence[int]) -> Codes:
    """For each unit the answer of the judge who is nearest to the others; of equals, that of the one named first.

    For single labels that is what most of them said. It is always an answer that somebody gave, so the guideline's
    rules hold for it. -1 where no judge answered.
    """
    given = answers.codes[:, list(judges)]
    there = given >= 0
    rows = np.flatnonzero(there.any(axis=1))
    found = np.full(len(given), -1, dtype=np.intp)
    # Where one is missing, an answer of another stands in for it and counts for nothing.
    some = np.take_along_axis(given[rows], there[rows].argmax(axis=1)[:, None], axis=1)
    filled = np.where(there[rows], given[rows], some)
    near = np.where(there[rows][:, None, :], answers.near(filled, filled), 0.0).sum(axis=2)
    best = np.where(there[rows], near, -np.inf).argmax(axis=1)
    found[rows] = np.take_along_axis(filled, best[:, None], axis=1)[:, 0]
    return found


class AgreementWithPeople(NamedTuple):
    """How near a judge's answers are to people's, unit by unit; None where nobody judged what the judge did."""

    agreement: float | None
    """Mean over units of what the test compares: the share of people who said the same, minus RMSE of a scale, …"""
    shuffled: float | None
    """The same with the judge's answers put to units at random: what one has without reading."""
    p_value: float | None
    """How often shuffled answers did as well or better."""
    answered: int
    wanted: int
    """Units that people judged."""


def agreement_with_people(
    answers: Answers, people: Sequence[int], judge: Codes, seed: int = 0
) -> AgreementWithPeople:
    """Agreement of a judge with people, and of its shuffled answers."""
    given = answers.codes[:, list(people)]
    wanted = (given >= 0).any(axis=1)
    rows = np.flatnonzero(wanted & (judge >= 0))
    if not len(rows):
        return AgreementWithPeople(None, None, None, 0, int(wanted.sum()))
    own = _agreement(answers, given[rows], judge[rows])
    rng = np.random.default_rng(seed)
    others = [_agreement(answers, given[rows], rng.permutation(judge[rows])) for _ in range(SHUFFLES)]
    as_good = sum(other >= own - 1e-12 for other in others)
    p_value = (1 + as_good) / (1 + SHUFFLES)
    return AgreementWithPeople(own, float(np.mean(others)), p_value, len(rows), int(wanted.sum()))


def _agreement(answers: Answers, given: Codes, judge: Codes) -> float:
    there = given >= 0
    near = answers.near(judge[:, None], np.where(there, given, judge[:, None]))[:, 0, :]
    means = np.where(there, near, 0.0).sum(axis=1) / there.sum(axis=1)
    return float(answers.score(means).mean())
