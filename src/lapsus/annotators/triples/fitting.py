"""Cuts and expected numbers of marks brought to what people marked."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from lapsus.annotators.marks import best_threshold
from lapsus.annotators.triples.labeller import Reading
from lapsus.annotators.triples.marks import ADDITION, LABELS, OMISSION, REPETITION, Cuts
from lapsus.annotators.triples.pair_features import Rows
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
