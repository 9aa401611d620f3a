"""Stretches of text laid out one after the other on a single line, so that overlaps are found by sorting."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lapsus.measures.bootstrap import Floats

Ints = NDArray[np.int64]


class Stretches(NamedTuple):
    """Stretches from `starts` up to `ends`, each of a unit. Texts lie apart on the line."""

    starts: Ints
    ends: Ints
    units: Ints
    unit_count: int

    @classmethod
    def on_one_line(
        cls,
        marks: Sequence[Collection[tuple[str, int, int, str]]],
        places: dict[tuple[int, str, str], int],
        width: int,
    ) -> Stretches:
        """Lay out the (segment, start, end, label) of each unit.

        Each segment and label of a unit has a place of its own, `width` wide. `places` is filled on the way,
        so that a second call with it puts stretches on the same line.
        """
        rows = [
            (places.setdefault((unit, segment, label), len(places)) * width, start, end, unit)
            for unit, of_unit in enumerate(marks)
            for segment, start, end, label in of_unit
        ]
        offsets, starts, ends, units = np.array(rows, dtype=np.int64).reshape(-1, 4).T
        return cls(offsets + starts, offsets + ends, units, len(marks))

    def counts(self) -> Floats:
        """How many stretches each unit has."""
        return self._by_unit(np.ones(len(self.starts)))

    def hits(self, others: Stretches) -> Floats:
        """How many of each unit's stretches have a character in common with one of the others."""
        return self._by_unit((others._covered_within(self) > 0).astype(np.float64))

    def covered(self) -> Floats:
        """How many characters each unit's stretches cover, each character counted once."""
        merged = self.merged()
        return merged._by_unit((merged.ends - merged.starts).astype(np.float64))

    def common(self, others: Stretches) -> Floats:
        """How many characters each unit's stretches have in common with the others."""
        merged = self.merged()
        return merged._by_unit(others._covered_within(merged).astype(np.float64))

    def merged(self) -> Stretches:
        """The same characters in stretches that do not touch each other, in order."""
        if not len(self.starts):
            return self
        order = np.argsort(self.starts, kind="stable")
        starts, reach = self.starts[order], np.maximum.accumulate(self.ends[order])
        first = np.flatnonzero(np.append(True, starts[1:] > reach[:-1]))
        last = np.append(first[1:] - 1, len(starts) - 1)
        return Stretches(starts[first], reach[last], self.units[order][first], self.unit_count)

    def _covered_within(self, others: Stretches) -> Ints:
        """How many characters of each other stretch these cover."""
        merged = self.merged()
        before = np.append(0, np.cumsum(merged.ends - merged.starts))

        def up_to(points: Ints) -> Ints:
            place = np.searchsorted(merged.starts, points, side="right")
            if not len(merged.starts):
                return np.zeros(len(points), dtype=np.int64)
            # The last stretch that has begun may reach beyond the point; what lies beyond does not count.
            beyond = np.maximum(merged.ends[place - 1] - points, 0)
            return np.asarray(before[place] - np.where(place > 0, beyond, 0))

        return up_to(others.ends) - up_to(others.starts)

    def _by_unit(self, weights: Floats) -> Floats:
        sums: Floats = np.bincount(self.units, weights, self.unit_count).astype(np.float64)
        return sums
