"""From shares to answers, so that the judge gives every answer as often as people do.

The likeliest answer alone would never be a rare one, however well rare ones are ranked; and the expected level of a
scale would hardly leave the middle.
"""

from typing import Final, NamedTuple, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.features.network_layers import softmax
from lapsus.annotators.judge.people_answers import PeopleAnswers
from lapsus.kinds import Kind
from lapsus.model import Answer

Matrix: TypeAlias = NDArray[np.float64]

_TINY: Final = 1e-6
_ROUNDS: Final = 200
_FURTHEST: Final = 12.0
"""Logits by which a choice is raised or lowered at most."""


class Decision(NamedTuple):
    """How an answer is taken from the shares of a question's choices."""

    offsets: Matrix
    """Of labels: what is added to each one's logit. Of a scale: the judge's mean, people's mean, and how many times
    further than the judge's expected values people's answers are spread."""
    least: int = 0
    """Of how many labels an answer is made at least, where the question allows none."""


def fitted_decision(given: PeopleAnswers, shares: Matrix) -> Decision:
    """The decision under which answers from `shares`, given for rows that were not learned from, are as people's."""
    kind = given.kind
    if kind.numbers:
        return Decision(_stretch(np.array(kind.numbers), shares, given.shares))
    if kind.several:
        gave_none = any(isinstance(answer, tuple) and not answer for answer in given.answers)
        return Decision(_separate_offsets(shares, given.shares), least=0 if gave_none else 1)
    return Decision(_joint_offsets(shares, given.shares))


def decide(kind: Kind, shares: Matrix, decision: Decision) -> Answer:
    """The answer that the shares of one row speak for, within the rules."""
    if kind.numbers:
        steps = np.array(kind.numbers)
        ours, theirs, ratio = decision.offsets
        wanted = theirs + ratio * (float(shares @ steps) - ours)
        return kind.best(np.eye(len(steps))[int(np.abs(steps - wanted).argmin())])
    if not kind.several:
        return kind.best(softmax(_logs(shares) + decision.offsets))
    answer = choosing(kind, decision.least).best(_sigmoid(_logits(shares) + decision.offsets))
    if kind.question.in_order and isinstance(answer, tuple):
        likely = dict(zip(kind.choices, shares.tolist(), strict=True))
        return tuple(sorted(answer, key=lambda label: -likely[str(label)]))
    return answer


def choosing(kind: Kind, least: int) -> Kind:
    """The same question, where an answer is made of so many choices at least."""
    if not kind.several or kind.question.at_least >= least:
        return kind
    return type(kind)(msgspec.structs.replace(kind.question, at_least=least), kind.labels)


def _stretch(steps: Matrix, shares: Matrix, people: Matrix) -> Matrix:
    """The means of expected values and of people's answers, and by how much the latter are spread further."""
    ours, mean = shares @ steps, float(people.mean(axis=0) @ steps)
    spread = float(np.sqrt(np.maximum(people.mean(axis=0) @ (steps - mean) ** 2, 0.0)))
    ratio = spread / float(ours.std()) if ours.std() > _TINY else 1.0
    return np.array([float(ours.mean()), mean, ratio])


def _separate_offsets(shares: Matrix, people: Matrix) -> Matrix:
    """For each choice, given or not whatever the others are, the offset at which it is chosen as often as by people."""
    found = np.zeros(shares.shape[1])
    for choice, rate in enumerate(people.mean(axis=0)):
        ordered = np.sort(_logits(shares[:, choice]))[::-1]
        wanted = round(rate * len(ordered))
        above = ordered[wanted - 1] if wanted else ordered[0] + 1.0
        below = ordered[wanted] if wanted < len(ordered) else ordered[-1] - 1.0
        found[choice] = -(above + below) / 2
    return np.clip(found, -_FURTHEST, _FURTHEST)


def _joint_offsets(shares: Matrix, people: Matrix) -> Matrix:
    """For choices of which one is given, the offsets at which each is the highest as often as people give it."""
    logs, wanted = _logs(shares), people.mean(axis=0)
    room = 1 / (2 * len(shares))
    if shares.shape[1] == 2:
        odds = _separate_offsets(_sigmoid(logs[:, :1] - logs[:, 1:]), people[:, :1])[0]
        return np.array([odds, 0.0])
    offsets = np.zeros(shares.shape[1])
    best, least = offsets, np.inf
    for turn in range(_ROUNDS):
        chosen = (logs + offsets).argmax(axis=1)
        said = np.bincount(chosen, minlength=len(offsets)) / len(logs)
        off = float(np.abs(said - wanted).sum())
        if off < least:
            best, least = offsets, off
        step = np.log((wanted + room) / (said + room)) / (1 + turn / 20)
        offsets = np.clip(offsets + 0.5 * step, -_FURTHEST, _FURTHEST)
    return best


def _logs(shares: Matrix) -> Matrix:
    found: Matrix = np.log(np.clip(shares, _TINY, 1))
    return found


def _logits(shares: Matrix) -> Matrix:
    kept = np.clip(shares, _TINY, 1 - _TINY)
    found: Matrix = np.log(kept / (1 - kept))
    return found


def _sigmoid(logits: Matrix) -> Matrix:
    found: Matrix = 1 / (1 + np.exp(-logits))
    return found
