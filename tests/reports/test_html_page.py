"""Pages that stand alone, and text of strangers on them."""

from __future__ import annotations

import pytest

from lapsus.reports.html_page import LONGEST, plain


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain words, 言葉 and 👩‍👩‍👧", "plain words, 言葉 and 👩‍👩‍👧"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("\x1b[31mred\x07", "\ufffd[31mred\ufffd"),
        ("to the \u202eleft\u2066", "to the \ufffdleft\ufffd"),
        ("half \ud83d", "half \ufffd"),
        ("\x00\x85", "\ufffd\ufffd"),
    ],
)
def test_signs_that_do_something_are_shown_as_signs(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_long_texts_are_cut() -> None:
    assert plain("x" * LONGEST) == "x" * LONGEST
    assert plain("x" * (LONGEST + 1)) == "x" * LONGEST + "…"
    assert plain("abcdef", 3) == "abc…"
