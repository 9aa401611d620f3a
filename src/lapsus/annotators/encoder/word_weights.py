"""What single words give away: a linear map from the words of a turn, and of the user's one before, to votes.

Words and pairs of words are hashed into a table of weights, so that the table holds no text.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np
import regex
from numpy.typing import NDArray

from lapsus.annotators.encoder.reader import Passage

BITS: Final = 14
SIZE: Final = 1 << BITS
_SIGN = 1 << 31
_WORD = regex.compile(r"[\p{L}\p{N}]+(?:['’][\p{L}\p{N}]+)*|[^\s\p{L}\p{N}]")
_START, _END = "^", "$"


def places(passage: Passage) -> list[tuple[list[int], list[int], float]]:
    """For each side where its words fall in the table: the places to add, those to subtract, and by how much."""
    user = next((turn.text for turn in reversed(passage.context) if not turn.by_system), "")
    return [_side("s", passage.target), _side("u", user)]


def _side(mark: str, text: str) -> tuple[list[int], list[int], float]:
    words = _WORD.findall(text.lower().replace("’", "'"))
    pairs = pairwise((_START, *words, _END))
    grams = {f"{mark}{word}" for word in words} | {f"{mark}{first} {second}" for first, second in pairs}
    hashes = [zlib.crc32(gram.encode()) for gram in grams]
    plus = [number & SIZE - 1 for number in hashes if number & _SIGN]
    minus = [number & SIZE - 1 for number in hashes if not number & _SIGN]
    return plus, minus, len(grams) ** -0.5


def word_matrix(passages: Sequence[Passage]) -> NDArray[np.float32]:
    """A row a passage, a column a place of the table: what a table is fitted on."""
    rows = np.zeros((len(passages), SIZE), dtype=np.float32)
    for row, passage in zip(rows, passages, strict=True):
        for plus, minus, weight in places(passage):
            np.add.at(row, plus, weight)
            np.subtract.at(row, minus, weight)
    return rows


def fit_words(
    rows: NDArray[np.float32], shares: NDArray[np.float64], penalty: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The table and the constant: ridge regression, solved among the examples, which are fewer than the places."""
    usual = shares.mean(axis=0)
    likeness = (rows @ rows.T).astype(np.float64)
    np.fill_diagonal(likeness, likeness.diagonal() + penalty)
    return rows.T.astype(np.float64) @ np.linalg.solve(likeness, shares - usual), usual


def word_shares(
    passage: Passage, table: NDArray[np.floating], usual: NDArray[np.floating]
) -> NDArray[np.floating]:
    """About how the votes would fall if words were all that counts. It need not be a distribution."""
    found = usual.copy()
    for plus, minus, weight in places(passage):
        found += weight * (table[plus].sum(axis=0) - table[minus].sum(axis=0))
    return found
