"""The best alignment: the way to align all marks that leaves the least disorder.

To choose candidates that share no mark, so that together they save most, is a set packing problem. Marks get
prices, whose sum is more than any alignment can save. What an alignment saves less than that sum is its loss:
the prices of marks left alone, and what its candidates cost more than they save. A walk over the marks from
left to right looks for the least loss, remembering only which of the marks ahead are taken. It starts with a
small margin and gives up every way that loses more. With good prices hardly a way is left, and one that comes
through within the margin is the best there is.

Prices of marks are dual variables of the linear program behind it, whose sum is an upper bound.
Dual feasible: no candidate saves more than the prices of its marks add up to. The sum of the prices is then no less
than what any alignment can save. Prices close to the lowest ones are found as for transport problems, by entropic
regularisation and scaling (Sinkhorn) in a few passes over the candidates: each mark is shared out between its
candidates and standing alone, evenly at a high temperature, ever more one-sidedly as the temperature falls.
"""

from collections.abc import Iterable
from heapq import nsmallest
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lapsus.measures.agreement.gamma_candidates import Candidates, Ints, Marks
from lapsus.measures.bootstrap import Floats

_MARGIN = 0.01
"""How much an alignment may lose at first..."""
_WIDER = 4
"""...and how many times more if none does."""
_NOTHING = 1e-9
"""A loss that is only rounding."""
_FEW = 100
"""How many ways are followed once there were too many."""
_Chain: TypeAlias = "tuple[int, _Chain] | None"
"""The candidates taken so far, the latest first."""
_Ways: TypeAlias = dict[int, tuple[float, _Chain]]
"""By which of the marks ahead are taken, as bits: what has been lost, and how."""
_HOTTEST, _COLDEST = 2.0, 0.003
"""The first and the last temperature, to be divided by the number of pairs of annotators."""
_SIFTINGS = 6
"""How often, while the temperature falls, candidates with a negligible share are left out."""
_HOPELESS = 30
"""Left out are candidates whose marks cost so many temperatures more than they save: shares below a billionth."""
_TINY = 1e-300
"""Keeps logarithms finite."""


class _Try(NamedTuple):
    """How hard to look."""

    rounds: int
    """How often prices are scaled."""
    widest: float
    """Up to which margin ways are looked for."""
    most: int
    """How many ways to have come so far are followed. Beyond that the best may be missed."""


_TRIES = (_Try(60, 0.7, 500), _Try(400, np.inf, 5_000))
"""What is left after the first is looked at harder."""


class Aligned(NamedTuple):
    """The best alignments of many continua."""

    chosen: Ints
    """The candidates taken. All other marks stand alone."""
    disorder: Floats
    """For each continuum, the sum of the disorders of its unitary alignments."""
    excess: Floats
    """For each continuum, by how much that may be above the least; infinite where nobody knows."""


class _Step(NamedTuple):
    """A candidate as the walk meets it, at the first of its marks."""

    ahead: int
    """Its other marks, as bits, the next mark being the lowest."""
    loss: float
    candidate: int


class _Way(NamedTuple):
    loss: float
    chain: _Chain
    surely: bool
    """Whether it is the best: nothing is lost, or no other way was given up on account of their number."""


def aligned(found: Candidates, marks: Marks, annotators: int, continua: int) -> Aligned:
    """The best alignment of marks, sorted, of so many continua and so many annotators of each."""
    excess = np.zeros(continua)
    chosen: list[int] = []
    board = _Board(found, len(marks.start))
    left = board.stretches()
    for effort in _TRIES:
        if not left:
            break
        wanted = board.within(left)
        price = prices(found, wanted, marks.annotator, annotators, effort.rounds)
        walks = _Walks(board, wanted, price)
        stretches, left = left, []
        for begin, end in stretches:
            way = walks.best(begin, end, effort)
            if way is None:
                left.append((begin, end))
                continue
            at = marks.continuum[begin]
            if found.curbed[begin]:
                excess[at] = np.inf
            elif not way.surely:
                excess[at] += way.loss
            chosen += _links(way.chain)
    taken = np.array(chosen, dtype=np.int64)
    saved = np.bincount(marks.continuum[board.first[taken]], found.saves[taken], continua)
    alone = np.bincount(marks.continuum, minlength=continua).astype(np.float64)
    return Aligned(taken, alone - saved, excess)


