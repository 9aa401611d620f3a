"""What the fits of the shipped models begin with."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lapsus.annotators.breakdown import decision
from lapsus.annotators.encoder.chat_reader import word_shares
from lapsus.annotators.encoder.large_reader import NAMES, columns
from lapsus.annotators.encoder.reader import Passage, TurnWords

TRAIN = Path(__file__).parents[2] / "tools" / "train"


@pytest.fixture
def first_fit(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The module of `tools/train`."""
    monkeypatch.syspath_prepend(str(TRAIN))
    yield import_module("first_fit")
    sys.modules.pop("first_fit", None)


def said(*texts: str) -> tuple[TurnWords, ...]:
    """Turns of user and system by turns; the user begins."""
    return tuple(TurnWords(place % 2 == 1, text) for place, text in enumerate(texts))


def test_tuned_cuts_do_at_least_as_well_as_the_likeliest_label(first_fit: Any) -> None:
    """Where O is everywhere the likeliest label but never the majority, only a cut finds the breakdowns."""
    counts = np.array([[4, 3, 3], [9, 1, 0]] * 10)
    rows = np.array([[0.4, 0.25, 0.35], [0.8, 0.1, 0.1]] * 10)
    rule = first_fit.tune_cuts(counts, rows)
    assert "".join("OTX"[code] for code in decision(rule)(rows[:2]))[1] == "O"
    assert decision(rule)(rows[:1])[0] > 0
    assert first_fit.tune_cuts(counts, rows) == rule


def test_words_add_up_as_they_were_fitted(first_fit: Any) -> None:
    passages = [
        Passage(said(user), target) for user, target in (("Hi", "It's fine!"), ("", ""), ("Why?", "Why?"))
    ]
    votes = np.array([[0.9, 0.1, 0.0], [0.5, 0.2, 0.3], [0.0, 0.2, 0.8]])
    rows = first_fit.word_matrix(passages)
    table, usual = first_fit.fit_words(rows, votes, penalty=1e-3)
    given = np.array([word_shares(passage, table, usual) for passage in passages])
    assert given == pytest.approx(usual + rows @ table, abs=1e-5)
    assert given == pytest.approx(votes, abs=0.01)
    # A word counts by who says it, and where it stands to the next one.
    assert (
        first_fit.word_matrix([Passage(said("a b"), "")])
        != first_fit.word_matrix([Passage(said("", "b a"), "a b")])
    ).any()
    assert (first_fit.word_matrix([Passage((), "a b")]) != first_fit.word_matrix([Passage((), "b a")])).any()


def test_the_first_map_is_the_mean_of_both(first_fit: Any) -> None:
    small = np.array([[0.7, 0.2, 0.1]])
    said = np.zeros((1, len(NAMES)))
    said[0, :3] = np.log([0.1, 0.2, 0.7])
    logits = columns(said, small, "general") @ first_fit.first_map()
    given = np.exp(logits) / np.exp(logits).sum()
    root = np.sqrt(np.array([0.7, 0.2, 0.1]) * np.array([0.1, 0.2, 0.7]))
    assert given[0] == pytest.approx(root / root.sum())
