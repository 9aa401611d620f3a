from __future__ import annotations

import math

import msgspec
import pytest

from lapsus.errors import InvalidError
from lapsus.model import Entry, Judgment, Span, anonymous_annotator, latest


def judgment(**changes: object) -> Judgment:
    base = {
        "document": "d",
        "segment": "1",
        "annotator": "a",
        "scheme": "breakdown",
        "version": "1.0",
        "answers": {"breakdown": "O"},
    }
    return Judgment(**(base | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (2, 2), (3, 2)])
def test_a_span_begins_before_it_ends(start: int, end: int) -> None:
    with pytest.raises(InvalidError, match="begin before it ends"):
        Span("s", start, end, "addition")


@pytest.mark.parametrize(
    "changes",
    [{"document": ""}, {"annotator": ""}, {"scheme": ""}, {"revision": 0}, {"answers": {"x": math.nan}}],
)
def test_bad_judgments_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(InvalidError):
        judgment(**changes)


@pytest.mark.parametrize(
    ("metadata", "is_one"),
    [
        ({"program": True}, True),
        ({"setting": {"model": "tiny"}}, True),
        ({"scores": {"marks": [0.5]}}, True),
        ({"setting": "at home", "scores": 3}, False),
        ({"program": "none"}, False),
    ],
)
def test_a_program_is_told_by_what_only_programs_write(metadata: dict[str, object], is_one: bool) -> None:
    """A column of somebody's table may be called `setting`, too."""
    assert judgment(metadata=metadata).by_program is is_one


def test_answers_keep_their_type_through_json() -> None:
    answers = {
        "label": "O",
        "level": 3,
        "share": 3.0,
        "set": ("a", "b"),
        "none": (),
        "spans": (Span("s", 0, 2, "x", "t"),),
    }
    back = msgspec.json.decode(msgspec.json.encode(judgment(answers=answers)), type=Judgment)
    assert back == judgment(answers=answers)
    assert {key: type(value) for key, value in back.answers.items()} == {
        key: type(value) for key, value in answers.items()
    }


def test_the_newest_revision_counts() -> None:
    old, new = judgment(), judgment(revision=2, answers={"breakdown": "X"})
    other = judgment(annotator="b")
    assert latest([old, other, new]) == [new, other]
    assert latest([new, old]) == [new]


def test_two_different_answers_as_the_same_revision_are_an_error() -> None:
    assert latest([judgment(), judgment()]) == [judgment()]
    with pytest.raises(InvalidError, match="twice, differently"):
        latest([judgment(), judgment(answers={"breakdown": "X"})])


def test_unnamed_annotators_are_known_as_such() -> None:
    assert judgment(annotator=anonymous_annotator(3)).is_anonymous
    assert not judgment().is_anonymous


def test_an_entry_is_about_one_document() -> None:
    with pytest.raises(InvalidError, match="stands under"):
        Entry("other", None, (judgment(),))
