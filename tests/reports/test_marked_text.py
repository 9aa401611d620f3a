"""Documents in notebooks."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

import lapsus
from lapsus.errors import UsageError
from lapsus.model import Document, Entry, Judgment, Segment, Span
from lapsus.reports.marked_text import SHOWN

HOSTILE = "<script>alert(1)</script> & \"quotes\" 'here' \u202e\x1b[31m"


def document(*texts: str) -> Document:
    return Document("d<1>", tuple(Segment(str(n), "system", text) for n, text in enumerate(texts)))


def marked(text: str, *spans: Span, annotator: str = "a") -> Entry:
    judgment = Judgment("d<1>", None, annotator, "semantic-errors", "1.0", {"errors": spans})
    return Entry("d<1>", document(text), (judgment,))


def tree(html: str) -> ET.Element:
    """The page as a parser sees it, which must find it well formed."""
    return ET.fromstring(f"<x>{html}</x>")  # noqa: S314  our own page


def test_marks_that_cross_are_highlighted_with_their_labels() -> None:
    page = tree(
        lapsus.to_html(marked("one two three", Span("0", 0, 7, "addition"), Span("0", 4, 13, "omission")))
    )
    marks = page.findall(".//mark")
    assert [mark.text for mark in marks] == ["one ", "two", " three"]
    assert [mark.get("title") for mark in marks] == ["Addition", "Addition; Omission", "Omission"]
    assert [(sup.text or "").strip() for sup in page.findall(".//sup")] == ["Addition (a)", "Omission (a)"]
    assert "".join(marks[1].get("style", "").split("rgba")[0]) == "background:linear-gradient("


def test_whatever_stands_in_a_text_is_text() -> None:
    spans = (Span("0", 0, 8, HOSTILE), Span("0", 2, len(HOSTILE), "b"))
    entry = marked(HOSTILE, *spans, annotator=HOSTILE)
    html = lapsus.to_html(entry)
    assert "<script" not in html
    assert "\x1b" not in html
    assert "\u202e" not in html
    page = tree(html)
    assert {element.tag for element in page.iter()} == {
        "x",
        "style",
        "div",
        "p",
        "strong",
        "span",
        "mark",
        "sup",
    }
    assert not [name for element in page.iter() for name in element.attrib if name.startswith("on")]
    text = "".join("".join(mark.itertext()) for mark in page.findall(".//mark"))
    assert text.startswith("<script>alert(1)</script> & ")


def test_other_answers_stand_below_their_turn() -> None:
    judgments = tuple(
        Judgment("d<1>", "0", name, "breakdown", "1.0", {"breakdown": label, "comment": "<b>"})
        for name, label in zip("abcde", "XXXXO", strict=True)
    )
    page = tree(lapsus.to_html(Entry("d<1>", document("hi"), judgments)))
    lines = [line.text for line in page.findall(".//li")]
    assert lines[0] == "Breakdown: Breakdown (4); Not a breakdown (e)"
    assert lines[1] is not None
    assert lines[1].endswith("<b> (5)")


def test_schemes_and_marks_that_are_not_known() -> None:
    judgments = (
        Judgment("d<1>", "0", "a", "unheard-of", "1", {"q": 3, "none": ()}),
        Judgment(
            "d<1>", None, "b", "unheard-of", "1", {"m": (Span("0", 1, 99, "z"), Span("gone", 0, 1, "z"))}
        ),
    )
    page = tree(lapsus.to_html(Entry("d<1>", document("hi"), judgments)))
    assert [line.text for line in page.findall(".//li")] == ["q: 3 (a)", "none: () (a)"]
    assert not page.findall(".//mark"), "marks outside the text are not drawn"


def test_notebooks_ask_for_it() -> None:
    assert "mark" in (marked("one", Span("0", 0, 3, "addition"))._repr_html_() or "")
    assert "hi" in document("hi")._repr_html_()
    alone = Entry("d", None, (Judgment("d", None, "a", "breakdown", "1", {}),))
    assert alone._repr_html_() is None
    with pytest.raises(UsageError, match="without their text"):
        lapsus.to_html(alone)


def test_long_documents_are_cut() -> None:
    page = lapsus.to_html(document(*["x"] * (SHOWN + 7)))
    assert page.count('class="role"') == SHOWN
    assert "… 7 more" in page
