"""The large English reader, from the data-only package `lapsus-large` where that is installed.

It reads again what the small reader of `breakdown-en` doubts or takes for broken, and both have a say. A turn costs
about eight times as much as with the small one, so that of a dialogue it reads the turns that stand out.
"""

import hashlib
import importlib.util
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, cached_property
from pathlib import Path
from threading import Lock
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.byte_graphs import make_session
from lapsus.annotators.encoder.calibration import Matrix, centred, shares_of
from lapsus.annotators.encoder.reader import Passage
from lapsus.annotators.encoder.tokens import LargeTokens
from lapsus.annotators.features.network_layers import softmax
from lapsus.errors import UsageError
from lapsus.model.frozen import decoder

PACKAGE: Final = "lapsus-large"
MODULE: Final = "lapsus_large"
MANIFEST, TOKENIZER = "reader.json", "tokenizer.json"
PARTS: Final = ("embeddings.onnx", "layers-0.onnx", "layers-1.onnx", "layers-2.onnx")
NAMES: Final = (
    "O", "T", "X", "O dbdc5", "T dbdc5", "X dbdc5", "O dbdc3", "T dbdc3", "X dbdc3", "fits", "rating", "contradicts",
    "coherent", "interesting", "engaging", "specific", "relevant", "correct", "appropriate", "understandable", "fluent",
    "overall",
)  # fmt: skip
"""The numbers that it says of a turn: logits of shares, then logits of how far each holds."""
NUMBERS: Final = len(NAMES)
LANGUAGE: Final = "en"
_HEADS: Final = {"dbdc5": 3, "dbdc3": 6}
"""Where a profile's own logits begin; of others those in general count."""
_BESIDE: Final = 2
_REMEMBERED: Final = 1 << 11
_LEAST: Final = 1e-4
_STANDS_OUT: Final = 1.3
"""How many times the risk of the turns before a turn's own must be."""


class Manifest(msgspec.Struct, frozen=True):
    """What the package says of itself."""

    sha256: dict[str, str]
    doubt: dict[str, float]
    """By profile: from which risk (X, and half of T) on the small reader's word is not enough; "" for any other."""
    weights: dict[str, list[list[float]]]
    """By profile: the map from `columns` to logits of O, T and X; "" for any other."""


def is_installed() -> bool:
    """Whether the package is there."""
    return importlib.util.find_spec(MODULE) is not None


class LargeReader:
    """Reads passages one by one, two at a time, and remembers the latest."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        content = _read(folder / MANIFEST)
        self.digest: Final = hashlib.sha256(content).hexdigest()[:16]
        """Of the manifest, and so of all files."""
        try:
            self.manifest: Final = decoder(Manifest).decode(content)
        except msgspec.DecodeError as error:
            raise _damaged(folder / MANIFEST) from error
        self._known: dict[Passage, NDArray[np.float64]] = {}
        self._lock = Lock()

    @cached_property
    def _tokens(self) -> LargeTokens:
        return LargeTokens(self._file(TOKENIZER))

    @cached_property
    def _sessions(self) -> list[Any]:
        return [make_session(self._file(name)) for name in PARTS]

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(_BESIDE, "lapsus-large")

    def said(self, passages: Sequence[Passage]) -> NDArray[np.float64]:
        """A row a passage: the numbers that NAMES names."""
        with self._lock:
            found = {one: self._known[one] for one in passages if one in self._known}
            new = [one for one in dict.fromkeys(passages) if one not in found]
            if new:
                rows = [
                    self._row(new[0]),
                    *self._pool.map(self._row, new[1:]),
                ]  # the first one loads what is needed
                found.update(zip(new, rows, strict=True))
                self._known = dict(list((self._known | found).items())[-_REMEMBERED:])
        return np.array([found[one] for one in passages], dtype=np.float64).reshape(-1, NUMBERS)

    def doubts(self, shares: Matrix, before: Matrix, profile: str) -> NDArray[np.intp]:
        """Which turns are worth another look after the small reader's shares, and its mean_before.

        Where the turns before were bad too, only those that stand out from them: else a log of bad turns would be read
        as a whole, and cost as much.
        """
        least = self.manifest.doubt.get(profile, self.manifest.doubt[""])
        usual = _risk(softmax(before)) * before.any(axis=1)
        return np.flatnonzero(_risk(shares) >= np.maximum(least, _STANDS_OUT * usual))

    def shares(self, passages: Sequence[Passage], small: Matrix, profile: str) -> Matrix:
        """What both readers say together; `small` are the shares of the small one under that profile."""
        weights = self.manifest.weights.get(profile, self.manifest.weights[""])
        return shares_of(columns(self.said(passages), small, profile), np.array(weights))

    def _row(self, passage: Passage) -> NDArray[np.float64]:
        ids, segment = (np.array([row], dtype=np.int64) for row in self._tokens.encode(passage))
        first, *others, last = self._sessions
        rows, bias = first.run(["rows", "bias"], {"ids": ids})
        for session in others:
            (rows,) = session.run(None, {"rows": rows, "bias": bias})
        (said,) = last.run(None, {"rows": rows, "bias": bias, "segment": segment})
        return np.asarray(said[0], dtype=np.float64)

    def _file(self, name: str) -> bytes:
        content = _read(self._folder / name)
        if hashlib.sha256(content).hexdigest() != self.manifest.sha256.get(name):
            raise _damaged(self._folder / name)
        return content


def _risk(shares: Matrix) -> Matrix:
    risk: Matrix = shares[:, 2] + shares[:, 1] / 2
    return risk


def columns(said: NDArray[np.float64], small: Matrix, profile: str) -> Matrix:
    """What the map weighs: logits of the small reader, of the large one, its other numbers, and a constant."""
    own = _HEADS.get(profile, 0)
    known = centred(np.log(np.maximum(small, _LEAST)))
    parts = [known, centred(said[:, own : own + 3]), said[:, 9:], np.ones((len(said), 1))]
    return np.hstack(parts)


@cache
def large_reader() -> LargeReader:
    """The installed one. UsageError where there is none."""
    spec = importlib.util.find_spec(MODULE)
    if spec is None or not spec.submodule_search_locations:
        raise UsageError("large-reader-not-installed", hint="pip install 'lapsus-eval[large]'")
    return LargeReader(Path(next(iter(spec.submodule_search_locations))))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError("cannot-read", where=str(path), error=error) from error


def _damaged(path: Path) -> UsageError:
    return UsageError(
        "not-file-belongs-large", where=str(path), hint=f"pip install --force-reinstall {PACKAGE}"
    )
