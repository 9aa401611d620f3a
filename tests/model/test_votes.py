from __future__ import annotations

import numpy as np
import pytest

from lapsus.errors import InvalidError
from lapsus.kinds.votes import collect_votes
from lapsus.model import Judgment, Span, UnitKey
from lapsus.model.scheme import Level, Question
from lapsus.model.votes import LabelSetVotes, LabelVotes, ScaleVotes, SpanVotes
from lapsus.schemes import load_scheme

BREAKDOWN = load_scheme("breakdown").questions[0]
TYPES = load_scheme("error-types").questions[0]
NAME = {"en": "n"}


def said(question: str, *answers: tuple[str, str, object]) -> list[Judgment]:
    return [Judgment("d", segment, who, "s", "1", {question: answer}) for segment, who, answer in answers]  # type: ignore[dict-item]


def test_labels_become_codes_with_gaps_for_missing_ones() -> None:
    votes = collect_votes(said("breakdown", ("0", "a", "O"), ("0", "b", "X"), ("1", "b", "T")), BREAKDOWN)
    assert isinstance(votes, LabelVotes)
    assert votes.units == (UnitKey("d", "0"), UnitKey("d", "1"))
    assert votes.annotators == ("a", "b")
    assert votes.codes.tolist() == [[0, 2], [-1, 1]]
    assert votes.counts().tolist() == [[1, 0, 1], [0, 1, 0]]


def test_only_the_newest_revision_is_counted() -> None:
    old = said("breakdown", ("0", "a", "O"))
    new = [Judgment("d", "0", "a", "s", "1", {"breakdown": "X"}, revision=2)]
    assert collect_votes(old + new, BREAKDOWN).codes.tolist() == [[2]]  # type: ignore[union-attr]


def test_sets_tell_none_from_no_answer() -> None:
    votes = collect_votes(said("types", ("0", "a", ("repetition", "contradiction")), ("1", "b", ())), TYPES)
    assert isinstance(votes, LabelSetVotes)
    assert votes.chosen.sum(axis=2).tolist() == [[2, 0], [0, 0]]
    assert votes.answered.tolist() == [[True, False], [False, True]]


def test_scales_and_spans() -> None:
    scale = Question(id="q", kind="scale", name=NAME, ask=NAME, levels=(Level(value=1, meaning=NAME),))
    votes = collect_votes(said("q", ("0", "a", 4), ("1", "b", 2)), scale)
    assert isinstance(votes, ScaleVotes)
    assert np.array_equal(votes.values, [[4, np.nan], [np.nan, 2]], equal_nan=True)
    spans = Question(id="q", kind="spans", name=NAME, ask=NAME)
    marked = collect_votes(said("q", ("0", "a", (Span("0", 0, 1, "x"),)), ("0", "b", ())), spans)
    assert isinstance(marked, SpanVotes)
    assert marked.spans == (((Span("0", 0, 1, "x"),), ()),)


def test_unknown_labels_and_free_text_cannot_be_counted() -> None:
    with pytest.raises(InvalidError, match="unknown label 'Q'"):
        collect_votes(said("breakdown", ("0", "a", "Q")), BREAKDOWN)
    text = Question(id="t", kind="text", name=NAME, ask=NAME)
    with pytest.raises(InvalidError, match="free text"):
        collect_votes(said("t", ("0", "a", "words")), text)


def test_arrays_must_fit_and_cannot_be_written() -> None:
    with pytest.raises(InvalidError, match="votes of shape"):
        LabelVotes((UnitKey("d", "0"),), ("a",), ("O",), np.zeros((2, 1), dtype=np.int8))
    with pytest.raises(InvalidError, match="codes must be"):
        LabelVotes((UnitKey("d", "0"),), ("a",), ("O",), np.ones((1, 1), dtype=np.int8))
    votes = LabelVotes((UnitKey("d", "0"),), ("a",), ("O",), np.zeros((1, 1), dtype=np.int8))
    with pytest.raises(ValueError, match="read-only"):
        votes.codes[0, 0] = 0
