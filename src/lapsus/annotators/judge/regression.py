"""Regularised logistic regression to shares of votes, by L-BFGS with numpy alone; and features made ready for it."""

from collections import deque
from collections.abc import Callable
from typing import Final, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.features.network_layers import softmax

Matrix: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = NDArray[np.float32]

_STEPS: Final = 80
_CLOSE: Final = 1e-3
"""The gradient, against that at the start, at which the search ends."""
_KEPT: Final = 8
"""Steps from which the curvature is guessed."""
_BIAS_HELD: Final = 1e-3
"""The penalty on the constant, as a part of the others': so small that it only keeps shares of 0 and 1 finite."""
AXES: Final = 300
"""Main axes of the vectors that are kept: more of them make fitting slower and no better."""
_VECTORS: Final = 0.2
"""How far an entry of a vector spreads when that of a number is 1: one of hundreds is to weigh less."""
_FAR: Final = 5.0
"""Standard deviations at which a number is cut."""


class Weights(NamedTuple):
    """A fitted regression."""

    slopes: Matrix
    """A row a feature, a column an answer."""
    bias: Matrix


def fit(
    rows: Rows,
    shares: Matrix,
    penalty: float,
    *,
    exclusive: bool,
    start: Weights | None = None,
    counts: Matrix | None = None,
) -> Weights:
    """The weights under which the shares are likeliest, with `penalty` a row on the squares of the slopes.

    `exclusive`: the shares of a row sum to 1 (softmax); else each answer is a yes or no of its own. `counts` says how
    often each row counts, where not once.
    """
    width, answers = rows.shape[1], shares.shape[1]
    often = np.ones((len(rows), 1)) if counts is None else counts.reshape(-1, 1)
    held = penalty * float(often.sum())
    usual = (shares * often).sum(axis=0) / often.sum()
    begin = Weights(np.zeros((width, answers)), _logit(usual)) if start is None else start

    def loss(flat: Matrix) -> tuple[float, Matrix]:
        weights = _shaped(flat, width, answers)
        logits = predict_logits(rows, weights)
        given, surprises = _softmax_loss(logits, shares) if exclusive else _sigmoid_loss(logits, shares)
        off, surprise = (given - shares) * often, float((surprises * often).sum())
        slopes = (rows.T @ off.astype(np.float32)).astype(np.float64) + held * weights.slopes
        bias = off.sum(axis=0) + _BIAS_HELD * held * weights.bias
        size = (weights.slopes**2).sum() + _BIAS_HELD * (weights.bias**2).sum()
        return surprise + held * size / 2, np.concatenate([slopes.ravel(), bias])

    return _shaped(_minimise(loss, np.concatenate([begin.slopes.ravel(), begin.bias])), width, answers)


def predict(rows: Rows, weights: Weights, *, exclusive: bool) -> Matrix:
    """The shares that the weights give."""
    logits = predict_logits(rows, weights)
    if not exclusive:
        return _sigmoid(logits)
    return softmax(logits)


def predict_logits(rows: Rows, weights: Weights) -> Matrix:
    """Logits: the linear part, before softmax or sigmoid."""
    return (rows @ weights.slopes.astype(np.float32)).astype(np.float64) + weights.bias


def _softmax_loss(logits: Matrix, shares: Matrix) -> tuple[Matrix, Matrix]:
    logits = logits - logits.max(axis=1, keepdims=True)
    logs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return np.exp(logs), -shares * logs


def _sigmoid_loss(logits: Matrix, shares: Matrix) -> tuple[Matrix, Matrix]:
    return _sigmoid(logits), np.logaddexp(0.0, logits) - shares * logits


def _sigmoid(logits: Matrix) -> Matrix:
    given: Matrix = 1 / (1 + np.exp(-np.clip(logits, -40, 40)))
    return given


def _logit(shares: Matrix) -> Matrix:
    kept = np.clip(shares, 1e-3, 1 - 1e-3)
    return np.log(kept / (1 - kept))


def _shaped(flat: Matrix, width: int, answers: int) -> Weights:
    return Weights(flat[: width * answers].reshape(width, answers), flat[width * answers :])


def _minimise(loss: Callable[[Matrix], tuple[float, Matrix]], point: Matrix) -> Matrix:
    """A minimum of a convex function that gives its value and its gradient."""
    value, gradient = loss(point)
    enough = _CLOSE * max(float(np.linalg.norm(gradient)), 1e-12)
    kept: deque[tuple[Matrix, Matrix, float]] = deque(maxlen=_KEPT)
    for _ in range(_STEPS):
        if np.linalg.norm(gradient) <= enough:
            break
        way = -_curved(gradient, kept)
        if (slope := float(gradient @ way)) >= 0:
            kept.clear()
            way, slope = -gradient, -float(gradient @ gradient)
        length = 1.0 if kept else min(1.0, 1.0 / float(np.abs(gradient).sum()))
        for _ in range(30):
            after, turned = loss(point + length * way)
            if after <= value + 1e-4 * length * slope:
                break
            length /= 2
        else:
            break
        step, change = length * way, turned - gradient
        if (bend := float(step @ change)) > 0:
            kept.append((step, change, bend))
        point, value, gradient = point + step, after, turned
    return point


def _curved(gradient: Matrix, kept: deque[tuple[Matrix, Matrix, float]]) -> Matrix:
    """The gradient times a guess of the inverse of the curvature, from the last steps."""
    found = gradient.copy()
    shares: list[float] = []
    for step, change, bend in reversed(kept):
        share = float(step @ found) / bend
        found -= share * change
        shares.append(share)
    if kept:
        _, change, bend = kept[-1]
        found *= bend / float(change @ change)
    for (step, change, bend), share in zip(kept, reversed(shares), strict=True):
        found += (share - float(change @ found) / bend) * step
    return found


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
