"""Rows of features made ready for regression: numbers standardised, vectors turned onto their main axes."""

from __future__ import annotations

from typing import Final, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.judge.regression import Weights

Matrix: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = NDArray[np.float32]

AXES: Final = 300
"""Main axes of the vectors that are kept: more of them make fitting slower and no better."""
_VECTORS: Final = 0.2
"""How far an entry of a vector spreads when that of a number is 1: one of hundreds is to weigh less."""
_FAR: Final = 5.0
"""Standard deviations at which a number is cut."""


class Projection(NamedTuple):
    """What turns rows of features into rows to learn from. `vectors` is how many of the first columns are vectors'."""

    vectors: int
    mean: Matrix
    spread: Matrix
    axes: Matrix
    """A row an entry of the vectors, a column an axis."""

    @classmethod
    def of(cls, rows: Rows, vectors: int) -> Self:
        """The projection that some rows ask for. Cells that are NaN are unknown."""
        known = np.isfinite(rows)
        mean = np.where(known, rows, 0).sum(axis=0, dtype=np.float64) / np.maximum(known.sum(axis=0), 1)
        centred = np.where(known, rows - mean, 0)
        spread = np.sqrt(np.square(centred).sum(axis=0) / np.maximum(known.sum(axis=0), 1))
        spread[:vectors] = np.sqrt(np.square(spread[:vectors]).mean()) / _VECTORS
        spread[spread < 1e-9] = np.inf
        main = centred[:, :vectors].astype(np.float32) / spread[:vectors].astype(np.float32)
        if len(rows) < vectors:
            axes = np.linalg.svd(main.astype(np.float64), full_matrices=False)[2].T
        else:
            axes = np.linalg.eigh((main.T @ main).astype(np.float64))[1][:, ::-1]
        return cls(vectors, mean, spread, axes[:, : min(AXES, len(rows) - 1)])

    def rows(self, rows: Rows) -> Rows:
        """Rows to learn from; what is unknown stands at its mean."""
        scaled = self.scaled(rows)
        turned = scaled[:, : self.vectors] @ self.axes.astype(np.float32)
        return np.hstack([turned, scaled[:, self.vectors :]])

    def scaled(self, rows: Rows) -> Rows:
        """The same, vectors not yet turned: what weights that were turned back are for."""
        scaled = (rows - self.mean.astype(np.float32)) / self.spread.astype(np.float32)
        return np.clip(np.nan_to_num(scaled, nan=0.0), -_FAR, _FAR)

    def turned_back(self, weights: Weights) -> Weights:
        """Weights for scaled rows that give what `weights` give for rows to learn from."""
        axes = self.axes.shape[1]
        return Weights(np.vstack([self.axes @ weights.slopes[:axes], weights.slopes[axes:]]), weights.bias)
