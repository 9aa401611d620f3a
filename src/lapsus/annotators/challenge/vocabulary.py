"""Words as numbers: which words a model knows, and utterances as rows of their numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

PAD, UNKNOWN = 0, 1
"""Numbers that stand for no word: the filling of short rows, and words that the model does not know."""
RESERVED = 2


class Vocabulary:
    """The words that a model knows, by number."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = list(words)
        self.numbers = {word: place for place, word in enumerate(self.words, RESERVED)}

    @classmethod
    def of(cls, utterances: Iterable[Sequence[str]], *, most: int, at_least: int = 1) -> Vocabulary:
        """The most frequent words; among equals the first in the alphabet, so that the order is always the same."""
        counts = Counter(word for utterance in utterances for word in utterance)
        kept = [item for item in counts.items() if item[1] >= at_least]
        kept.sort(key=lambda item: (-item[1], item[0]))
        return cls([word for word, _ in kept[:most]])

    def __len__(self) -> int:
        return len(self.words) + RESERVED

    def encode(self, words: Sequence[str]) -> list[int]:
        """The number of each word; words outside the vocabulary share one."""
        numbers = self.numbers
        return [numbers.get(word, UNKNOWN) for word in words]


def pad(rows: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of numbers in one array, short ones filled up, and their lengths. No row is shorter than one."""
    lengths = np.array([max(len(row), 1) for row in rows], dtype=np.int64)
    filled = np.full((len(rows), int(lengths.max(initial=1))), PAD, dtype=np.int64)
    for place, row in enumerate(rows):
        filled[place, : len(row)] = row
    return filled, lengths
