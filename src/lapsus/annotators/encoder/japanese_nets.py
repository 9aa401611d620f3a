"""Small networks over sentence vectors and all that is known of a turn, in numpy. They answer together.

They were taught by a larger model: what it says of many dialogues that it made up, and what people said of real ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.encoder.japanese_kernel import Matrix, Scale, TurnVectors
from lapsus.annotators.features.network_layers import softmax

VECTOR_SCALE: Final = np.float32(8)
"""Parts of a vector of length one are small; this brings them near to the other numbers."""
_BEND, _CUBE = np.float32(np.sqrt(2 / np.pi)), np.float32(0.044715)


class Layer(NamedTuple):
    """A linear map for each network."""

    weight: NDArray[np.float32]
    bias: NDArray[np.float32]

    def __call__(self, rows: Matrix) -> Matrix:
        """What each network makes of the rows: all of them see the same, or each its own."""
        given: Matrix = rows @ self.weight + self.bias[:, None]
        return given


class Nets(NamedTuple):
    """Networks of one shape."""

    scale: Scale
    known: Layer
    turn: Layer
    pair: Layer
    join: Layer
    out: Layer

    @classmethod
    def restore(cls, arrays: Mapping[str, NDArray[np.generic]]) -> Self:
        """The networks that are kept."""
        part = {name: array.astype(np.float32) for name, array in arrays.items()}
        layers = (Layer(part[f"{name}.weight"], part[f"{name}.bias"]) for name in cls._fields[1:])
        return cls(Scale(part["middle"], part["spread"]), *layers)

    def mean(self, known: Matrix, scene: TurnVectors) -> Matrix:
        """How votes would fall, on average over the networks: a distribution a row."""
        pair = np.hstack([scene.target * scene.last, np.abs(scene.target - scene.last)])
        seen = (self.turn(VECTOR_SCALE * vectors) for vectors in scene[:3])
        parts = [self.known(self.scale(known)), *seen, self.pair(VECTOR_SCALE * pair)]
        joined = gelu(self.join(gelu(np.concatenate(parts, axis=2))))
        mean: Matrix = softmax(self.out(joined)).mean(axis=0)
        return mean


def gelu(rows: Matrix) -> Matrix:
    """Lets what is positive through and what is negative hardly (the GELU, by its usual approximation)."""
    gate: Matrix = np.float32(0.5) * rows * (1 + np.tanh(_BEND * (rows + _CUBE * rows * rows * rows)))
    return gate
