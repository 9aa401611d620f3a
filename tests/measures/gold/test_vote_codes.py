"""Votes that are listed one by one say the same as packed ones."""

from __future__ import annotations

import numpy as np
import pytest

from lapsus.measures.gold import dawid_skene, make_gold
from lapsus.model import UnitKey
from lapsus.model.votes import LabelVotes


@pytest.mark.parametrize("method", ["dawid_skene", "mace(em)"])
def test_few_votes_of_many_annotators(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(5)
    truth = random.integers(0, 3, 60)
    codes = np.full((60, 40), -1, dtype=np.int8)
    for row in range(60):
        for column in random.permutation(40)[:4]:
            codes[row, column] = truth[row] if random.random() < 0.7 else random.integers(0, 3)
    keys = tuple(UnitKey(str(row), None) for row in range(60))
    votes = LabelVotes(keys, tuple(f"a{n}" for n in range(40)), ("O", "T", "X"), codes)
    listed = make_gold(method, votes)
    monkeypatch.setattr(dawid_skene, "_SPARSE", 0)
    dense = make_gold(method, votes)
    assert listed.answers == dense.answers
    assert listed.distributions is not None
    assert dense.distributions is not None
    np.testing.assert_allclose(listed.distributions, dense.distributions, atol=1e-9)
    assert listed.reliability == pytest.approx(dict(dense.reliability))
