"""How well a judge agrees with people on a set that does not change, beside the same answers shuffled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lapsus.kinds.similarity import Answers, Codes

SHUFFLES = 200


class Likeness(NamedTuple):
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


def likeness(answers: Answers, people: Sequence[int], judge: Codes, seed: int = 0) -> Likeness:
    """Agreement of a judge with people, and of its shuffled answers."""
    given = answers.codes[:, list(people)]
    wanted = (given >= 0).any(axis=1)
    rows = np.flatnonzero(wanted & (judge >= 0))
    if not len(rows):
        return Likeness(None, None, None, 0, int(wanted.sum()))
    own = _agreement(answers, given[rows], judge[rows])
    rng = np.random.default_rng(seed)
    others = [_agreement(answers, given[rows], rng.permutation(judge[rows])) for _ in range(SHUFFLES)]
    as_good = sum(other >= own - 1e-12 for other in others)
    return Likeness(own, float(np.mean(others)), (1 + as_good) / (1 + SHUFFLES), len(rows), int(wanted.sum()))


def _agreement(answers: Answers, given: Codes, judge: Codes) -> float:
    there = given >= 0
    near = answers.near(judge[:, None], np.where(there, given, judge[:, None]))[:, 0, :]
    means = np.where(there, near, 0.0).sum(axis=1) / there.sum(axis=1)
    return float(answers.score(means).mean())
