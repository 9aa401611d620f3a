"""Word frequency vectors: rows with few numbers that are not 0."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.challenge.vocabulary import UNKNOWN, Vocabulary


class Sparse(NamedTuple):
    """Row i has the numbers `values[starts[i]:starts[i+1]]` in those `columns`, and 0 elsewhere."""

    starts: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: NDArray[np.float64]

    @classmethod
    def of(cls, rows: Sequence[dict[int, float]]) -> Sparse:
        """The sparse matrix of rows given as `{column: value}`."""
        starts = np.cumsum([0, *(len(row) for row in rows)]).astype(np.int64)
        columns = np.array([column for row in rows for column in row], dtype=np.int64)
        values = np.array([value for row in rows for value in row.values()], dtype=np.float64)
        return cls(starts, columns, values)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def must_fit(self, rows: int, width: int) -> None:
        """Complain of numbers from a file that make no matrix of so many rows and columns."""
        starts, columns = self.starts, self.columns
        ends = starts.shape == (rows + 1,) and starts[0] == 0 and starts[-1] == len(columns)
        if not ends or columns.shape != self.values.shape or (np.diff(starts) < 0).any():
            raise ValueError("the rows do not fit together")
        if len(columns) and not 0 <= columns.min() <= columns.max() < width:
            raise ValueError("a column lies outside")

    def row(self, place: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The columns and values of one row."""
        part = slice(self.starts[place], self.starts[place + 1])
        return self.columns[part], self.values[part]

    def some(self, places: Iterable[int]) -> Sparse:
        """The matrix of the rows at these places."""
        rows = [self.row(place) for place in places]
        return Sparse.of([dict(zip(c.tolist(), v.tolist(), strict=True)) for c, v in rows])

    def turned(self, width: int) -> Sparse:
        """The transpose."""
        order = np.argsort(self.columns, kind="stable")
        rows = np.repeat(np.arange(len(self)), np.diff(self.starts))
        starts = np.concatenate([[0], np.cumsum(np.bincount(self.columns, minlength=width))])
        return Sparse(starts.astype(np.int64), rows[order], self.values[order])


def products(rows: Sparse, turned: Sparse, count: int) -> NDArray[np.float64]:
    """Every row times each of `count` other rows, which are given turned."""
    found = np.zeros((len(rows), count))
    for place in range(len(rows)):
        for column, value in zip(*rows.row(place), strict=True):
            others, values = turned.row(column)
            found[place, others] += value * values
    return found


def frequencies(vocabulary: Vocabulary, sides: Iterable[Sequence[str]]) -> dict[int, float]:
    """The frequencies of known terms, each side at unit length, so that long utterances do not drown short ones."""
    row: dict[int, float] = {}
    for side in sides:
        counts = Counter(vocabulary.encode(side))
        del counts[UNKNOWN]
        length = float(np.sqrt(sum(count * count for count in counts.values())))
        row.update({term: count / length for term, count in counts.items()})
    return row
