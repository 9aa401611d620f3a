"""From what a reader says of a turn, and of the turns before it, to the shares of votes for O, T and X.

A linear map and a softmax, fitted to the divergence by which detectors are scored. It is small enough to be fitted
again on a few dialogues, starting from the map that is shipped.
"""

from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.features.network_layers import softmax

Matrix: TypeAlias = NDArray[np.float64]

LOGITS: Final = 3
HELD: Final = 5.0
"""How hard weights are held to where they start from: about so many turns' worth."""
_BIAS_HELD = 1.0
_MIXED = 0.3
"""Products of features and logits are held harder than the features themselves."""
_NOTHING_SAID = 2
_STEPS, _HALVINGS, _ENOUGH = 100, 20, 1e-9
_TINY = 1e-12


class Seen(NamedTuple):
    """What is known of some turns, a row a turn."""

    readings: Matrix
    """What the reader says: three logits, and whatever else it has to say."""
    before: Matrix
    """What it said of the dialogue's earlier system turns: their mean_before."""
    features: Matrix


def mean_before(earlier: Matrix) -> Matrix:
    """The mean of the logits of some turns, and of two more that say nothing: little is known from one turn."""
    mean: Matrix = centred(earlier[:, :LOGITS]).sum(axis=0) / (len(earlier) + _NOTHING_SAID)
    return mean


def rows_of(seen: Seen) -> Matrix:
    """The columns that the map weighs; the last one is constant."""
    logits = centred(seen.readings[:, :LOGITS])
    mixed = [_MIXED * seen.features * logits[:, [label]] for label in (0, 2)]
    return np.hstack(
        [
            logits,
            seen.before,
            seen.features,
            *mixed,
            seen.readings[:, LOGITS:],
            np.ones((len(logits), 1)),
        ]
    )


def centred(logits: Matrix) -> Matrix:
    """Logits without what is common to all three, which says nothing."""
    difference: Matrix = logits - logits.mean(axis=1, keepdims=True)
    return difference


def shares_of(rows: Matrix, weights: Matrix) -> Matrix:
    """The distributions that a map gives."""
    return softmax(rows @ weights).astype(np.float64, copy=False)


def fit_weights(rows: Matrix, shares: Matrix, start: Matrix, held: float = HELD) -> Matrix:
    """The map under which given and wanted shares diverge least, held to where it starts from.

    Newton's steps with the curvature that the divergence has where both shares are the same, halved until they help.
    """
    hold = np.append(np.full(len(start) - 1, held), _BIAS_HELD)[:, None]
    weights, best = start, _loss(rows, shares, start, start, hold)
    for _ in range(_STEPS):
        step = _step(rows, shares, weights, start, hold)
        for halving in range(_HALVINGS):
            tried = weights - step / 2**halving
            loss = _loss(rows, shares, tried, start, hold)
            if loss < best:
                break
        else:
            return weights
        better, weights, best = best - loss, tried, loss
        if better < _ENOUGH * len(rows):
            break
    return weights


def _loss(rows: Matrix, shares: Matrix, weights: Matrix, start: Matrix, hold: Matrix) -> float:
    """The sum of the divergences, scaled to have the curvature of a likelihood, and the price of moving away."""
    given = np.maximum(shares_of(rows, weights), _TINY)
    middle = (given + shares) / 2
    apart = given * np.log(given / middle) + shares * np.log(np.maximum(shares, _TINY) / middle)
    return float(2 * apart.sum() + (hold * (weights - start) ** 2).sum() / 2)


def _step(rows: Matrix, shares: Matrix, weights: Matrix, start: Matrix, hold: Matrix) -> Matrix:
    given = np.maximum(shares_of(rows, weights), _TINY)
    pull = 2 * np.log(2 * given / (given + shares))
    slope = rows.T @ (given * (pull - (given * pull).sum(axis=1, keepdims=True))) + hold * (weights - start)
    bend = np.diag(np.repeat(hold.ravel(), LOGITS))
    for a in range(LOGITS):
        for b in range(LOGITS):
            along = given[:, a] * ((a == b) - given[:, b])
            bend[a::LOGITS, b::LOGITS] += rows.T @ (rows * along[:, None])
    return np.linalg.solve(bend, slope.ravel()).reshape(weights.shape)
