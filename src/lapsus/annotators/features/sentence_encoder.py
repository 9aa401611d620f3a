"""The network of the convolutional multilingual Universal Sentence Encoder, in numpy: pieces in, unit vectors out.

Whoever holds its weights, whole or cut down to one language, looks up the rows and gives the layers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Matrix: TypeAlias = NDArray[np.float32]
Places: TypeAlias = NDArray[np.int64]

WIDTH: Final = 512
LONGEST: Final = 128
"""Pieces read of a text; what follows is left out."""
WINDOWS: Final = ((2, 0), (3, 1), (5, 2))
"""The branches of convolutions: how many pieces each looks at, and how many of them lie before its own."""
BRANCH: Final = 256
_DECIMALS: Final = 5
"""Vectors are rounded, so that it does not show which texts were computed together."""
_TINY: Final = 1e-6


class Affine(NamedTuple):
    """A product and what is added to it; or the gain and bias of a layer normalisation."""

    weight: Matrix
    bias: Matrix


class Layers(NamedTuple):
    """The layers after the rows of the pieces."""

    convolutions: Mapping[int, Sequence[Affine]]
    """Of each branch, by the width of its window."""
    level: Affine
    pool: Affine
    dense: Sequence[Matrix]
    across: Sequence[Matrix]
    """The two short cuts past dense layers."""


def encoded(sizes: Places, embedded: Matrix, projected: Matrix, layers: Layers) -> Matrix:
    """A unit vector for each text. The rows of all texts lie one below the other; `sizes` says how many each has.

    `embedded` is what the table has for each piece, `projected` the same made ready for the branches, side by side.
    """
    begins = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    parts = [embedded]
    for place, (width, before) in enumerate(WINDOWS):
        near = _neighbours(sizes, begins, width, before)
        inputs = projected[:, place * BRANCH : (place + 1) * BRANCH]
        for kernel, bias in layers.convolutions[width]:
            inputs = np.maximum(_windows(inputs, near) @ kernel + bias, 0) + inputs
        parts.append(inputs)
    features = levelled(np.hstack(parts), layers.level)
    return _pooled(np.add.reduceat(features, begins, axis=0), sizes[:, None].astype(np.float32), layers)


def levelled(rows: Matrix, level: Affine) -> Matrix:
    """Layer normalisation."""
    rows = rows - rows.mean(axis=1, keepdims=True)
    spread = np.sqrt(np.square(rows).mean(axis=1, keepdims=True) + np.float32(_TINY))
    found: Matrix = rows / spread * level.weight + level.bias
    return found


def batches(
    texts: Sequence[str], ids: Iterable[list[int]], together: int
) -> Iterator[list[tuple[str, list[int]]]]:
    """Texts with their pieces, as many as have `together` pieces, and at least one."""
    batch: list[tuple[str, list[int]]] = []
    size = 0
    for text, pieces in zip(texts, ids, strict=True):
        if batch and size + len(pieces) > together:
            yield batch
            batch, size = [], 0
        batch.append((text, pieces))
        size += len(pieces)
    if batch:
        yield batch


def _windows(inputs: Matrix, near: Places) -> Matrix:
    padded = np.vstack([inputs, np.zeros((1, BRANCH), dtype=np.float32)])
    return padded[near].reshape(len(inputs), -1)


def _pooled(sums: Matrix, sizes: Matrix, layers: Layers) -> Matrix:
    """From sums over pieces to unit vectors: four dense layers with two short cuts."""
    dense, across = layers.dense, layers.across
    mean = (sums @ layers.pool.weight + sizes * layers.pool.bias) / np.sqrt(sizes)
    hidden = np.maximum(mean @ dense[0], 0)
    hidden = np.maximum(mean @ across[0] + hidden @ dense[1], 0)
    deeper = np.maximum(hidden @ dense[2], 0)
    vectors = np.tanh(hidden @ across[1] + deeper @ dense[3])
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), _TINY)
    return vectors.round(_DECIMALS).astype(np.float32)


def _neighbours(sizes: Places, begins: Places, width: int, before: int) -> Places:
    """For each piece the places its window covers; the place after the last stands for nothing."""
    total = int(sizes.sum())
    places = np.arange(total)[:, None] + np.arange(-before, width - before)
    first, behind = np.repeat(begins, sizes)[:, None], np.repeat(begins + sizes, sizes)[:, None]
    return np.where((places >= first) & (places < behind), places, total)
