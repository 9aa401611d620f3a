"""The mean of many decision trees, in numpy.

All trees lie one after another in the same arrays. A node that decides has a column and a bound: rows at or below the
bound go to the node that follows it, others to the node it names. A node that does not decide names itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.encoder.japanese_kernel import Matrix


class Trees(NamedTuple):
    """Decision trees with three numbers at each end."""

    roots: NDArray[np.int64]
    column: NDArray[np.int64]
    bound: Matrix
    other: NDArray[np.int64]
    """Where rows above the bound go; the node itself where a tree ends."""
    value: NDArray[np.int64]
    """Of a node at which a tree ends: the row of `values`."""
    values: Matrix

    @classmethod
    def restore(cls, arrays: Mapping[str, NDArray[np.generic]]) -> Self:
        """Trees as they are kept: how many nodes each has, and how far on a node's other branch lies."""
        sizes = arrays["sizes"].astype(np.int64)
        skip = arrays["skip"].astype(np.int64)
        ends = skip == 0
        return cls(
            np.cumsum(sizes) - sizes,
            arrays["column"].astype(np.int64),
            arrays["bound"].astype(np.float32),
            np.arange(len(skip)) + skip,
            np.where(ends, np.cumsum(ends) - 1, 0),
            arrays["values"].astype(np.float32),
        )

    def mean(self, rows: Matrix) -> Matrix:
        """What the trees say of each row, on average."""
        row = np.repeat(np.arange(len(rows)), len(self.roots))
        node = np.tile(self.roots, len(rows))
        going = np.flatnonzero(self.other[node] != node)
        while len(going):
            here = node[going]
            above = rows[row[going], self.column[here]] > self.bound[here]
            node[going] = here = np.where(above, self.other[here], here + 1)
            going = going[self.other[here] != here]
        found = self.values[self.value[node]].reshape(len(rows), len(self.roots), self.values.shape[1])
        mean: Matrix = found.mean(axis=1)
        return mean
