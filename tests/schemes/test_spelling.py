"""An answer that can be written in several ways has one form, whichever door it comes in by."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from lapsus.analysis.agreement import agree
from lapsus.analysis.gold_standard import gold
from lapsus.analysis.trust import load_corpora
from lapsus.annotators.language_model.reply import take
from lapsus.formats import convert, read
from lapsus.kinds import kind_of
from lapsus.model import Document, Entry, Judgment, Segment, Span, units
from lapsus.schemes import load_scheme, spelt_answers

SCHEME = load_scheme("semantic-errors")
KIND = kind_of(SCHEME.questions[0], SCHEME)
TRIPLE = Segment.triple("t1", "Velmora_Hall", "architect", "Ines_Tarro")
TEXT = Segment("text", "text", "velmora hall stands in lindby")
PAIR = Document("d1", (TRIPLE, TEXT), "en")
WHOLE = (Span("t1", 0, len(TRIPLE.text), "omission"),)
ELEMENTS = tuple(Span("t1", one.start, one.end, "omission") for one in TRIPLE.elements())


def judged(annotator: str, spans: tuple[Span, ...], document: str = "d1") -> Judgment:
    return Judgment(document, None, annotator, SCHEME.id, SCHEME.version, {"errors": spans})


def test_a_mark_over_a_triple_is_a_mark_on_each_element() -> None:
    assert KIND.spelt(WHOLE, PAIR) == ELEMENTS
    assert KIND.spelt(ELEMENTS, PAIR) is ELEMENTS
    assert spelt_answers(SCHEME, {"errors": WHOLE, "other": "x"}, PAIR) == {"errors": ELEMENTS, "other": "x"}


def test_two_elements_at_once_keep_their_tie_and_a_mark_again_is_one() -> None:
    both = Span("t1", ELEMENTS[1].start, ELEMENTS[2].end, "omission", "1")
    added = Span("text", 23, 29, "addition", "1")
    tied = [msgspec.structs.replace(span, tie="1") for span in ELEMENTS[1:]]
    assert KIND.spelt((both, added), PAIR) == (*tied, added)
    assert KIND.spelt((*WHOLE, ELEMENTS[0]), PAIR) == ELEMENTS


@pytest.mark.parametrize(
    "span",
    [
        Span("t1", 0, 5, "omission"),  # cuts an element: the rules say so
        Span("text", 0, 12, "addition"),
        Span("gone", 0, 12, "omission"),
        Span("t1", 0, len(TRIPLE.text), "no-such-label"),
    ],
)
def test_what_is_no_whole_element_stays_as_it_is(span: Span) -> None:
    given = (span,)
    assert KIND.spelt(given, PAIR) is given


def test_files_agreement_and_gold_take_both_for_the_same(tmp_path: Path) -> None:
    entries = [
        Entry(f"d{n}", msgspec.structs.replace(PAIR, id=f"d{n}"),
              (judged("avery", WHOLE, f"d{n}"), judged("bo", ELEMENTS, f"d{n}")))
        for n in range(3)
    ]  # fmt: skip
    convert(entries, tmp_path / "pairs.jsonl")
    for entry in read(tmp_path / "pairs.jsonl"):
        assert {judgment.answers["errors"] for judgment in entry.judgments} == {ELEMENTS}
    assert agree(tmp_path / "pairs.jsonl").data["span_f1"] == 1
    assert set(gold(entries)["errors"].by_unit().values()) == {ELEMENTS}


def test_a_file_of_judgments_alone_goes_by_the_documents_of_another(tmp_path: Path) -> None:
    convert([Entry("d1", PAIR, (judged("avery", ELEMENTS),))], tmp_path / "pairs.jsonl")
    convert([Entry("d1", None, (judged("bo", WHOLE),))], tmp_path / "more.jsonl")
    corpus = load_corpora([tmp_path / "pairs.jsonl", tmp_path / "more.jsonl"])
    assert {judgment.answers["errors"] for judgment in corpus.judgments} == {ELEMENTS}


def test_a_language_model_may_quote_the_whole_triple() -> None:
    (unit,) = units(PAIR, SCHEME.unit)
    mark = {"label": "omission", "segment": "t1", "quote": TRIPLE.text, "occurrence": 1, "tie": None}
    taken = take(msgspec.json.encode({"errors": [mark], "comment": None}).decode(), unit, SCHEME, "en")
    assert taken.answers["errors"] == ELEMENTS
