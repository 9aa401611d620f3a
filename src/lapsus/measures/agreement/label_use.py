"""How often each label was given, and how far annotators agree on giving it and on not giving it.

Where a label is rare, most agreement is on its absence: coefficients that take chance out by how common labels are
(kappa, alpha) and those that do not (percent, AC1) then tell very different stories. These figures say why.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lapsus.measures.agreement.answer_codes import require
from lapsus.measures.agreement.chance import ratio
from lapsus.measures.agreement.patterns import Patterns
from lapsus.measures.bootstrap import Floats
from lapsus.model.votes import LabelSetVotes, LabelVotes, Votes
from lapsus.notices import Notice

APART = 0.3
"""From which difference on AC1 and alpha call for an explanation."""


class LabelUse(NamedTuple):
    """One label against the rest, over the units that two or more annotators answered; None where undefined."""

    label: str
    given: int
    """How many answers have the label."""
    answers: int
    positive: float | None
    """Given that one annotator gave the label, how likely another did (specific agreement, Cicchetti and Feinstein)."""
    negative: float | None
    """The same of not giving it."""
    expected: float | None
    """How often two answers would agree by chance, by how common the label is."""


def label_use(votes: Votes | Patterns, labels: tuple[str, ...]) -> list[LabelUse]:
    """How each label was used. Units with one answer count for how often it was given, not for agreement."""
    return [_use(label, *_counts(votes, place)) for place, label in enumerate(labels)]


def _counts(votes: Votes | Patterns, place: int) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """For each unit (or pattern of units): how many gave the label, how many answered, how many units it is."""
    if isinstance(votes, Patterns):
        return votes.counts[:, place], votes.raters, votes.times
    require(votes, "how often a label was given", LabelVotes, LabelSetVotes)
    if isinstance(votes, LabelVotes):
        yes, there = votes.codes == place, votes.codes >= 0
    else:
        yes, there = votes.chosen[:, :, place] & votes.answered, votes.answered  # type: ignore[union-attr]
    once = np.ones(len(yes), dtype=np.int64)
    return yes.sum(axis=1).astype(np.float64), there.sum(axis=1).astype(np.float64), once


def _use(label: str, yes: Floats, there: Floats, times: NDArray[np.int64]) -> LabelUse:
    given, answers = int(times @ yes), int(times @ there)
    pairable = there >= 2
    y, n, many = yes[pairable], there[pairable], times[pairable]
    # Each unit weighs as much as it has answers: a pair of its answers counts 1 / (answers - 1).
    both, neither = many @ (y * (y - 1) / (n - 1)), many @ ((n - y) * (n - y - 1) / (n - 1))
    share = ratio(many @ y, many @ n)
    return LabelUse(
        label,
        given,
        answers,
        _defined(ratio(both, many @ y)),
        _defined(ratio(neither, many @ (n - y))),
        _defined(share**2 + (1 - share) ** 2),
    )


def _defined(value: Floats) -> float | None:
    return None if np.isnan(value) else float(value)


def why_apart(alpha: float | None, ac1: float | None, use: list[LabelUse]) -> str | None:
    """One line where alpha and AC1 are far apart: which label is rare, and what each of the two looks at."""
    if alpha is None or ac1 is None or ac1 - alpha < APART:
        return None
    common = max(use, key=lambda one: one.given)
    if not common.answers:
        return None
    rare = [one for one in use if one.label != common.label and one.given and one.positive is not None]
    found = ", ".join(f"{one.label} {one.positive:.2f}" for one in rare[:3])
    share = common.given / common.answers
    return Notice(
        "ac1-alpha-answers-annotators",
        ac1=ac1,
        alpha=alpha,
        share=share,
        label=common.label,
        found=found or "none",
    )
