"""How alike two sets of labels are: exact match, Jaccard and MASI, on rows of yes and no."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lapsus.measures.bootstrap import Floats

_PART_OF, _OVERLAP = 2 / 3, 1 / 3
"""What MASI leaves of Jaccard where one set holds the other, and where each has labels of its own."""


def set_overlap(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> tuple[Floats, Floats, Floats]:
    """Exact match, Jaccard and MASI of rows `(..., labels)`. Two empty sets are the same set."""
    both = np.count_nonzero(first & second, axis=-1)
    sizes = np.count_nonzero(first, axis=-1), np.count_nonzero(second, axis=-1)
    either = sizes[0] + sizes[1] - both
    same = both == either
    jaccard = np.where(same, 1.0, both / np.maximum(either, 1))
    kept = np.where(same, 1.0, np.where(both == np.minimum(*sizes), _PART_OF, _OVERLAP))
    return same.astype(np.float64), jaccard, jaccard * kept
