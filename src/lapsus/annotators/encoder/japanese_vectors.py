"""Japanese utterances to vectors: the sentence encoder with the pieces that Japanese needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.encoder.japanese_tokenizer import Pieces
from lapsus.annotators.features.sentence_encoder import (
    BRANCH,
    LONGEST,
    WIDTH,
    WINDOWS,
    Affine,
    Layers,
    Matrix,
    batches,
    encoded,
    levelled,
)

_TOGETHER = 1024
"""Pieces computed at a time."""
_OFTEN = 1 << 12
"""Pieces whose start is kept. They come in the order of how common they are."""
_REMEMBERED = 2_000
"""Utterances whose vectors are kept: systems repeat themselves, and every turn is context for the next."""


class Vectors:
    """Gives a unit vector for an utterance, and remembers the latest ones."""

    def __init__(self, pieces: Pieces, weights: Mapping[str, NDArray[np.generic]]) -> None:
        self._pieces = pieces
        self._table = weights["table"]
        self._step = weights["table_step"].astype(np.float32)
        self._low = weights["table_low"].astype(np.float32)
        dense = {name: weights[name].astype(np.float32) for name in weights if not name.startswith("table")}
        self._project = Affine(dense["project"], dense["project_bias"])
        self._start = Affine(dense["start_gain"], dense["start_bias"])
        self._layers = _layers(dense)
        often = min(_OFTEN, len(self._table))
        self._after: Matrix = np.zeros((often, len(WINDOWS) * BRANCH), dtype=np.float32)
        self._ready = np.zeros(often, dtype=np.bool_)
        self._known: dict[str, Matrix] = {}

    def of(self, texts: Sequence[str]) -> Matrix:
        """A row for each utterance. An empty one gets zeros."""
        new = [text for text in dict.fromkeys(texts) if text and text not in self._known]
        found = {text: self._known[text] for text in texts if text in self._known}
        for together in batches(new, (self._pieces.ids(text)[:LONGEST] for text in new), _TOGETHER):
            rows = self._forward([ids for _, ids in together])
            found.update(zip((text for text, _ in together), rows, strict=True))
        self._remember(found, new)
        nothing = np.zeros(WIDTH, dtype=np.float32)
        return np.array([found.get(text, nothing) for text in texts], dtype=np.float32).reshape(-1, WIDTH)

    def forget(self) -> None:
        """Compute everything anew."""
        self._known.clear()
        self._ready[:] = False

    def _remember(self, found: Mapping[str, Matrix], new: Sequence[str]) -> None:
        self._known.update((text, found[text]) for text in new)
        while len(self._known) > _REMEMBERED:
            del self._known[next(iter(self._known))]

    def _forward(self, utterances: Sequence[Sequence[int]]) -> Matrix:
        sizes = np.array([len(ids) for ids in utterances])
        ids = np.concatenate([np.asarray(ids) for ids in utterances])
        return encoded(sizes, self._embedded(ids), self._projected(ids), self._layers)

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
        return levelled(self._embedded(pieces) @ self._project.weight + self._project.bias, self._start)


def _layers(weights: Mapping[str, Matrix]) -> Layers:
    def affine(name: str) -> Affine:
        return Affine(weights[name], weights[f"{name}_bias"])

    return Layers(
        {width: [affine(f"{layer}{width}") for layer in ("first", "second")] for width, _ in WINDOWS},
        Affine(weights["level_gain"], weights["level_bias"]),
        affine("pool"),
        [weights[f"dense{number}"] for number in range(4)],
        [weights["across1"], weights["across3"]],
    )
