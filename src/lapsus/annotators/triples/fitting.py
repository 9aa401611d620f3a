"""Cuts and expected numbers of marks brought to what people marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from lapsus.annotators.marks import best_threshold
from lapsus.annotators.triples.labeller import Reading
from lapsus.annotators.triples.marks import ADDITION, LABELS, OMISSION, REPETITION, Cuts
from lapsus.annotators.triples.pair_features import Rows, feature_rows
from lapsus.model import Span

_CUTS: Final = tuple(np.linspace(0.05, 0.95, 37))
Answers = Sequence[Sequence[Span]]
"""What each of some people marked in one pair."""


def fitted_cuts(readings: Sequence[Reading], answers: Sequence[Answers], before: Cuts) -> Cuts:
    """For each label the share from which marks agree best with people's; as before where they marked nothing."""
    cuts = {}
    for label in LABELS:
        shares, targets = [], []
        for reading, given in zip(readings, answers, strict=True):
            for segment, start, end, share in places(reading, label):
                shares.append(share)
                targets.append(_share(given, label, segment, start, end))
        said, wanted = np.array(shares), np.array(targets)
        cuts[label] = best_threshold(said, wanted, _CUTS) if wanted.any() else getattr(before, label)
    return Cuts(**cuts)


def places(reading: Reading, label: str) -> list[tuple[str, int, int, float]]:
    """What a label can be put on in a pair, as far as it was read: segment, start, end and the labeller's share."""
    if label == OMISSION:
        whole = [
            (triple.id, element.start, element.end, float(reading.omitted[3 * n + m]))
            for n, triple in enumerate(reading.pair.triples)
            for m, element in enumerate(triple.elements())
        ]
    else:
        shares = {ADDITION: reading.added, REPETITION: reading.repeated}[label]
        words = zip(reading.pair.words, shares.tolist(), strict=True)
        whole = [(word.segment, word.start, word.end, share) for word, share in words]
    return [place for place in whole if np.isfinite(place[3])]


def mark_ratios(expected: Rows, answers: Sequence[Answers]) -> Rows:
    """For each label how many marks people made for one that was expected, held at 1 by one mark of each."""
    made = np.array(
        [
            sum(sum(span.label == label for one in given for span in one) / len(given) for given in answers)
            for label in LABELS
        ]
    )
    found: Rows = (made + 1) / (expected.sum(axis=0) + 1)
    return found


def _share(given: Answers, label: str, segment: str, start: int, end: int) -> float:
    """The share of people who marked a place."""
    return float(
        np.mean(
            [
                any(
                    span.label == label and span.segment == segment and span.start < end and start < span.end
                    for span in one
                )
                for one in given
            ]
        )
    )


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
