from __future__ import annotations

import tracemalloc
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lapsus.measures.agreement import coefficient
from lapsus.measures.agreement.patterns import distinct_rows, distinct_sums
from lapsus.model.votes import LabelVotes, count_labels
from tests.measures.agreement.helpers import names, units

rows = st.integers(0, 4).flatmap(
    lambda width: st.lists(st.lists(st.integers(0, 9), min_size=width, max_size=width), max_size=12).map(
        lambda table: np.array(table, dtype=np.int64).reshape(len(table), width)
    )
)


def counted(found: tuple[np.ndarray, np.ndarray]) -> Counter[tuple[int, ...]]:
    table, times = found
    assert len({tuple(row) for row in table.tolist()}) == len(table) == len(times)
    return Counter({tuple(row): int(count) for row, count in zip(table.tolist(), times, strict=True)})


@given(rows, st.sampled_from([1, 10**5, 10**13]))
def test_rows_are_counted_however_large_their_numbers(table: np.ndarray, factor: int) -> None:
    # A table of all possible rows, sorted keys, and rows that no key can hold.
    table = table * factor
    assert counted(distinct_rows(table)) == Counter(map(tuple, table.tolist()))
    if table.shape[1]:
        assert counted(distinct_sums(table)) == Counter(map(tuple, table.tolist()))


@pytest.mark.parametrize("width", [0, 1, 254, 255, 256, 300])
def test_votes_are_counted_whatever_their_number(width: int) -> None:
    codes = np.random.default_rng(width).integers(-1, 3, (20_000, width)).astype(np.int8)
    codes[0] = 2
    counts = count_labels(codes, 3)
    assert counts[0].tolist() == [0, 0, width]
    assert (counts == np.stack([(codes == label).sum(axis=1) for label in range(3)], axis=1)).all()


def test_a_large_table_needs_less_than_twice_its_own_memory() -> None:
    codes = np.random.default_rng(0).integers(-1, 3, (200_000, 30)).astype(np.int8)
    votes = LabelVotes(units(1) * len(codes), names(30), tuple("OTX"), codes)
    for measure in ("fleiss", "alpha", "alpha(ordinal)", "ac1", "percent"):
        tracemalloc.start()
        coefficient(measure, votes, None)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 2 * codes.nbytes
