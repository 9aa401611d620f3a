"""Dawid and Skene over stretches of text: against a plain loop, and beside counting heads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lapsus.errors import UsageError
from lapsus.measures.gold import make_gold
from lapsus.measures.gold.dawid_skene import counted_dawid_skene, dawid_skene
from lapsus.measures.gold.spans import POSTERIORS, span_dawid_skene
from lapsus.model import Span, UnitKey
from lapsus.model.votes import LabelVotes, SpanVotes


def votes(*rows: Any) -> SpanVotes:
    units = tuple(UnitKey(f"d{n}", None) for n in range(len(rows)))
    names = tuple(f"p{n}" for n in range(len(rows[0]))) if rows else ()
    return SpanVotes(units, names, ("x", "y"), tuple(map(tuple, rows)))


def mark(start: int, end: int, label: str = "x", tie: str | None = None) -> Span:
    return Span("t", start, end, label, tie)


def test_what_most_marked_stands_and_every_stretch_has_its_posterior() -> None:
    rows = [[(mark(0, 4),), (mark(0, 6),), (mark(0, 4),), ()] for _ in range(6)]
    gold = span_dawid_skene(votes(*rows))
    assert gold.answers == ((mark(0, 4),),) * 6
    found = gold.details[POSTERIORS][UnitKey("d0", None)]
    assert [(one.start, one.end) for one in found] == [(0, 4), (4, 6)]
    assert found[0].posterior > 0.5 > found[1].posterior


def test_posteriors_are_those_of_the_model_on_the_stretches() -> None:
    """The same by hand: a row a stretch, a column an annotator."""
    rows = [
        [(mark(0, 4),), (mark(2, 6),), ()],
        [(), (mark(1, 3),), None],
        [(mark(5, 9),), (mark(5, 9),), (mark(5, 9),)],
    ]
    by_hand = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 1, -1], [1, 1, 1]], dtype=np.int8)
    units = tuple(UnitKey(str(n), None) for n in range(5))
    expected = dawid_skene(LabelVotes(units, ("p0", "p1", "p2"), ("unmarked", "marked"), by_hand))
    found = span_dawid_skene(votes(*rows)).details[POSTERIORS].values()
    assert [one.posterior for unit in found for one in unit] == pytest.approx(
        expected.distributions[:, 1].tolist()  # type: ignore[index]
    )


def test_two_who_mark_everything_do_not_outvote_three_who_look() -> None:
    generator = np.random.default_rng(3)
    rows: list[list[tuple[Span, ...] | None]] = []
    truth = []
    for _ in range(80):
        wrong = generator.random(6) < 0.3
        truth.append({n for n in range(6) if wrong[n]})
        looked = [wrong ^ (generator.random(6) < 0.15) for _ in range(3)]
        marked = [generator.random(6) < 0.95 for _ in range(2)]
        rows.append(
            [tuple(mark(5 * n, 5 * n + 4) for n in range(6) if said[n]) for said in (*looked, *marked)]
        )
    gold = span_dawid_skene(votes(*rows))
    heads = make_gold("spans", votes(*rows))

    def right(answers: object) -> float:
        said = [{span.start // 5 for span in spans} for spans in answers]  # type: ignore[attr-defined]
        return float(np.mean([len(one ^ other) for one, other in zip(said, truth, strict=True)]))

    assert right(gold.answers) < 0.5 * right(heads.answers)


def by_plain_loops(said: np.ndarray[Any, Any], rounds: int) -> np.ndarray[Any, Any]:
    """How likely each word should be marked, given who marked it: EM as a textbook has it."""
    likely = said.mean(axis=1)
    for _ in range(rounds):
        prior = likely.mean()
        hits = [sum(likely * said[:, who]) / sum(likely) for who in range(said.shape[1])]
        alarms = [sum((1 - likely) * said[:, who]) / sum(1 - likely) for who in range(said.shape[1])]
        for word, row in enumerate(said):
            yes, no = prior, 1 - prior
            for who, mark in enumerate(row):
                yes *= hits[who] if mark else 1 - hits[who]
                no *= alarms[who] if mark else 1 - alarms[who]
            likely[word] = yes / (yes + no)
    return likely


def test_words_that_nobody_marked_count_so_that_posteriors_are_as_likely_as_they_say() -> None:
    generator = np.random.default_rng(2)
    many, long = 120, 12
    truth = generator.random((many, long)) < 0.15
    chances = ((0.9, 0.02), (0.85, 0.03), (0.5, 0.15))
    said = np.stack([generator.random((many, long)) < np.where(truth, *one) for one in chances], axis=2)
    rows = [
        [tuple(mark(5 * n, 5 * n + 4) for n in range(long) if unit[n, who]) for who in range(3)]
        for unit in said
    ]
    words = [("t", 5 * n, 5 * n + 4) for n in range(long)]
    found = span_dawid_skene(votes(*rows), words=lambda unit, label: words, smoothing=1e-9, iterations=200)
    expected = by_plain_loops(said.reshape(-1, 3).astype(float), 200).reshape(many, long)
    surely, right = 0, 0
    for row, marks in enumerate(found.details[POSTERIORS].values()):
        for one in marks:
            # Ours ends once the likelihood hardly grows; three annotators leave posteriors in the middle some play.
            assert one.posterior == pytest.approx(expected[row, one.start // 5], abs=0.1)
            surely += one.posterior > 0.9
            right += one.posterior > 0.9 and truth[row, one.start // 5]
    assert surely > 100
    assert right / surely > 0.9
    assert "of:words" in found.signature


def test_words_answered_alike_are_weighed_as_if_each_had_its_row() -> None:
    generator = np.random.default_rng(5)
    codes = generator.integers(-1, 2, (40, 3)).astype(np.int8)
    times = generator.integers(1, 9, 40)
    names, labels = ("p0", "p1", "p2"), ("unmarked", "marked")

    def of(rows: np.ndarray[Any, Any]) -> LabelVotes:
        return LabelVotes(tuple(UnitKey(str(n), None) for n in range(len(rows))), names, labels, rows)

    whole = dawid_skene(of(np.repeat(codes, times, axis=0)))
    found = counted_dawid_skene(of(codes), times, 0.01, 100)
    assert found.reliability == pytest.approx(whole.reliability)
    np.testing.assert_allclose(np.repeat(found.distributions, times, axis=0), whole.distributions, atol=1e-9)
    assert found.details["log_likelihood"] == pytest.approx(whole.details["log_likelihood"])
    assert found.details["iterations"] == whole.details["iterations"]


def test_the_words_of_a_unit_are_asked_for_together_whatever_the_labels() -> None:
    rows = [[(mark(0, 4), mark(5, 9, "y")), (mark(0, 4),)] for _ in range(4)]
    asked: list[str] = []

    def words(unit: UnitKey, label: str) -> list[tuple[str, int, int]]:
        asked.append(unit.document)
        return [("t", 5 * n, 5 * n + 4) for n in range(9)]

    assert "of:words" in span_dawid_skene(votes(*rows), words=words).signature
    assert asked == ["d0", "d0", "d1", "d1", "d2", "d2", "d3", "d3"]


def test_documents_without_text_are_said_to_rest_on_stretches() -> None:
    rows = [[(mark(0, 4),), (mark(0, 6),), ()] for _ in range(3)]
    found = span_dawid_skene(votes(*rows), words=lambda unit, label: [])
    alone = span_dawid_skene(votes(*rows))
    assert (found.answers, found.signature) == (alone.answers, alone.signature)
    assert "of:stretches" in found.signature


def test_ties_are_decided_by_the_same_model() -> None:
    tied = (mark(0, 4, "x", "1"), mark(9, 12, "y", "1"))
    loose = (mark(0, 4), mark(9, 12, "y"))
    gold = span_dawid_skene(votes(*[[tied, tied, loose] for _ in range(5)], [loose, loose, tied]))
    assert gold.answers is not None
    assert gold.answers[0] == tied
    assert gold.answers[5] == loose


def test_nobody_nothing_and_bad_bounds() -> None:
    gold = span_dawid_skene(votes([None, None], [(), ()]))
    assert gold.answers == (None, ())
    with pytest.raises(UsageError, match="above 0 and below 1"):
        span_dawid_skene(votes([(), ()]), at_least=1.0)
