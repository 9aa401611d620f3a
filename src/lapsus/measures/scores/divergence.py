"""How far a predicted distribution is from the one that people gave."""

from __future__ import annotations

import numpy as np

from lapsus.measures.bootstrap import Floats

_TINY = np.finfo(np.float64).tiny


def jensen_shannon_terms(gold: Floats, predicted: Floats) -> Floats:
    """What each label adds to the Jensen-Shannon divergence, in bits.

    Half of `p log(p/m)` and half of `q log(q/m)` with `m` midway between the two, written so that three
    logarithms do; zeros add nothing. No term is below 0, whatever the distributions sum to.
    """
    middle = (gold + predicted) / 2
    terms = (_x_log_x(gold) + _x_log_x(predicted)) / 2 - _x_log_x(middle)
    return np.maximum(terms, 0.0, out=terms)


def jensen_shannon(gold: Floats, predicted: Floats) -> Floats:
    """The Jensen-Shannon divergence along the last axis: base 2, no square root."""
    divergence: Floats = jensen_shannon_terms(gold, predicted).sum(axis=-1)
    return divergence


def squared_error(gold: Floats, predicted: Floats) -> Floats:
    """The squared difference along the last axis, divided by the number of labels."""
    error: Floats = np.square(gold - predicted).mean(axis=-1)
    return error


def _x_log_x(x: Floats) -> Floats:
    logs = np.maximum(x, _TINY)
    np.log2(logs, out=logs)
    logs *= x
    return logs
