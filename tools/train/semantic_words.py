"""Words of texts made from records: what labellers say of them that had not learned from the record, and people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from semantic_records import CORPORA, Marked

from lapsus.annotators.marks import best_threshold
from lapsus.annotators.triples.labeller import Reading
from lapsus.annotators.triples.marks import Cuts

Floats = NDArray[np.float64]
TRIED = tuple(np.linspace(0.02, 0.9, 45))
RESAMPLES = 1_000


class Words(NamedTuple):
    """All that were read, text after text."""

    texts: NDArray[np.intp]
    """Which text a word is of."""
    corpora: NDArray[np.str_]
    said: Floats
    """Shares of added and repeated: a row a word."""
    people: Floats
    """Shares of people who marked it as that."""
    long: NDArray[np.bool_]
    """Of texts whose data was read in several windows."""
    additions_a_word: float
    """Additions that people mark for each word that looks added."""

    def cuts(self, before: Cuts) -> Cuts:
        """From which share words of long data are marked; elements as before."""
        cuts = (best_threshold(self.said[self.long, n], self.people[self.long, n], TRIED) for n in range(2))
        return Cuts(before.omission, *cuts)

    def figures(self, cuts: Cuts) -> str:
        """F1 of marked words by corpus, every text counting once, with intervals; every word marked beside it."""
        marked = (self.said >= cuts[1:]).any(axis=1)
        people = self.people.sum(axis=1).clip(0, 1)
        lines = [f"long data: {cuts}, {self.additions_a_word:.3f} additions a word that looks added"]
        for corpus in CORPORA:
            own = (self.corpora == corpus) & self.long
            ours, every = (
                f1(self.texts[own], people[own], one) for one in (marked[own], np.ones(own.sum(), bool))
            )
            lines.append(f"{corpus}: {len(set(self.texts[own]))} texts, F1 {ours}, every word {every}")
        return "\n".join(lines) + "\n"


def record_words(marked: Sequence[Marked], readings: Sequence[Reading]) -> Words:
    """What was read of the words of some texts."""
    texts, corpora, said, people, long = [], [], [], [], []
    for n, (one, reading) in enumerate(zip(marked, readings, strict=True)):
        for place, word in enumerate(reading.pair.words):
            shares = (reading.added[place], reading.repeated[place])
            if np.isfinite(shares).all():
                said.append(shares)
                people.append(one.shares[word.start : word.end, :2].max(axis=0))
                texts.append(n)
                corpora.append(one.corpus)
                long.append(reading.is_long)
    whole = np.array(said)
    is_long = np.array(long)
    marks = sum(one.marks for one, reading in zip(marked, readings, strict=True) if reading.is_long)
    return Words(
        np.array(texts), np.array(corpora), whole, np.array(people, dtype=np.float64), is_long,
        float(marks / whole[is_long, 0].sum()),
    )  # fmt: skip


def f1(texts: NDArray[np.intp], people: Floats, marked: NDArray[np.bool_]) -> str:
    """F1 against a person, and its 95% interval over texts."""
    _, places = np.unique(texts, return_inverse=True)
    both, either = (np.bincount(places, weights=one) for one in (people * marked, people + marked))
    drawn = np.random.default_rng(0).integers(len(both), size=(RESAMPLES, len(both)))
    low, high = np.quantile(2 * both[drawn].sum(axis=1) / either[drawn].sum(axis=1), [0.025, 0.975])
    return f"{2 * both.sum() / either.sum():.3f} [{low:.2f}, {high:.2f}]"
