"""How many marks a pair is expected to have, from what is known of it as a whole.

That is what the labeller says of it, and what words, numbers and letters give away.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
import regex
from numpy.typing import NDArray

from lapsus.annotators.triples.labeller import Reading
from lapsus.annotators.triples.pair import Pair, spoken
from lapsus.model import ELEMENTS

Rows = NDArray[np.float64]
_LEAST: Final = 1e-3
_HALF: Final = 0.5
_WORD = regex.compile(r"\p{L}+|\p{N}+(?:[.,]\p{N}+)*")
_LITTLE: Final = frozenset({"is", "was", "are", "were", "has", "have", "the", "a", "in", "of", "and", "by"})


def feature_rows(readings: Sequence[Reading]) -> Rows:
    """What is known of some pairs: a row each."""
    return np.array([_features(reading) for reading in readings])


def _features(reading: Reading) -> Rows:
    shares = np.array(_shares(reading))
    return np.concatenate([shares, np.log(shares + _LEAST), _counts(reading), *_likeness(reading.pair)])


def _read(reading: Reading) -> tuple[Rows, Rows, Rows]:
    """Triples, words and pieces as far as they were read."""
    triples = reading.omitted.reshape(-1, 3)
    words = np.column_stack([reading.added, reading.repeated])
    known = [rows[np.isfinite(rows).all(axis=1)] for rows in (triples, words, reading.pieces)]
    first, second, third = (rows if len(rows) else np.zeros((1, rows.shape[1])) for rows in known)
    return first, second, third


def _shares(reading: Reading) -> list[float]:
    """Shares of the labeller, in the mean, at their highest and in sum."""
    triples, words, pieces = _read(reading)
    added, repeated = pieces.T
    return [
        triples.mean(), triples.max(), triples.mean(axis=1).max(), triples.mean(axis=1).sum(),
        triples.max(axis=1).mean(), triples.max(axis=1).sum(), *triples.mean(axis=0), *triples.max(axis=0),
        added.mean(), added.max(), added.sum(), np.sort(added)[-3:].mean(), np.sort(words[:, 0])[-5:].mean(),
        repeated.mean(), repeated.max(), repeated.sum(),
    ]  # fmt: skip


def _counts(reading: Reading) -> list[float]:
    """How many are more likely than not, and how much there is of everything."""
    triples, words, pieces = _read(reading)
    sure = words > _HALF
    return [
        (triples > _HALF).mean(), (triples.max(axis=1) > _HALF).mean(), *sure.mean(axis=0), sure[:, 0].sum(),
        len(triples), np.log1p(len(pieces)), np.log1p(len(pieces) / len(triples)),
    ]  # fmt: skip


def _likeness(pair: Pair) -> Iterable[Sequence[float]]:
    text = " ".join(segment.text for segment in pair.texts)
    parts = [
        spoken(part, name).lower()
        for triple in pair.triples
        for name, part in zip(ELEMENTS, triple.parts or (), strict=True)
    ]
    said, given = set(pair.pieces), {id for element in pair.elements for id in element}
    yield _found([_share(element, said) for element in pair.elements])
    yield [_share(pair.pieces, given)]
    threes, parts_threes = _threes(text.lower()), [_threes(part) for part in parts]
    yield _found([_share(part, threes) for part in parts_threes])
    yield [_share(threes, set().union(*parts_threes))]
    yield _words(text, [_WORD.findall(part) for part in parts])


def _words(text: str, parts: Sequence[Sequence[str]]) -> list[float]:
    """Which words of the data are said, which of the text come from it, and how it is written."""
    words = _WORD.findall(text)
    low = [word.lower() for word in words]
    known, given = set(low), {word for part in parts for word in part}
    numbers, theirs = ({word for word in some if word[0].isdigit()} for some in (low, given))
    names = [word.lower() for word in words[1:] if word[0].isupper()]
    covered = np.array([_share(part, known) for part in parts] or [1.0] * 3).reshape(-1, 3)
    twos, threes = list(pairwise(low)), list(zip(low, low[1:], low[2:], strict=False))
    return [
        *covered.mean(axis=0), *covered.min(axis=0), (covered[:, 2] == 1).mean(),
        _share(numbers, theirs), _share(theirs, numbers), _share(names, given), sum(one not in given for one in names),
        _again(twos), _again(threes), _again(low), sum(one == other for one, other in twos),
        len(low) / max(len(parts) / 3, 1), np.log1p(len(text)), float(np.mean([len(word) for word in low] or [0])),
        _share(low, _LITTLE), text.count(",") / max(len(low), 1), '"' in text, text[:1].isupper(),
        text.rstrip()[-1:] in (".", "!", "?"),
    ]  # fmt: skip


def _found(shares: Sequence[float]) -> list[float]:
    """For subjects, predicates and objects how far they are found, in the mean and at least."""
    rows = np.array(shares or [1.0] * 3).reshape(-1, 3)
    return [*rows.mean(axis=0), *rows.min(axis=0)]


def _share(some: Iterable[object], others: Iterable[object]) -> float:
    """How much of something is among others; all of it where there is nothing."""
    whole = list(some)
    known = others if isinstance(others, set | frozenset) else set(others)
    return sum(one in known for one in whole) / len(whole) if whole else 1.0


def _again(some: Sequence[object]) -> float:
    """How much of something came before."""
    return 1 - len(set(some)) / len(some) if some else 0.0


def _threes(text: str) -> set[str]:
    whole = f" {text} "
    return {whole[n : n + 3] for n in range(len(whole) - 2)}


_FURTHEST: Final = 5.0
"""How many spreads from the mean a feature counts at most: further than that nothing was learned."""


class Regression(NamedTuple):
    """Kernel ridge regression: pairs that are like ones that people rated get numbers like theirs."""

    mean: Rows
    spread: Rows
    known: Rows
    """The features of the pairs that were learned from: a row each."""
    weights: Rows
    """What likeness to each of them adds to omissions and additions."""
    bias: Rows
    reach: Rows
    """One number: how fast likeness falls off with distance."""
    repeated: Rows
    """One number: repetitions for each word that looks repeated."""
    share: Rows = np.zeros(1)
    """One number: how much the labeller's own word on the pair counts, from 0 to 1..."""
    short: Rows = np.zeros(2)
    """...and the omissions and additions for one that falls short altogether."""
    added: Rows = np.zeros(1)
    """One number, for data read in several windows, which nobody rated: additions for each word that looks added. With
    0 the regression is asked there too."""

    def expected(self, readings: Sequence[Reading]) -> Rows:
        """The number of omissions, additions and repetitions: a row a pair. Never below zero."""
        # It was fitted to what the network says, values in other forms settled.
        alone = [reading.network or reading for reading in readings]
        alike = likeness(self.scaled(feature_rows(alone)), self.known, float(self.reach[0]))
        found = np.maximum(alike @ self.weights + self.bias, 0.0)
        short = np.array([reading.short for reading in readings]).reshape(-1, 2)
        share = np.where(np.isfinite(short), self.share, 0.0)
        found = (1 - share) * found + share * np.maximum(np.nan_to_num(short), 0.0) * self.short
        for row, reading in zip(found, readings, strict=True):
            if self.added[0] and reading.is_long:
                row[:] = 0.0 if reading.is_selection else row[0], np.nansum(reading.added) * self.added[0]
        again = np.array([[np.nansum(reading.repeated)] for reading in readings])
        return np.hstack([found, again * self.repeated])

    def scaled(self, rows: Rows) -> Rows:
        """Features by how far they are from the mean."""
        found: Rows = np.clip((rows - self.mean) / self.spread, -_FURTHEST, _FURTHEST)
        return found

    def times(self, ratios: Rows) -> Regression:
        """The same with the number of each label multiplied."""
        return self._replace(
            weights=self.weights * ratios[:2],
            bias=self.bias * ratios[:2],
            repeated=self.repeated * ratios[2],
            short=self.short * ratios[:2],
            added=self.added * ratios[1],
        )


def likeness(rows: Rows, others: Rows, reach: float) -> Rows:
    """How alike pairs are by their features, from 0 to 1: a row a pair, a column for each of the others."""
    far = (rows**2).sum(axis=1)[:, None] + (others**2).sum(axis=1) - 2 * rows @ others.T
    found: Rows = np.exp(-reach * np.maximum(far, 0.0) / rows.shape[1])
    return found
