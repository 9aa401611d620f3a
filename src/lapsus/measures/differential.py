"""Differential item functioning: do two groups of annotators answer alike about the same units, or about matched ones?

What one group said of a stratum is held against what the other said of it (Mantel and Haenszel 1959): of a unit or,
where the groups share none, of all units that are alike. Documents are resampled.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lapsus.measures.bootstrap import USUAL, Bootstrap, Floats, bootstrap_interval, group_sums
from lapsus.measures.score import Score, signature
from lapsus.model import UnitKey
from lapsus.model.votes import LabelSetVotes, LabelVotes, Votes

Stratum = Callable[[UnitKey], str]
"""Which units are held against each other."""


class Shift(NamedTuple):
    """A label in two groups."""

    label: str
    first: float
    """Its share in the first group, over the strata that both judged."""
    second: float
    difference: Score
    """Second minus first, within strata."""
    odds: Score
    """Mantel and Haenszel's common odds ratio, of the second against the first; 1: no difference."""


def shifts(
    first: Votes, second: Votes, stratum: Stratum | None = None, *, bootstrap: Bootstrap | None = USUAL
) -> list[Shift]:
    """How far each label's share differs between two groups; none where they have no stratum in common.

    `stratum` says which units are matched; without it only a unit that both judged is matched, with itself.
    """
    both = [votes for votes in (first, second) if isinstance(votes, LabelVotes | LabelSetVotes)]
    if len(both) < 2:
        return []
    one, other = both
    place: Callable[[UnitKey], object] = stratum or (lambda unit: unit)
    groups = [{place(unit) for unit in group.units} for group in both]
    strata = {key: number for number, key in enumerate(sorted(groups[0] & groups[1], key=str))}
    if not strata:
        return []
    # A stratum is where its document is, or is one of few that all documents may be in.
    cell: dict[tuple[str, object], int] = {}
    for unit in (*one.units, *other.units):
        if place(unit) in strata:
            cell.setdefault((unit.document, place(unit)), len(cell))
    counted = [_cells(group, place, cell) for group in both]
    return [
        _shift(label, np.hstack([by_label[label] for by_label in counted]), cell, bootstrap)
        for label in one.labels
        if label in other.labels
    ]


def _cells(
    group: LabelVotes | LabelSetVotes,
    place: Callable[[UnitKey], object],
    cell: Mapping[tuple[str, object], int],
) -> dict[str, Floats]:
    """By label how often it was given, and could have been: (cells, 2)."""
    counts, answered = group.counts(), group.answered.sum(axis=1)
    cells = np.zeros((len(group.labels), len(cell), 2))
    for row, unit in enumerate(group.units):
        if (number := cell.get((unit.document, place(unit)))) is not None:
            cells[:, number, 0] += counts[row]
            cells[:, number, 1] += answered[row]
    return dict(zip(group.labels, cells, strict=True))


def _shift(
    label: str, cells: Floats, cell: Mapping[tuple[str, object], int], bootstrap: Bootstrap | None
) -> Shift:
    documents = _numbers([document for document, _ in cell])
    strata = _numbers([stratum for _, stratum in cell])
    count = int(strata.max()) + 1
    is_inside = count == len(cell)
    if is_inside:
        sums = group_sums(_parts(cells), documents)
    else:
        spread = np.zeros((int(documents.max()) + 1, count, 4))
        spread[documents, strata] = cells
        sums = spread.reshape(len(spread), -1)

    def parts(totals: Floats) -> Floats:
        """What the estimates are made from; strata that lie in one document each are added up already."""
        if is_inside:
            return totals
        added: Floats = _parts(totals.reshape(*totals.shape[:-1], count, 4)).sum(axis=-2)
        return added

    def difference(totals: Floats) -> Floats:
        found = parts(totals)
        value: Floats = found[..., 0] / found[..., 1]
        return value

    def log_odds(totals: Floats) -> Floats:
        found = parts(totals)
        value: Floats = np.log((found[..., 2] + 0.5) / (found[..., 3] + 0.5))
        return value

    totals = parts(sums.sum(axis=0))
    line = signature(strata=count, documents=len(sums), boot=bootstrap)
    moved = float(totals[0] / totals[1])
    around = bootstrap_interval(sums, difference, bootstrap)
    ratio = bootstrap_interval(sums, log_odds, bootstrap, bounds=None)
    odds = float(np.exp(log_odds(sums.sum(axis=0))))
    return Shift(
        label,
        float(totals[4] / totals[1]),
        float(totals[5] / totals[1]),
        Score("difference", moved, count, around, signature=line),
        Score("odds ratio", odds, count, ratio and type(ratio)(*np.exp(ratio).tolist()), signature=line),
    )


def _numbers(keys: Sequence[object]) -> NDArray[np.intp]:
    """The same number for the same key, from 0 on."""
    known: dict[object, int] = {}
    return np.array([known.setdefault(key, len(known)) for key in keys], dtype=np.intp)


def _parts(cells: Floats) -> Floats:
    """For each stratum `(..., 4)`: yes and all of the first, yes and all of the second; what the estimates add up."""
    yes, all_, yes2, all2 = (cells[..., place] for place in range(4))
    n = np.maximum(all_ + all2, 1)
    weight = all_ * all2 / n
    share, share2 = yes / np.maximum(all_, 1), yes2 / np.maximum(all2, 1)
    return np.stack(
        [
            weight * (share2 - share),
            weight,
            yes2 * (all_ - yes) / n,
            yes * (all2 - yes2) / n,
            weight * share,
            weight * share2,
        ],
        axis=-1,
    )
