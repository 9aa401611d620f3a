"""How far apart two answers are, and agreement from that: a table of answers by answers, 0 on the diagonal."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lapsus.errors import UsageError
from lapsus.measures.bootstrap import Floats

_ROWS = 256


def nominal(answers: int) -> Floats:
    """1 between any two different answers."""
    return 1 - np.eye(answers)


def linear(numbers: Floats) -> Floats:
    """The absolute difference of two numbers."""
    return np.abs(numbers[:, None] - numbers)


def squared(numbers: Floats) -> Floats:
    """The squared difference of two numbers."""
    return (numbers[:, None] - numbers) ** 2


def relative(numbers: Floats) -> Floats:
    """The squared difference as a share of the sum: for numbers with a true zero."""
    if (numbers < 0).any():
        raise UsageError("ratio-scale-no-numbers", hint="use-alpha-interval")
    return np.nan_to_num(ratio(numbers[:, None] - numbers, numbers[:, None] + numbers)) ** 2


def steps(answers: int) -> Floats:
    """How many pairs there are among the answers from one to the other: n(n+1)/2 for n steps apart."""
    apart = linear(np.arange(answers, dtype=np.float64))
    return apart * (apart + 1) / 2


def jaccard(members: NDArray[np.bool_]) -> Floats:
    """1 less the share of labels that two sets have in common; two empty sets are the same."""
    return _between_sets(members, lambda overlap, both, smaller, larger: 1 - overlap)


def masi(members: NDArray[np.bool_]) -> Floats:
    """Like Jaccard, but one set within the other is nearer than sets that only overlap (Passonneau 2006)."""
    return _between_sets(
        members,
        lambda overlap, both, smaller, larger: (
            1 - overlap * np.where(both == larger, 1, np.where(both == smaller, 2 / 3, 1 / 3))
        ),
    )


def unlike(members: NDArray[np.bool_]) -> Floats:
    """1 between any two different sets."""
    return nominal(len(members))


SETS: dict[str, Callable[[NDArray[np.bool_]], Floats]] = {
    "nominal": unlike,
    "masi": masi,
    "jaccard": jaccard,
}
LINES: dict[str, Callable[[Floats], Floats]] = {
    "none": lambda numbers: nominal(len(numbers)),
    "linear": linear,
    "quadratic": squared,
}


def within_rows(codes: NDArray[np.signedinteger[Any]], distance: Floats) -> Floats:
    """For each row of codes, the sum of the distances between any two of its answers."""
    total = np.zeros(len(codes))
    for right in range(1, codes.shape[1]):
        for left in range(right):
            one, other = codes[:, left], codes[:, right]
            total += np.where((one >= 0) & (other >= 0), distance[one, other], 0.0)
    return total


def _between_sets(
    members: NDArray[np.bool_], apart: Callable[[Floats, Floats, Floats, Floats], Floats]
) -> Floats:
    """A table from the overlap of two sets, the labels that both hold, and the smaller and larger size."""
    held = members.astype(np.float64)
    sizes = held.sum(axis=1)
    table = np.empty((len(held), len(held)))
    # In blocks, since thousands of different sets make a table of which only one copy should be in memory.
    for start in range(0, len(held), _ROWS):
        rows = slice(start, start + _ROWS)
        both = held[rows] @ held.T
        either = sizes[rows, None] + sizes - both
        overlap = np.where(either == 0, 1.0, np.nan_to_num(ratio(both, either)))
        table[rows] = apart(
            overlap, both, np.minimum(sizes[rows, None], sizes), np.maximum(sizes[rows, None], sizes)
        )
    return table


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
