"""Agreement beyond chance, NaN where there is nothing beyond it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lapsus.measures.bootstrap import Floats


def ratio(part: ArrayLike, whole: ArrayLike) -> Floats:
    """`part / whole`, NaN where `whole` is 0, without a warning."""
    above, below = np.broadcast_arrays(
        np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    )
    result: Floats = np.divide(above, below, out=np.full(above.shape, np.nan), where=below != 0)
    return result


def beyond_chance(observed: Floats, expected: Floats) -> Floats:
    """How much of the agreement that chance leaves open was reached."""
    return ratio(observed - expected, 1 - expected)
