"""Prices of marks: how much a mark is worth to the best alignment, or a little more.

No candidate may save more than its marks cost together. The sum of the prices is then no less than what any
alignment can save. The lowest such prices solve a linear program; scaling, as it is done for transport
problems, comes close to them in a few passes over the candidates. Each mark is shared out between its
candidates and standing alone, evenly at first, ever more one-sidedly as it cools.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lapsus.measures.agreement.gamma_candidates import Candidates
from lapsus.measures.agreement.gamma_continuum import Ints
from lapsus.measures.bootstrap import Floats

_WARMEST, _COLDEST = 2.0, 0.003
"""How even the sharing is, first and last, over the number of pairs of annotators."""
_SIFTINGS = 6
"""How often candidates without a share to speak of are put aside."""
_HOPELESS = 30
"""How much more than they save such candidates cost, over the warmth: their share is below a billionth."""
_TINY = 1e-300


class _Side(NamedTuple):
    """One annotator's marks, and in which candidates they are: no candidate is there twice."""

    marks: Ints
    candidate: Ints
    mark: Ints
    """The place among the annotator's marks."""


def prices(
    found: Candidates, wanted: NDArray[np.bool_], annotator: Ints, annotators: int, rounds: int
) -> Floats:
    """A price for each mark of the wanted candidates; 0 for other marks."""
    here = wanted[found.owner]
    owner, mark = found.owner[here], found.mark[here]
    size = np.bincount(owner, minlength=len(wanted))
    price = np.zeros(len(annotator))
    np.maximum.at(price, mark, found.saves[owner] / size[owner])
    cooling = np.geomspace(_WARMEST, _COLDEST, rounds) / (annotators * (annotators - 1) / 2)
    for warmths in np.array_split(cooling, min(_SIFTINGS, rounds)):
        slack = found.saves - np.bincount(owner, price[mark], len(wanted))
        alive = slack[owner] > -_HOPELESS * warmths[0]
        sides = _sides(owner[alive], mark[alive], annotator, annotators)
        for warmth in warmths.tolist():
            for side in sides:
                _share_out(side, price, slack, warmth)
            # Whoever comes first pays least: they take turns, so that no annotator's marks become worthless.
            sides.append(sides.pop(0))
    slack = found.saves - np.bincount(owner, price[mark], len(wanted))
    sides = _sides(owner, mark, annotator, annotators)
    for _ in range(3):
        for side in sides:
            _lower(side, price, slack)
    return price


def _sides(owner: Ints, mark: Ints, annotator: Ints, annotators: int) -> list[_Side]:
    sides = []
    for number in range(annotators):
        here = annotator[mark] == number
        marks = np.flatnonzero(np.bincount(mark[here], minlength=len(annotator)))
        sides.append(_Side(marks, owner[here], np.searchsorted(marks, mark[here])))
    return sides


def _share_out(side: _Side, price: Floats, slack: Floats, warmth: float) -> None:
    """Set the prices of one annotator's marks so that the shares of each add up to 1."""
    marks, candidate, mark = side
    alone = np.exp(-price[marks] / warmth)
    shared = alone + np.bincount(mark, np.exp(slack[candidate] / warmth), len(marks))
    change = warmth * np.log(np.maximum(shared, _TINY))
    price[marks] += change
    slack[candidate] -= change[mark]


def _lower(side: _Side, price: Floats, slack: Floats) -> None:
    """Set the prices of one annotator's marks as low as the others' prices allow."""
    marks, candidate, mark = side
    needed = np.zeros(len(marks))
    np.maximum.at(needed, mark, slack[candidate] + price[marks[mark]])
    slack[candidate] -= (needed - price[marks])[mark]
    price[marks] = needed