class _Board:
    """Where candidates begin and end in the row of marks."""

    def __init__(self, found: Candidates, marks: int) -> None:
        self.found = found
        self.marks = marks
        # The memberships of a candidate stand together.
        ends = np.searchsorted(found.owner, np.arange(len(found.saves) + 1))
        firsts = ends[:-1]
        self.first = np.minimum.reduceat(found.mark, firsts) if len(firsts) else found.mark
        self.last = np.maximum.reduceat(found.mark, firsts) if len(firsts) else found.mark
        self._members, self._ends = found.mark.tolist(), ends.tolist()

    def stretches(self) -> list[tuple[int, int]]:
        """From and up to which mark candidates hang together. Marks that are in no candidate are left out."""
        reach = np.arange(self.marks)
        np.maximum.at(reach, self.first, self.last)
        ends = np.flatnonzero(np.maximum.accumulate(reach) == np.arange(self.marks)) + 1
        begins = np.concatenate([[0], ends])[:-1]
        some = ends - begins > 1
        return list(zip(begins[some].tolist(), ends[some].tolist(), strict=True))

    def within(self, stretches: Iterable[tuple[int, int]]) -> NDArray[np.bool_]:
        """Which candidates are in one of the stretches."""
        marks = np.zeros(self.marks, dtype=np.bool_)
        for begin, end in stretches:
            marks[begin:end] = True
        return marks[self.first]

    def steps(self, places: Ints, loss: Floats) -> dict[int, list[_Step]]:
        """Candidates by the first of their marks."""
        steps: dict[int, list[_Step]] = {}
        for candidate, at in zip(places.tolist(), self.first[places].tolist(), strict=True):
            bits = 0
            for mark in self._members[self._ends[candidate] : self._ends[candidate + 1]]:
                bits |= 1 << (mark - at)
            steps.setdefault(at, []).append(_Step(bits >> 1, float(loss[candidate]), candidate))
        return steps


class _Walks:
    """Walks over the marks from left to right, which take candidates or leave marks alone."""

    def __init__(self, board: _Board, wanted: NDArray[np.bool_], price: Floats) -> None:
        found = board.found
        cost = np.bincount(found.owner, price[found.mark], len(found.saves))
        self._board = board
        self._price = price.tolist()
        self._loss = np.where(wanted, np.maximum(cost - found.saves, 0.0), np.inf)
        self._easy = board.steps(np.flatnonzero(self._loss <= _MARGIN), self._loss)

    def best(self, begin: int, end: int, effort: _Try) -> _Way | None:
        """The way with the least loss over a stretch, if it takes no more than this effort."""
        board, price, margin = self._board, self._price[begin:end], _MARGIN
        way = _walk(self._easy, begin, price, margin, effort.most)
        while way is None and (margin := margin * _WIDER) <= effort.widest:
            here = (board.first >= begin) & (board.first < end) & (self._loss <= margin)
            steps = board.steps(np.flatnonzero(here), self._loss)
            way = _walk(steps, begin, price, margin, effort.most)
        return way if way is not None and (way.surely or effort is _TRIES[-1]) else None


def _walk(
    steps: dict[int, list[_Step]], begin: int, price: list[float], margin: float, most: int
) -> _Way | None:
    """The way with the least loss, if there is one within the margin."""
    ways: _Ways = {0: (0.0, None)}
    surely = True
    for place, alone in enumerate(price, begin):
        ways = _next(ways, alone, steps.get(place, ()), margin, most)
        if len(ways) > most:
            # Too many to be sure. From here on any loss will do, so that one comes through.
            ways = dict(nsmallest(_FEW, ways.items(), key=lambda way: way[1][0]))
            most, margin, surely = _FEW, np.inf, False
    if not ways:
        return None
    loss, chain = ways[0]
    return _Way(loss, chain, surely or loss <= _NOTHING)


def _next(ways: _Ways, alone: float, steps: Iterable[_Step], margin: float, most: int) -> _Ways:
    """Go on by one mark: it is taken already, or stands alone, or is the first of a candidate.

    More ways than can be followed are not looked for.
    """
    after: _Ways = {}
    for taken, (lost, chain) in ways.items():
        if len(after) > most:
            break
        ahead = taken >> 1
        total = lost if taken & 1 else lost + alone
        if total <= margin and (ahead not in after or total < after[ahead][0]):
            after[ahead] = total, chain
        if taken & 1:
            continue
        for mask, loss, candidate in steps:
            total = lost + loss
            if total <= margin and not ahead & mask:
                then = ahead | mask
                if then not in after or total < after[then][0]:
                    after[then] = total, (candidate, chain)
    return after


def _links(chain: _Chain) -> list[int]:
    links = []
    while chain is not None:
        link, chain = chain
        links.append(link)
    return links


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
