"""Utterances to vectors: the convolutional multilingual Universal Sentence Encoder, in numpy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.encoder.japanese_pieces import Pieces

Matrix: TypeAlias = NDArray[np.float32]

WIDTH: Final = 512
LONGEST: Final = 128
"""Pieces read of an utterance; what follows is left out."""
_BRANCH = 256
_WINDOWS: Final = ((2, 0), (3, 1), (5, 2))
"""The branches: how many pieces each looks at, and how many of them lie before the piece it is at."""
_TOGETHER = 1024
"""Pieces computed at a time."""
_TINY = 1e-6
_OFTEN = 1 << 12
"""Pieces whose start is kept. They come in the order of how common they are."""
_REMEMBERED = 2_000
"""Utterances whose vectors are kept: systems repeat themselves, and every turn is context for the next."""
_DECIMALS = 5
"""Vectors are rounded, so that it does not show which utterances were computed together."""


class Vectors:
    """Gives a unit vector for an utterance, and remembers the latest ones."""

    def __init__(self, pieces: Pieces, weights: Mapping[str, NDArray[np.generic]]) -> None:
        self._pieces = pieces
        self._table = weights["table"]
        self._step = weights["table_step"].astype(np.float32)
        self._low = weights["table_low"].astype(np.float32)
        self._weights = {
            name: weights[name].astype(np.float32) for name in weights if not name.startswith("table")
        }
        often = min(_OFTEN, len(self._table))
        self._after: Matrix = np.zeros((often, len(_WINDOWS) * _BRANCH), dtype=np.float32)
        self._ready = np.zeros(often, dtype=np.bool_)
        self._known: dict[str, Matrix] = {}

    def of(self, texts: Sequence[str]) -> Matrix:
        """A row for each utterance. An empty one gets zeros."""
        new = [text for text in dict.fromkeys(texts) if text and text not in self._known]
        found = {text: self._known[text] for text in texts if text in self._known}
        for together in _batches(new, (self._pieces.ids(text)[:LONGEST] for text in new)):
            rows = self._forward([ids for _, ids in together])
            found.update(zip((text for text, _ in together), rows, strict=True))
        self._remember(found, new)
        nothing = np.zeros(WIDTH, dtype=np.float32)
        return np.array([found.get(text, nothing) for text in texts], dtype=np.float32).reshape(-1, WIDTH)

    def _remember(self, found: Mapping[str, Matrix], new: Sequence[str]) -> None:
        self._known.update((text, found[text]) for text in new)
        while len(self._known) > _REMEMBERED:
            del self._known[next(iter(self._known))]

    def _forward(self, utterances: Sequence[Sequence[int]]) -> Matrix:
        sizes = np.array([len(ids) for ids in utterances])
        begins = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        ids = np.concatenate([np.asarray(ids) for ids in utterances])
        embedded = self._embedded(ids)
        projected = self._projected(ids)
        parts = [embedded]
        for place, (width, before) in enumerate(_WINDOWS):
            near = _neighbours(sizes, begins, width, before)
            inputs = projected[:, place * _BRANCH : (place + 1) * _BRANCH]
            for layer in ("first", "second"):
                inputs = self._convolved(inputs, near, f"{layer}{width}") + inputs
            parts.append(inputs)
        features = self._levelled(np.hstack(parts), "level")
        return self._pooled(np.add.reduceat(features, begins, axis=0), sizes[:, None].astype(np.float32))

    def _embedded(self, ids: NDArray[np.int64]) -> Matrix:
        rows: Matrix = self._table[ids].astype(np.float32) * self._step[ids, None] + self._low[ids, None]
        return rows

    def _projected(self, ids: NDArray[np.int64]) -> Matrix:
        """What the branches start from depends on the piece alone: computed once for pieces that come often."""
        pieces, place = np.unique(ids, return_inverse=True)
        often = pieces < len(self._after)
        new = pieces[often][~self._ready[pieces[often]]]
        self._after[new] = self._started(new)
        self._ready[new] = True
        rows = np.vstack([self._after[pieces[often]], self._started(pieces[~often])])
        found: Matrix = rows[place]
        return found

    def _started(self, pieces: NDArray[np.int64]) -> Matrix:
        projected = self._embedded(pieces) @ self._weights["project"] + self._weights["project_bias"]
        return self._levelled(projected, "start")

    def _convolved(self, inputs: Matrix, near: NDArray[np.int64], name: str) -> Matrix:
        padded = np.vstack([inputs, np.zeros((1, _BRANCH), dtype=np.float32)])
        windows = padded[near].reshape(len(inputs), -1)
        output: Matrix = np.maximum(windows @ self._weights[name] + self._weights[f"{name}_bias"], 0)
        return output

    def _levelled(self, rows: Matrix, name: str) -> Matrix:
        rows = rows - rows.mean(axis=1, keepdims=True)
        spread = np.sqrt(np.square(rows).mean(axis=1, keepdims=True) + np.float32(_TINY))
        level: Matrix = rows / spread * self._weights[f"{name}_gain"] + self._weights[f"{name}_bias"]
        return level

    def _pooled(self, sums: Matrix, sizes: Matrix) -> Matrix:
        weights = self._weights
        mean = (sums @ weights["pool"] + sizes * weights["pool_bias"]) / np.sqrt(sizes)
        hidden = np.maximum(mean @ weights["dense0"], 0)
        hidden = np.maximum(mean @ weights["across1"] + hidden @ weights["dense1"], 0)
        deeper = np.maximum(hidden @ weights["dense2"], 0)
        vectors = np.tanh(hidden @ weights["across3"] + deeper @ weights["dense3"])
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), _TINY)
        return vectors.round(_DECIMALS).astype(np.float32)


def _neighbours(
    sizes: NDArray[np.int64], begins: NDArray[np.int64], width: int, before: int
) -> NDArray[np.int64]:
    """For each piece the places its window covers; the place after the last stands for nothing."""
    total = int(sizes.sum())
    places = np.arange(total)[:, None] + np.arange(-before, width - before)
    first, behind = np.repeat(begins, sizes)[:, None], np.repeat(begins + sizes, sizes)[:, None]
    return np.where((places >= first) & (places < behind), places, total)


def _batches(texts: Sequence[str], ids: Iterable[list[int]]) -> Iterable[list[tuple[str, list[int]]]]:
    batch: list[tuple[str, list[int]]] = []
    size = 0
    for text, pieces in zip(texts, ids, strict=True):
        if batch and size + len(pieces) > _TOGETHER:
            yield batch
            batch, size = [], 0
        batch.append((text, pieces))
        size += len(pieces)
    if batch:
        yield batch
