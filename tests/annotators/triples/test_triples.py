"""Marks on pairs of data and text: whole elements and words, ties, scores, expected numbers, odd input."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lapsus.annotators import default_model, load_model, make_annotator
from lapsus.annotators.encoder.tokens import Subwords
from lapsus.annotators.training import documents_and_votes
from lapsus.annotators.triples.marks import Cuts, likeness
from lapsus.annotators.triples.pair import STRETCHES, TOKENS, WINDOWS, Pairs
from lapsus.annotators.triples.triples import Triples
from lapsus.errors import InputError, UsageError
from lapsus.kinds import kinds_of
from lapsus.model import Document, Entry, Judgment, Segment, Span
from tests.annotators.triples.tiny import Logits, pair, tiny, tokenizer

__all__ = ["tiny"]
SUBWORDS = Subwords(tokenizer())


def judged(judge: Triples, *documents: Document) -> list[Judgment]:
    return list(judge.judge(documents))


def said(document: Document, judgment: Judgment) -> set[tuple[str, str, str | None]]:
    """The marks by their words."""
    return {
        (span.label, document.segment(span.segment).text[span.start : span.end], span.tie)
        for span in judgment.answers["errors"]
    }


def test_a_text_that_says_its_data_has_no_marks(tiny: Triples) -> None:
    document = pair(
        "Velmora Hall was designed by the architect Ines Tarro.", "Velmora_Hall | architect | Ines_Tarro"
    )
    (judgment,) = judged(tiny, document)
    assert judgment.answers["errors"] == ()
    assert set(judgment.metadata["expected"]) == {"omission", "addition", "repetition"}
    assert judgment.segment is None


def test_what_is_left_out_is_marked_element_by_element(tiny: Triples) -> None:
    document = pair(
        "velmora hall was designed by the architect ines tarro .",
        "Velmora_Hall | architect | Ines_Tarro",
        "Osk_Bridge | floorCount | 6",
    )
    (judgment,) = judged(tiny, document)
    assert said(document, judgment) == {
        ("omission", "Osk_Bridge", None),
        ("omission", "floorCount", None),
        ("omission", "6", None),
    }
    assert all(span.segment == "t2" for span in judgment.answers["errors"])
    sure = np.exp(3) / (np.exp(3) + 1)
    assert judgment.metadata["scores"]["errors"] == pytest.approx([sure] * 3, abs=1e-4)
    assert judgment.metadata["expected"] == pytest.approx(
        {"omission": 0.5, "addition": 0.25, "repetition": 8 / (np.exp(3) + 2)}, abs=1e-3
    )


def test_a_swapped_value_is_tied_to_what_stands_in_its_place(tiny: Triples) -> None:
    document = pair(
        "Osk Bridge, opened on the opening date of 9 september, has the length of six zzz.",
        "Osk_Bridge | openingDate | 3_march",
        "Osk_Bridge | length | kirrin",
    )
    (judgment,) = judged(tiny, document)
    marks = said(document, judgment)
    ties = {tie: {(label, words) for label, words, t in marks if t == tie} for _, _, tie in marks if tie}
    assert {("omission", "3_march"), ("addition", "9 september")} in ties.values()
    assert {("omission", "kirrin"), ("addition", "six zzz")} in ties.values()
    assert kinds_of(tiny.scheme)["errors"].allows(judgment.answers["errors"], document)


def test_one_value_in_two_triples_is_tied_once(tiny: Triples) -> None:
    document = pair(
        "velmora hall is in royal museum .", "velmora_hall | is_in | penmarsh", "penmarsh | is | velmora_hall"
    )
    (judgment,) = judged(tiny, document)
    assert said(document, judgment) == {
        ("omission", "penmarsh", "t1"),
        ("addition", "royal museum", "t1"),
    }
    assert sum(span.label == "omission" for span in judgment.answers["errors"]) == 2


def test_words_are_marked_as_wholes_without_signs_at_their_edges(tiny: Triples) -> None:
    document = pair("Velmora Hall is (kirrin-museum!), penmarsh.", "Velmora_Hall | is | velmora")
    (judgment,) = judged(tiny, document)
    assert ("addition", "kirrin-museum!), penmarsh", None) in said(document, judgment)
    assert kinds_of(tiny.scheme)["errors"].allows(judgment.answers["errors"], document)


def test_what_is_said_again_is_a_repetition(tiny: Triples) -> None:
    document = pair(
        "velmora hall is in penmarsh . velmora hall is in penmarsh .", "velmora_hall | is_in | penmarsh"
    )
    (judgment,) = judged(tiny, document)
    assert {label for label, *_ in said(document, judgment)} == {"repetition"}
    assert judgment.metadata["expected"]["repetition"] > 2


def test_a_number_in_another_form_is_the_same_number(tiny: Triples) -> None:
    document = pair(
        "Osk bridge has the length of 10,252, six of 12.",
        "osk_bridge | length | 10252",
        "osk_bridge | six | 13",
    )
    (judgment,) = judged(tiny, document)
    assert {words for _, words, _ in said(document, judgment)} == {"13", "12"}


def test_likeness_tells_numbers_from_names() -> None:
    assert likeness("1987", "in 1986") > likeness("1987", "september") == 0
    assert (
        likeness("royal kirrin museum", "kirrin museum") > likeness("royal kirrin museum", "osk bridge") > 0
    )


ODD = [
    "",
    " ",
    ".",
    "👩‍👩‍👧‍👦 velmora 🎉",
    "e\u0301te\u0301 \u202e \x00\x1f penmarsh",
    "ΟΔΟΣ ﬁne İstanbul 東京タワー",
    "x" * 30_000,
]


@pytest.mark.parametrize("text", ODD)
def test_odd_texts_are_judged_by_the_rules(tiny: Triples, text: str) -> None:
    documents = [
        pair(text, "Velmora_Hall | architect | Ines_Tarro"),
        pair(text, id="none"),
        pair(text, f"{text or '?'} | {text or '?'} | {text or '?'}", id="same"),
        Document(
            "two",
            (Segment("x", "text", text), Segment("y", "text", "Velmora."), Segment("z", "passage", "a")),
            "en",
        ),
    ]
    for document, judgment in zip(documents, judged(tiny, *documents), strict=True):
        assert kinds_of(tiny.scheme)["errors"].allows(judgment.answers["errors"], document)
        assert len(judgment.metadata["scores"]["errors"]) == len(judgment.answers["errors"])
        assert all(np.isfinite(number) and number >= 0 for number in judgment.metadata["expected"].values())


def test_an_empty_text_leaves_everything_out(tiny: Triples) -> None:
    document = pair("", "Velmora_Hall | architect | Ines_Tarro")
    (judgment,) = judged(tiny, document)
    assert {words for _, words, _ in said(document, judgment)} == {"Velmora_Hall", "architect", "Ines_Tarro"}


def test_a_document_without_a_text_is_refused_by_name(tiny: Triples) -> None:
    with pytest.raises(InputError, match=r"document 'p'.*no text"):
        judged(tiny, pair(None, "Velmora_Hall | architect | Ines_Tarro"))


def test_much_data_and_long_texts_are_read_in_windows(tiny: Triples) -> None:
    many = [f"osk_{n} | length | {n}" for n in range(10_000)]
    text = "Osk 9999 has a length of 9999. " + "Velmora hall is six. " * 400
    document = pair(text, *many, "velmora_hall | is | six")
    (judgment,) = judged(tiny, document)
    assert Logits.seen <= TOKENS
    windows = list(
        Pairs(SUBWORDS).windows(Pairs(SUBWORDS).pair(document.segments[:-1], document.segments[-1:], "en"))
    )
    assert len(windows) <= STRETCHES * WINDOWS
    # What is nearest to the text is read, so what it says is found again.
    assert ("addition", "9999", None) not in said(document, judgment)
    omitted = {span.segment for span in judgment.answers["errors"] if span.label == "omission"}
    assert not omitted & {"t10000", "t10001"}


def test_windows_hold_every_piece_once_and_every_triple(tiny: Triples) -> None:
    pairs = Pairs(SUBWORDS)
    text = " ".join(f"Velmora hall number {n} is in penmarsh{'.' * (n % 7 == 0)}" for n in range(60))
    document = pair(text, *(f"velmora hall {n} | is in | penmarsh {n}" for n in range(30)))
    whole = pairs.pair(document.segments[:-1], document.segments[-1:], "en")
    windows = list(pairs.windows(whole))
    starts = sorted({(window.first, window.size) for window in windows})
    assert [first for first, _ in starts] == [0, *np.cumsum([count for _, count in starts])[:-1]]
    assert sum(count for _, count in starts) == len(whole.pieces)
    for first, _ in starts:
        beside = [element for window in windows if window.first == first for element, *_ in window.elements]
        assert sorted(beside) == list(range(3 * 30))
    for window in windows:
        assert len(window.ids) == len(window.segment) <= TOKENS
        assert (
            window.ids[window.at : window.at + window.size]
            == whole.pieces[window.first : window.first + window.size]
        )


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Mc", "Me"]), max_size=40))
def test_pieces_are_the_same_with_their_places(text: str) -> None:
    pieces = SUBWORDS.pieces(text)
    assert [piece.id for piece in pieces] == SUBWORDS.ids(text)
    assert all(0 <= piece.start < piece.end <= len(text) for piece in pieces)
    assert all(one.start <= other.start and one.end <= other.end for one, other in pairwise(pieces))


def test_places_are_those_of_the_text_itself() -> None:
    text = "The ÉCOLE\u00a0velmora–hall"
    assert [text[piece.start : piece.end] for piece in SUBWORDS.pieces(text)] == [
        "The", "É", "C", "O", "L", "E", "velmora", "–", "hall",
    ]  # fmt: skip


def test_kept_in_a_file_it_judges_the_same(tiny: Triples, tmp_path: Path) -> None:
    tiny.name = "mine"
    tiny.save(tmp_path / "m.lapsus")
    loaded = load_model(tmp_path / "m.lapsus")
    document = pair("velmora hall is in kirrin", "velmora_hall | is_in | penmarsh")
    assert judged(loaded, document) == judged(tiny, document)  # type: ignore[arg-type]
    assert loaded.state().data["reader_data"] == {"lower": "breakdown-en"}


def test_it_is_for_one_guideline_and_one_language(tiny: Triples) -> None:
    with pytest.raises(UsageError, match="only, not for 'breakdown'"):
        make_annotator("triples", scheme="breakdown")
    with pytest.raises(UsageError, match="is in 'ja'"):
        judged(tiny, pair("あ", language="ja"))
    with pytest.raises(UsageError, match="has not learned yet"):
        make_annotator("triples").judge([])


def test_it_learns_from_marks_when_to_mark(
    tiny: Triples, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """People who mark twice as much move the number expected; people who mark nothing of a kind leave its cut."""
    tiny.cuts_ = Cuts(0.99, 0.99, 0.7)
    tiny.save(tmp_path / "shipped.lapsus")
    monkeypatch.setattr(
        "lapsus.annotators.triples.triples.default_model", lambda *_: tmp_path / "shipped.lapsus"
    )
    rng = random.Random(0)
    entries = []
    for n in range(20):
        lost, put = rng.sample(["penmarsh", "kirrin", "museum", "royal"], 2)
        document = pair(f"velmora hall is in {put}", f"velmora_hall | is_in | {lost}", id=f"d{n}")
        triple, text = document.segments
        spans = (
            Span("t1", triple.elements()[2].start, triple.elements()[2].end, "omission", "1"),
            Span("text", len(text.text) - len(put), len(text.text), "addition", "1"),
        )
        said = Judgment(document.id, None, "ada", "semantic-errors", tiny.scheme.version, {"errors": spans})
        entries.append(Entry(document.id, document, (said,)))
    learned = make_annotator("triples").fit(*documents_and_votes(entries, tiny.scheme))
    assert isinstance(learned, Triples)
    for entry in entries:
        assert entry.document is not None
        (judgment,) = judged(learned, entry.document)
        assert {(s.label, s.start, s.end) for s in judgment.answers["errors"]} == {
            (s.label, s.start, s.end) for s in entry.judgments[0].answers["errors"]
        }
    assert learned.cuts_.repetition == 0.7
    assert learned.origin_ is not None
    assert (learned.origin_.units, learned.origin_.votes, learned.origin_.languages) == (20, 20, ("en",))
    expected = [
        judged(learned, entry.document)[0].metadata["expected"]["omission"]
        for entry in entries
        if entry.document
    ]
    assert np.mean(expected) == pytest.approx(1, abs=0.2)
    with pytest.raises(InputError, match="no marked pair"):
        make_annotator("triples").fit([], {})


def test_a_model_whose_lower_layers_are_not_there_says_so(
    tiny: Triples, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny.save(tmp_path / "m.lapsus")
    monkeypatch.undo()
    from lapsus.annotators.triples import labeller

    monkeypatch.setattr("lapsus.annotators.encoder.chat_reader.SHIPPED", tmp_path)
    labeller.lower_of.cache_clear()
    with pytest.raises(InputError, match="lower layers are those of 'breakdown-en', which cannot be read"):
        load_model(tmp_path / "m.lapsus")


def test_the_shipped_model_finds_what_a_text_leaves_out_and_puts_in_its_place() -> None:
    shipped = load_model(default_model("en", "semantic-errors"))
    data = (
        "Kellan_Dray | genre | Folk_music",
        "Kellan_Dray | birthPlace | Osterby",
        "Kellan_Dray | birthYear | 1962",
    )
    good = pair("Kellan Dray, who was born in Osterby in 1962, performs folk music.", *data, id="good")
    bad = pair("Kellan Dray, who was born in Marnow, performs folk music.", *data, id="bad")
    fine, wrong = shipped.judge([good, bad])
    assert fine.answers["errors"] == ()
    marks = said(bad, wrong)
    tie = next(tie for label, words, tie in marks if (label, words) == ("omission", "Osterby"))
    assert ("addition", "Marnow", tie) in marks
    assert any(words == "1962" for _, words, _ in marks)
    assert sum(fine.metadata["expected"].values()) < sum(wrong.metadata["expected"].values())
