"""Softmax regression to soft labels, by Newton's method: a few dozen features, no other library."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.features.network_layers import softmax

Matrix = NDArray[np.float64]

_STEPS, _CLOSE = 50, 1e-8


def fit_softmax(features: Matrix, shares: Matrix, penalty: float) -> Matrix:
    """Weights `(features + 1, 3)` under which the shares are likeliest; the last row is the bias, unpenalised."""
    rows = with_bias(features)
    width, labels = rows.shape[1], shares.shape[1]
    weights = np.zeros((width, labels))
    held = np.repeat(np.append(np.full(width - 1, penalty), 1e-6), labels)
    for _ in range(_STEPS):
        given = softmax(rows @ weights)
        gradient = (rows.T @ (given - shares)).ravel() + held * weights.ravel()
        hessian = np.diag(held)
        for a in range(labels):
            for b in range(labels):
                along = given[:, a] * ((a == b) - given[:, b])
                hessian[a::labels, b::labels] += rows.T @ (rows * along[:, None])
        step = np.linalg.solve(hessian, gradient).reshape(weights.shape)
        weights -= step
        if np.abs(step).max() < _CLOSE:
            break
    return weights


def with_bias(features: Matrix) -> Matrix:
    """The features with a column of ones."""
    return np.hstack([features, np.ones((len(features), 1))])


def predict_softmax(features: Matrix, weights: Matrix) -> Matrix:
    """The distributions that the weights give."""
    return softmax(with_bias(features) @ weights).astype(np.float64, copy=False)
