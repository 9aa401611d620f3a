"""What people answered to a question, as the judge learns from it and is measured by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lapsus.kinds import Kind
from lapsus.model import Answer, UnitKey
from lapsus.model.votes import Votes

Matrix: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class GivenAnswers:
    """The answers to one question. A row is a unit that somebody answered it for."""

    kind: Kind
    rows: NDArray[np.intp]
    """Which of all units each row is."""
    groups: NDArray[np.intp]
    """Which document each row is of."""
    shares: Matrix
    """The share of people who gave each of the kind's choices."""
    answers: tuple[Answer, ...]
    """All different answers that were given."""
    counts: Matrix
    """How often each of them was given: a row a unit, a column an answer."""

    def __len__(self) -> int:
        return len(self.rows)


def given_answers(kind: Kind, votes: Votes, units: Sequence[UnitKey]) -> GivenAnswers:
    """The answers to one question on some units."""
    place = {unit: row for row, unit in enumerate(votes.units)}
    found: dict[Any, int] = {}
    answers: list[Answer] = []
    rows: list[int] = []
    tallies: list[dict[int, int]] = []
    for number, unit in enumerate(units):
        if unit not in place:
            continue
        tally: dict[int, int] = {}
        for answer in kind.of_unit(votes, place[unit]):
            code = found.setdefault(kind.same(answer), len(answers))
            if code == len(answers):
                answers.append(answer)
            tally[code] = tally.get(code, 0) + 1
        if tally:
            rows.append(number)
            tallies.append(tally)
    counts = np.zeros((len(rows), len(answers)))
    for row, tally in zip(counts, tallies, strict=True):
        row[list(tally)] = list(tally.values())
    kept = np.array([place[units[row]] for row in rows], dtype=np.intp)
    documents: dict[str, int] = {}
    groups = [documents.setdefault(units[row].document, len(documents)) for row in rows]
    return GivenAnswers(
        kind,
        np.array(rows, dtype=np.intp),
        np.array(groups, dtype=np.intp),
        kind.shares(votes)[kept],
        tuple(answers),
        counts,
    )


def left_open(given: Mapping[str, GivenAnswers], units: int) -> dict[str, Matrix]:
    """For each question and unit the share of people who judged the unit and left the question open.

    Who judged a unit is not counted but taken from the question that most people answered.
    """
    answered = {}
    for id, one in given.items():
        answered[id] = np.zeros(units)
        answered[id][one.rows] = one.counts.sum(axis=1)
    most = np.maximum(1, np.max(list(answered.values()), axis=0))
    return {id: 1 - count / most for id, count in answered.items()}
