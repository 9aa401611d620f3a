"""Japanese text to word pieces: the unigram model of the multilingual sentence encoder, cut down to Japanese."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Final

UNKNOWN, START, END = 0, 1, 2
"""The first three pieces: what is in no piece, and the two ends of an utterance."""
_MARK: Final = "▁"
_UNKNOWN_PENALTY: Final = 10.0
_SPACES: Final = dict.fromkeys(
    map(ord, "\t\n\f\r\u1680\u200b\u200e\u200f\u2028\u2029\u2581\ufeff\ufffd"), " "
)
_TILDE: Final = "\uff5e"
"""The encoder was trained with the wide tilde left as it is."""


class Pieces:
    """Cuts an utterance into the likeliest pieces."""

    def __init__(self, pieces: Sequence[str], scores: Sequence[float]) -> None:
        self._known = {piece: (number, scores[number]) for number, piece in enumerate(pieces) if number > END}
        self._starts = {piece[:end] for piece in self._known for end in range(1, len(piece))}
        self._unknown_score = min(scores) - _UNKNOWN_PENALTY

    def ids(self, text: str) -> list[int]:
        """The pieces of an utterance between the marks of its ends."""
        plain = normal_form(text)
        return [START, *(self._best(plain) if plain else [UNKNOWN]), END]

    def _best(self, text: str) -> list[int]:
        """The cut with the highest sum of scores; of equal ones, the one with the longer last piece."""
        size = len(text)
        best = [0.0] + [-1e38] * size
        last = [(0, UNKNOWN)] * (size + 1)
        known, starts = self._known, self._starts
        for begin in range(size):
            so_far = best[begin]
            if text[begin] not in known:
                _offer(best, last, begin + 1, so_far + self._unknown_score, (begin, UNKNOWN))
            for end in range(begin + 1, size + 1):
                part = text[begin:end]
                found = known.get(part)
                if found is not None:
                    score = so_far + found[1]
                    if score > best[end]:
                        best[end] = score
                        last[end] = (begin, found[0])
                if part not in starts:
                    break
        return _backwards(last)


def normal_form(text: str) -> str:
    """The text as the pieces were learned from: compatible forms made one, spaces marked."""
    parts = text.translate(_SPACES).split(_TILDE)
    words = _TILDE.join(unicodedata.normalize("NFKC", part) for part in parts).split(" ")
    return "".join(_MARK + word for word in words if word)


def _offer(
    best: list[float], last: list[tuple[int, int]], end: int, score: float, step: tuple[int, int]
) -> None:
    if score > best[end]:
        best[end], last[end] = score, step


def _backwards(last: list[tuple[int, int]]) -> list[int]:
    ids: list[int] = []
    place = len(last) - 1
    while place > 0:
        place, number = last[place]
        ids.append(number)
    return ids[::-1]
