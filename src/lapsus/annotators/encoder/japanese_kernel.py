"""Kernel regression over judged turns: what people said of turns like this one, and how well the reply fits.

A turn is like another where what is said, what it answers and the plain numbers about it are like. How well a reply
fits what it answers is learned from people's replies in another language; the vectors are the same for all languages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

Matrix: TypeAlias = NDArray[np.float32]
Arrays: TypeAlias = Mapping[str, NDArray[np.generic]]

SEEN: Final = 6
"""Turns before the target that it is compared with."""
_FARTHEST = 4.0
_LEAST_SPREAD = 1e-3
_TINY = 1e-6
_ANSWERED = 4.0
"""How fast likeness falls off where it is asked what people would answer."""
_UNHEARD = 1e-9
_PLAIN_WIDTH = 0.5
"""Of the kernel over numbers, divided by how many numbers there are."""
SIMILARITY: Final = 1.0
BEFORE_SIMILARITY: Final = 0.5
"""How fast likeness of utterances falls off with the distance of their vectors."""


class TurnVectors(NamedTuple):
    """Some turns to judge, a row each: vectors of the target and of the two turns before it, plain numbers."""

    target: Matrix
    last: Matrix
    before: Matrix
    plain: Matrix


class Likeness(NamedTuple):
    """How like turns are to other turns, from 0 to 1: what is said, what it answers, what came before that."""

    target: Matrix
    last: Matrix
    before: Matrix


def likeness(turns: TurnVectors, others: TurnVectors) -> Likeness:
    """A row a turn, a column each of the others."""
    return Likeness(
        _near(turns.target, others.target, SIMILARITY),
        _near(turns.last, others.last, SIMILARITY),
        _near(turns.before, others.before, BEFORE_SIMILARITY),
    )


def foreign_kernel(like: Likeness, plain: Matrix, others: Matrix) -> Matrix:
    """The kernel by which judgments in another language are carried over."""
    both = like.target * like.last
    near: Matrix = like.target + np.float32(0.3) * like.last + both + numbers_near(plain, others)
    return near


def kernel(like: Likeness, numbers: Matrix, others: Matrix) -> Matrix:
    """The kernel of the regression. Its weights were chosen by cross-validation on half of the training data."""
    both = like.target * like.last
    near = numbers_near(numbers, others)
    alone = 0.5 * like.target + 0.15 * like.last + 0.25 * both
    whole: Matrix = near * (4 + like.target + 2 * like.last + 2 * both + 1.6 * like.before) + alone
    return whole


def numbers_near(rows: Matrix, others: Matrix) -> Matrix:
    """How like rows of numbers are to other rows."""
    apart = (rows**2).sum(axis=1)[:, None] + (others**2).sum(axis=1) - 2 * rows @ others.T
    near: Matrix = np.exp(np.maximum(apart, 0) * np.float32(-_PLAIN_WIDTH / rows.shape[1]))
    return near


def _near(rows: Matrix, others: Matrix, fall: float) -> Matrix:
    near: Matrix = np.exp(np.maximum(2 - 2 * rows @ others.T, 0) * np.float32(-fall))
    return near


def usual_reply(turns: TurnVectors, others: TurnVectors, known: NDArray[np.bool_] | None = None) -> Matrix:
    """How much likelier a turn is after what it answers than anywhere, judged by what people answered to systems.

    Two numbers a turn: the second one asks for replies that are more alike. Where `known` is given, a turn sees only
    those of the others that it marks.
    """
    answered = np.flatnonzero(others.last.any(axis=1) & others.before.any(axis=1))
    asked = _near(turns.last, others.before[answered], _ANSWERED)
    said = _near(turns.target, others.last[answered], _ANSWERED)
    seen = np.float32(1) if known is None else known[:, answered].astype(np.float32)
    found = []
    for alike in (said, said * said):
        there = (asked * alike * seen).sum(axis=1) / (asked * seen).sum(axis=1)
        anywhere = (alike * seen).sum(axis=1) / (np.ones_like(alike) * seen).sum(axis=1)
        found.append(np.log(there + _UNHEARD) - np.log(anywhere + _UNHEARD))
    return np.stack(found, axis=1)


class Scale(NamedTuple):
    """Brings numbers to a common scale."""

    middle: Matrix
    spread: Matrix

    @classmethod
    def of(cls, rows: Matrix) -> Self:
        """The scale on which these rows lie around 0."""
        return cls(rows.mean(axis=0), rows.std(axis=0) + np.float32(_LEAST_SPREAD))

    def __call__(self, rows: Matrix) -> Matrix:
        """The rows on this scale; what lies far out is drawn in."""
        scaled: Matrix = np.clip((rows - self.middle) / self.spread, -_FARTHEST, _FARTHEST)
        return scaled


class Reply(NamedTuple):
    """A linear guess at the vector of the next turn, and how far from it replies usually lie."""

    guess: Matrix
    """From the last turn, or from the last two, and a constant; less the usual reply."""
    usual: Matrix
    off: Matrix
    """Whitens what the guess misses."""
    spread: Matrix
    """Whitens replies."""

    @classmethod
    def restore(cls, arrays: Arrays, name: str) -> Self:
        """The guess that is kept under a name."""
        return cls(*(arrays[f"{name}.{part}"].astype(np.float32) for part in cls._fields))

    def fit_of(self, turns: TurnVectors) -> Matrix:
        """Three numbers a turn: the cosine with the guess, the gain in likelihood, the cosine of whitened vectors."""
        known = [turns.last, turns.before][: len(self.guess) // turns.last.shape[1]]
        guess: Matrix = np.hstack([*known, np.ones((len(turns.last), 1), dtype=np.float32)]) @ self.guess
        said: Matrix = turns.target - self.usual
        white_said, white_guess = said @ self.spread, guess @ self.spread
        missed = (said - guess) @ self.off
        gain = (white_said**2).sum(axis=1) - (missed**2).sum(axis=1)
        return np.stack([_cosine(guess, said), gain, _cosine(white_guess, white_said)], axis=1)


def _cosine(first: Matrix, second: Matrix) -> Matrix:
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    cosine: Matrix = (first * second).sum(axis=1) / np.maximum(lengths, _TINY)
    return cosine


class Findings(NamedTuple):
    """What a machine finds out about some turns, a row each."""

    numbers: Matrix
    """The plain numbers and those that were learned, on a common scale."""
    usual: Matrix
    """How usual the turn is as a reply to what it answers."""
    shares: Matrix
    """About how votes would fall. Rows need not be distributions."""


class KernelRegression:
    """Judges turns by the judged turns that it holds, which are vectors and numbers and no text."""

    def __init__(self, arrays: Arrays, replies: Sequence[str]) -> None:
        vectors = arrays["vectors"].astype(np.float32) * arrays["vector_step"].astype(np.float32)[:, None]
        vectors = np.vstack([vectors, np.zeros((1, vectors.shape[1]), dtype=np.float32)])
        self._plain_scale = Scale(_float(arrays["plain_middle"]), _float(arrays["plain_spread"]))
        self._scale = Scale(_float(arrays["number_middle"]), _float(arrays["number_spread"]))
        self._numbers = _float(arrays["numbers"])
        self._plain = np.ascontiguousarray(self._numbers[:, : len(self._plain_scale.middle)])
        columns = arrays["turns"].astype(np.int64).T
        self._held = TurnVectors(vectors[columns[0]], vectors[columns[1]], vectors[columns[2]], self._plain)
        self._foreign, self._foreign_usual = _float(arrays["foreign"]), _float(arrays["foreign_usual"])
        self._answers, self._usual = _float(arrays["answers"]), _float(arrays["usual"])
        self._replies = [Reply.restore(arrays, name) for name in replies]

    def findings(self, turns: TurnVectors) -> Findings:
        """The numbers of each turn, how usual its reply is, and the shares that people gave to turns like it."""
        like = likeness(turns, self._held)
        plain = self._plain_scale(turns.plain)
        foreign = foreign_kernel(like, plain, self._plain) @ self._foreign + self._foreign_usual
        fits = [reply.fit_of(turns) for reply in self._replies]
        numbers = np.hstack([plain, self._scale(np.hstack([foreign, *fits]))])
        shares: Matrix = kernel(like, numbers, self._numbers) @ self._answers + self._usual
        return Findings(numbers, usual_reply(turns, self._held), shares)


def _float(array: NDArray[np.generic]) -> Matrix:
    return array.astype(np.float32)
