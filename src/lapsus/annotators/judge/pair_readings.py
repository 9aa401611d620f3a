"""What the shipped reader of data and text says of each place: how likely it is left out, added or repeated.

A judge of marks on such pairs goes on from there: it learns what the people of a campaign make of it, under whatever
labels they have.
"""

from collections.abc import Sequence
from functools import cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.judge.span_features import Matrix, Place
from lapsus.annotators.model_files import SHIPPED, fingerprint, read_model
from lapsus.annotators.triples.labeller import GRAPH, LONG_GRAPH, Labeller, Reading
from lapsus.annotators.triples.pair import DATA, TEXT, parts_of
from lapsus.errors import UsageError
from lapsus.model import Unit

LANGUAGE: Final = "en"
_MODELS: Final = ("semantic-errors-en", "breakdown-en")
"""The model with the reader, and the one whose lower layers it goes on from."""
_Said: TypeAlias = dict[tuple[str, int, int], tuple[float, float, float]]
"""For places by segment, start and end the logits of left out, added and repeated."""
_NUMBERS: Final = 3
WIDTH: Final = 3 * _NUMBERS
"""Of a place itself, of the one before it and of the one after it."""
_LEAST: Final = 1e-3
"""The share below which, and above one less which, differences say nothing."""


def can_read(units: Sequence[Unit]) -> bool:
    """Whether all units are pairs of data and text that the reader can read."""
    return all(
        unit.language in (None, LANGUAGE) and {DATA, TEXT} <= {one.role for one in unit.visible}
        for unit in units
    )


class PairReadings:
    """Asks the shipped reader, which learned judges know by its fingerprint. UsageError where it has another."""

    def __init__(self, fingerprint: str | None = None) -> None:
        self._labeller, self.fingerprint = _shipped()
        """Of the reader: what was learned from one fits no other."""
        if fingerprint not in (None, self.fingerprint):
            raise UsageError("learned-another-reader-pairs")
        self._latest: tuple[list[Unit], list[_Said]] = [], []

    def rows(self, units: Sequence[tuple[Unit, Sequence[Sequence[Place]]]]) -> list[Matrix]:
        """For each unit a row a place; zeros where it was not read."""
        said = self._said([unit for unit, _ in units])
        return [_rows(groups, one) for (_, groups), one in zip(units, said, strict=True)]

    def _said(self, units: list[Unit]) -> list[_Said]:
        """What is said of some units: those of the latest call are not read again, for they come once for each side."""
        known, found = self._latest
        if len(known) != len(units) or any(a is not b for a, b in zip(known, units, strict=True)):
            which = [unit for unit in units if can_read([unit])]
            read = iter(self._labeller.read([parts_of(unit) for unit in which]))
            found = [_logits(next(read)) if can_read([unit]) else {} for unit in units]
            self._latest = units, found
        return found


def _logits(reading: Reading) -> _Said:
    """What was read of elements and words."""
    found: _Said = {}
    for n, triple in enumerate(reading.pair.triples):
        for element, share in zip(triple.elements(), reading.omitted[3 * n : 3 * n + 3], strict=True):
            found[triple.id, element.start, element.end] = (_logit(share), 0.0, 0.0)
    for word, added, repeated in zip(reading.pair.words, reading.added, reading.repeated, strict=True):
        found[word.segment, word.start, word.end] = (0.0, _logit(added), _logit(repeated))
    return found


def _logit(share: float) -> float:
    """0 for what was not read."""
    kept = min(max(share, _LEAST), 1 - _LEAST)
    return float(np.log(kept / (1 - kept))) if np.isfinite(share) else 0.0


def _rows(groups: Sequence[Sequence[Place]], said: _Said) -> Matrix:
    nothing = (0.0,) * _NUMBERS
    blocks: list[NDArray[np.float32]] = [np.zeros((0, WIDTH), np.float32)]
    for group in groups:
        own = np.array(
            [nothing, *(said.get((p.segment, p.start, p.end), nothing) for p in group), nothing], np.float32
        )
        blocks.append(np.hstack([own[1:-1], own[:-2], own[2:]]))
    return np.vstack(blocks)


@cache
def _shipped() -> tuple[Labeller, str]:
    reader, lower = (read_model(SHIPPED / f"{name}.lapsus")[1] for name in _MODELS)
    below = str(reader.data["reader_data"]["lower"])
    return Labeller(reader.files[GRAPH], below, reader.files[LONG_GRAPH]), fingerprint(reader, lower)
