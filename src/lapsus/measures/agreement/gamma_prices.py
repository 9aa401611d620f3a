"""Prices of marks: dual variables of the linear program behind the best alignment, whose sum is an upper bound.

Dual feasible: no candidate saves more than the prices of its marks add up to. The sum of the prices is then no less
than what any alignment can save. Prices close to the lowest ones are found as for transport problems, by entropic
regularisation and scaling (Sinkhorn) in a few passes over the candidates: each mark is shared out between its
candidates and standing alone, evenly at a high temperature, ever more one-sidedly as the temperature falls.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lapsus.measures.agreement.gamma_candidates import Candidates
from lapsus.measures.agreement.gamma_continuum import Ints
from lapsus.measures.bootstrap import Floats

_HOTTEST, _COLDEST = 2.0, 0.003
"""The first and the last temperature, to be divided by the number of pairs of annotators."""
_SIFTINGS = 6
"""How often, while the temperature falls, candidates with a negligible share are left out."""
_HOPELESS = 30
"""Left out are candidates whose marks cost so many temperatures more than they save: shares below a billionth."""
_TINY = 1e-300
"""Keeps logarithms finite."""


class _Side(NamedTuple):
    """One annotator's marks, and in which candidates they are: no candidate is there twice."""

    marks: Ints
    candidate: Ints
    mark: Ints
    """The place among the annotator's marks."""


def prices(
    found: Candidates, wanted: NDArray[np.bool_], annotator: Ints, annotators: int, rounds: int
) -> Floats:
    """A price for each mark of the wanted candidates; 0 for other marks.

    `annotator` says whose each mark is, of so many `annotators`; `rounds` is the number of temperatures.
    """
    here = wanted[found.owner]
    owner, mark = found.owner[here], found.mark[here]
    size = np.bincount(owner, minlength=len(wanted))
    price = np.zeros(len(annotator))
    np.maximum.at(price, mark, found.saves[owner] / size[owner])
    cooling = np.geomspace(_HOTTEST, _COLDEST, rounds) / (annotators * (annotators - 1) / 2)
    for temperatures in np.array_split(cooling, min(_SIFTINGS, rounds)):
        slack = found.saves - np.bincount(owner, price[mark], len(wanted))
        alive = slack[owner] > -_HOPELESS * temperatures[0]
        sides = _sides(owner[alive], mark[alive], annotator, annotators)
        for temperature in temperatures.tolist():
            for side in sides:
                _share_out(side, price, slack, temperature)
            # Whoever comes first pays least: they take turns, so that no annotator's marks become worthless.
            sides.append(sides.pop(0))
    slack = found.saves - np.bincount(owner, price[mark], len(wanted))
    sides = _sides(owner, mark, annotator, annotators)
    for _ in range(3):
        for side in sides:
            _lower(side, price, slack)
    return price


def _sides(owner: Ints, mark: Ints, annotator: Ints, annotators: int) -> list[_Side]:
    """The memberships `mark` in candidate `owner`, annotator by annotator."""
    sides = []
    for number in range(annotators):
        here = annotator[mark] == number
        marks = np.flatnonzero(np.bincount(mark[here], minlength=len(annotator)))
        sides.append(_Side(marks, owner[here], np.searchsorted(marks, mark[here])))
    return sides


def _share_out(side: _Side, price: Floats, slack: Floats, temperature: float) -> None:
    """One Sinkhorn step: set the prices of one annotator's marks so that the shares of each mark add up to 1.

    `slack` is what each candidate saves less the prices of its marks; it is kept up to date in place, as `price` is.
    """
    marks, candidate, mark = side
    alone = np.exp(-price[marks] / temperature)
    shared = alone + np.bincount(mark, np.exp(slack[candidate] / temperature), len(marks))
    change = temperature * np.log(np.maximum(shared, _TINY))
    price[marks] += change
    slack[candidate] -= change[mark]


def _lower(side: _Side, price: Floats, slack: Floats) -> None:
    """Set the prices of one annotator's marks as low as dual feasibility allows with the others' prices."""
    marks, candidate, mark = side
    needed = np.zeros(len(marks))
    np.maximum.at(needed, mark, slack[candidate] + price[marks[mark]])
    slack[candidate] -= (needed - price[marks])[mark]
    price[marks] = needed
