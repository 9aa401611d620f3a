"""How usual a run of words is, by the runs of up to so many words seen before (Witten–Bell smoothing)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

_START, _END = "\x02", "\x03"
_PLACES = 3
"""Decimals of counts: the same in memory and in a file."""


class Usualness(NamedTuple):
    """Natural logarithms of how likely the words of an utterance were, each after those before it."""

    mean: float
    worst: float
    unknown: float
    """The share of words never seen."""


class Ngrams:
    """Counts of runs of words. Runs may count in part, where an utterance was valid to some only."""

    def __init__(self, order: int = 3) -> None:
        self.order = order
        self.counts: list[dict[tuple[str, ...], float]] = [defaultdict(float) for _ in range(order)]
        self._after: dict[tuple[str, ...], tuple[float, int]] = {}

    def add(self, utterances: Iterable[tuple[Sequence[str], float]]) -> Ngrams:
        """Count the runs of utterances, each with its weight."""
        for words, weight in utterances:
            if weight > 0:
                row = self._row(words)
                for place in range(self.order - 1, len(row)):
                    for size in range(self.order):
                        self.counts[size][row[place - size : place + 1]] += weight
        for counts in self.counts:
            counts.update({run: round(count, _PLACES) for run, count in counts.items()})
        self._index()
        return self

    def usualness(self, words: Sequence[str]) -> Usualness:
        """How usual an utterance is."""
        row = self._row(words)
        logs = [math.log(self._share(row[: place + 1])) for place in range(self.order - 1, len(row))]
        unknown = sum((word,) not in self.counts[0] for word in words) / max(len(words), 1)
        return Usualness(sum(logs) / len(logs), min(logs), unknown)

    def to_data(self) -> list[list[list[Any]]]:
        """As plain JSON: for each length the runs, each with its count at the end."""
        return [[[*run, count] for run, count in sorted(counts.items())] for counts in self.counts]

    @classmethod
    def from_data(cls, data: Sequence[Sequence[Sequence[Any]]]) -> Ngrams:
        """The counts that `to_data` wrote."""
        made = cls(len(data))
        for counts, kept in zip(made.counts, data, strict=True):
            counts.update({tuple(words): float(count) for *words, count in kept})
        made._index()
        return made

    def _row(self, words: Sequence[str]) -> tuple[str, ...]:
        return (*[_START] * (self.order - 1), *words, _END)

    def _index(self) -> None:
        """For each run how often something followed it, and how many different things."""
        after: dict[tuple[str, ...], tuple[float, int]] = {}
        for counts in self.counts:
            for run, count in counts.items():
                total, kinds = after.get(run[:-1], (0.0, 0))
                after[run[:-1]] = (total + count, kinds + 1)
        self._after = after

    def _share(self, row: tuple[str, ...]) -> float:
        """How likely the last word is after the others: longer runs as far as they are known, then shorter ones."""
        total, kinds = self._after.get((), (0.0, 0))
        share = 1.0 / (kinds + 1)
        for size in range(self.order):
            run = row[len(row) - 1 - size :]
            total, kinds = self._after.get(run[:-1], (0.0, 0))
            if kinds:
                share = (self.counts[size].get(run, 0.0) + kinds * share) / (total + kinds)
        return share
