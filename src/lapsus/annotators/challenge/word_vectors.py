"""Vectors of words from how often they stand together: a small corpus needs no more.

Counts become positive pointwise mutual information, whose largest directions are the vectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]

_WINDOW = 4
_SMOOTH = 0.75
"""Frequent neighbours count less than they are frequent, as word2vec has it."""
_BLOCK = 2048
"""Rows of words looked up at a time."""
_COMMON = 1e-3
"""Words more frequent than this weigh less in a sentence."""


def neighbour_counts(utterances: Iterable[Sequence[int]], size: int) -> Matrix:
    """How often two words stand near each other."""
    counts = np.zeros((size, size), dtype=np.float32)
    for words in utterances:
        row = np.array(words, dtype=np.intp)
        for distance in range(1, min(_WINDOW, len(row) - 1) + 1):
            np.add.at(counts, (row[:-distance], row[distance:]), 1.0 / distance)
    return counts + counts.T


def pair_counts(pairs: Iterable[tuple[Sequence[int], Sequence[int]]], size: int) -> Matrix:
    """How often a word of the second utterance follows a word of the first."""
    counts = np.zeros((size, size), dtype=np.float32)
    for first, second in pairs:
        if first and second:
            counts[np.ix_(sorted(set(first)), sorted(set(second)))] += 1.0
    return counts


def mutual_information(counts: Matrix) -> Matrix:
    """How much more often than by chance, as a logarithm; less often counts as chance."""
    rows, columns = counts.sum(axis=1), counts.sum(axis=0) ** _SMOOTH
    expected = np.outer(rows, columns / max(float(columns.sum()), 1e-9))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log(counts / expected)
    return np.where(counts > 0, np.maximum(found, 0), 0).astype(np.float32)


def factors(matrix: Matrix, width: int, seed: int) -> tuple[Matrix, Matrix]:
    """Two sets of vectors, for rows and for columns, whose products come close to the matrix."""
    width = min(width, len(matrix))
    drawn = np.random.default_rng(seed).standard_normal((matrix.shape[1], width + 10)).astype(np.float32)
    basis = np.linalg.qr(matrix @ drawn)[0]
    for _ in range(3):
        basis = np.linalg.qr(matrix @ (matrix.T @ basis))[0]
    left, values, right = np.linalg.svd(basis.T @ matrix, full_matrices=False)
    root = np.sqrt(values[:width])
    return (basis @ left)[:, :width] * root, right[:width].T * root


def sentence_weights(utterances: Iterable[Sequence[int]], size: int) -> Matrix:
    """How much each word tells in a sentence: rare ones most."""
    counts = np.bincount([word for words in utterances for word in words], minlength=size)
    frequency = counts / max(int(counts.sum()), 1)
    return (_COMMON / (_COMMON + frequency)).astype(np.float32)


def weighed_means(vectors: Matrix, ids: NDArray[np.int64], weights: Matrix) -> Matrix:
    """The mean vector of each row of words, each word with its weight; 0 where all weights are."""
    means = np.zeros((len(ids), vectors.shape[1]), dtype=np.float32)
    for start in range(0, len(ids), _BLOCK):
        rows = slice(start, start + _BLOCK)
        total = np.maximum(weights[rows].sum(axis=1, keepdims=True), 1e-6)
        means[rows] = np.einsum("ns,nsd->nd", weights[rows], vectors[ids[rows]]) / total
    return means
