"""Marks that a judge learns: on whole words and elements, scored, tied where the scheme lets them be."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import lapsus
from lapsus.annotators.base import Annotator
from lapsus.annotators.bulk import Run
from lapsus.annotators.judge.agreement import Seen, _mark_figures, mask_of, span_agreement
from lapsus.annotators.judge.judge import Judge
from lapsus.annotators.judge.span_features import Place, places_for
from lapsus.annotators.judge.spans import _spans
from lapsus.annotators.marks import best_threshold
from lapsus.errors import InputError
from lapsus.formats import read
from lapsus.kinds import kinds_of
from lapsus.model import Document, Label, Segment, Span, units
from lapsus.samples import sample_path
from lapsus.schemes import broken_rules, load_scheme

SCHEME = load_scheme("semantic-errors")
KIND = kinds_of(SCHEME)["errors"]


@pytest.fixture(scope="module")
def judge() -> Judge:
    found = lapsus.train("judge", sample_path("pairs-en"), scheme="semantic-errors")
    assert isinstance(found, Judge)
    return found


def test_marks_are_learned_better_than_a_constant(judge: Judge) -> None:
    (report,) = judge.reports_
    found = report.agreement
    assert report.answered
    assert found.judge.value is not None
    assert found.floor.value is not None
    assert found.people.value is not None
    assert found.judge.value > 2 * found.floor.value
    assert found.people.value > 0.8
    assert judge.unanswered == []
    head, row = str(judge.account()[0]).splitlines()
    assert head.split()[:3] == ["question", "units", "AUC"]
    assert row.startswith("errors")


def test_a_chat_has_nothing_to_mark_and_is_not_called_free_of_errors(judge: Judge) -> None:
    chat = Document("chat", (Segment("0", "user", "Hi."), Segment("1", "system", "Hello.")), "en")
    with pytest.raises(InputError, match="no segment of role text or triple") as refused:
        list(judge.judge([chat]))
    assert "chat" in (refused.value.where or "")
    assert list(judge.judge([Document("bare", (Segment("t", "text", ""),), "en")]))


def test_judgments_keep_the_rules_and_are_kept_in_a_file(judge: Judge, tmp_path: Path) -> None:
    judge.save(tmp_path / "marks.lapsus")
    again = Annotator.load(tmp_path / "marks.lapsus")
    documents = [entry.document for entry in read(sample_path("pairs-en")) if entry.document]
    ties = 0
    mine, others = (Run().entries((one, document) for document in documents) for one in (judge, again))
    for entry, same in zip(mine, others, strict=True):
        (judgment,), (kept,) = entry.judgments, same.judgments
        assert kept.answers == judgment.answers
        assert broken_rules(SCHEME, judgment.answers, entry.document, None) == []
        marks = judgment.answers["errors"]
        assert isinstance(marks, tuple)
        assert len(judgment.metadata["scores"]["errors"]) == len(marks)
        assert set(judgment.metadata["expected"]) == {"omission", "addition", "repetition"}
        ties += sum(isinstance(mark, Span) and mark.tie is not None for mark in marks)
    assert ties >= 2


def test_places_are_what_is_marked_as_a_whole() -> None:
    text = Segment("text", "text", "Ida was born in Orsk.")
    document = Document("d", (Segment.triple("t1", "Ida", "birthPlace", "Orsk"), text), "en")
    (unit,) = units(document, SCHEME.unit)
    labels = {label.id: label for label in KIND.labels}
    assert [[place.text for place in group] for group in places_for(unit, labels["omission"])] == [
        ["Ida", "birthPlace", "Orsk"]
    ]
    ((*words,),) = places_for(unit, labels["addition"])
    found = list(_spans(words, np.array([0.1, 0.9, 0.7, 0.2, 0.8]), 0.5, "addition"))
    # Neighbours are one mark, and the full stop is no part of one.
    assert found == [(Span("text", 4, 12, "addition"), 0.8), (Span("text", 16, 20, "addition"), 0.8)]
    elements = places_for(unit, labels["omission"])[0]
    assert [span.end for span, _ in _spans(elements, np.ones(3), 0.5, "omission")] == [3, 16, 23]


def test_agreement_equals_a_plain_count() -> None:
    rng = np.random.default_rng(1)
    label = Label("a", {"en": "a"}, {"en": "a"}, on="text")
    places = [[Place("text", 2 * n, 2 * n + 1, "x", 0) for n in range(6)] for _ in range(8)]
    said = [
        [tuple(Span("text", 2 * n, 2 * n + 1, "a") for n in range(6) if rng.random() < 0.4) for _ in range(3)]
        for _ in range(8)
    ]
    side = Seen([label], places, np.repeat(np.arange(8), 6), *(np.zeros((48, 1), np.float32),) * 4)  # type: ignore[arg-type]
    marks = rng.random((48, 1)) < 0.4
    found = span_agreement([side], [marks], said, np.arange(8))
    both = ours = theirs = pair_both = pair_all = 0.0
    for n in range(8):
        masks = [mask_of(places[n], spans, [label])[0] for spans in said[n]]
        mine = marks[6 * n : 6 * n + 6]
        both += np.mean([(mine & mask).sum() for mask in masks])
        ours += mine.sum()
        theirs += np.mean([mask.sum() for mask in masks])
        pair_both += np.mean([2 * (a & b).sum() for a, b in combinations(masks, 2)])
        pair_all += np.mean([a.sum() + b.sum() for a, b in combinations(masks, 2)])
    assert found.judge.value == pytest.approx(2 * both / (ours + theirs))
    assert found.people.value == pytest.approx(pair_both / pair_all)
    same, chance = (48 - ours - theirs + 2 * both) / 48, (ours * theirs + (48 - ours) * (48 - theirs)) / 48**2
    assert found.judge_beyond.value == pytest.approx((same - chance) / (1 - chance))
    assert np.isnan(_mark_figures(np.zeros((1, 9)))[0, 0])


def test_hardly_more_is_marked_than_people_mark() -> None:
    """One place in four that looks like a mark is one: F1 alone would have all of them marked."""
    target = np.zeros(1000)
    shares = np.full(1000, 0.01)
    target[:10] = 1
    shares[:40] = 0.25
    shares[:4] = 0.6
    cut = best_threshold(shares, target)
    assert 0.25 < cut <= 0.6
    shares[4:10] = 0.6
    assert best_threshold(shares, target) == pytest.approx(cut)
    assert best_threshold(shares, np.zeros(1000)) > shares.max()
    assert best_threshold(np.full(1000, 0.9), target) > 0.9
