"""Texts as users saw them: all of the raw text stays in its place, and nothing in it can do anything."""

from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lapsus.web.markdown import as_html, layout
from tests.web.helpers import Bench, Browser

LONG = 100_000


def shown(text: str) -> str:
    """What can be seen: the page's text without what is hidden."""
    points, hidden = list(text), [one for one in layout(text) if one[2] == "hidden"]
    for start, end, _, _ in hidden:
        points[start:end] = [""] * (end - start)
    return "".join(points)


def names(text: str) -> list[tuple[str, str]]:
    """What stands in a text, with its words."""
    return [(name, text[start:end]) for start, end, name, _ in layout(text) if name not in ("hidden", "p")]


@pytest.mark.parametrize(
    ("text", "found", "seen"),
    [
        ("plain", [], "plain"),
        ("**bold** and *not*", [("strong", "**bold**"), ("em", "*not*")], "bold and not"),
        ("***both***", [("strong", "***both***"), ("em", "***both***")], "both"),
        ("日本語の**強調**です。", [("strong", "**強調**")], "日本語の強調です。"),
        ("2 * 3 * 4, snake_case_name", [], "2 * 3 * 4, snake_case_name"),
        ("`a*b*` and ``x`y``", [("code", "`a*b*`"), ("code", "``x`y``")], "a*b* and x`y"),
        ("# Head", [("heading", "# Head")], "Head"),
        ("a \\*b\\*", [], "a *b*"),
        (
            "- one\n- two\n  - in it",
            [
                ("list", "- one\n- two\n  - in it"),
                ("item", "- one"),
                ("item", "- two\n  - in it"),
                ("list", "- in it"),
                ("item", "- in it"),
            ],
            "onetwoin it",
        ),
        ("1. one\n2. two", [("list", "1. one\n2. two"), ("number", "1. one"), ("number", "2. two")], "1. one2. two"),
        ("> said\n> so", [("quote", "> said\n> so")], "said\nso"),
        ("```py\nx = 1\n```\nend", [("block", "```py\nx = 1\n```")], "x = 1end"),
        ("| a | b |\n|---|:-:|\n| 1 | 2 |", [
            ("table", "| a | b |\n|---|:-:|\n| 1 | 2 |"),
            ("row", "| a | b |"), ("head", "a"), ("head", "b"),
            ("row", "| 1 | 2 |"), ("cell", "1"), ("cell", "2"),
        ], "ab12"),
        ("[x](https://a.example/b)", [("link", "[x](https://a.example/b)")], "x"),
        ("see https://a.example/b.", [("link", "https://a.example/b")], "see https://a.example/b."),
        ("[x](javascript:alert(1))", [], "[x](javascript:alert(1))"),
        ("![a picture](https://a.example/p.png)", [("link", "![a picture](https://a.example/p.png)")], "a picture"),
    ],
)  # fmt: skip
def test_what_stands_in_a_text(text: str, found: list[tuple[str, str]], seen: str) -> None:
    assert names(text) == found
    assert shown(text) == seen


def is_nested(text: str) -> bool:
    """Whether ranges stand in order, each inside the one around it, and lead nowhere but to the web."""
    ends: list[int] = []
    last = 0
    for start, end, name, more in layout(text):
        while ends and ends[-1] <= start:
            ends.pop()
        if not (last <= start < end <= (ends[-1] if ends else len(text))):
            return False
        if name == "link" and not re.match(r"(https?://|mailto:)", more, re.IGNORECASE):
            return False
        ends.append(end)
        last = start
    return True


def holds(text: str) -> None:
    page = str(as_html(text, layout(text)))
    assert is_nested(text)
    assert unescape(re.sub(r"<[^>]*>", "", page)) == text
    assert set(re.findall(r"<([a-z]+)", page)) <= {"span", "a", "em", "strong", "del", "code"}
    assert not re.search(r'<[^>]*\son\w+=|href="(?!https?:|mailto:)', page, re.IGNORECASE)


SIGNS = st.text(alphabet="*_~`[]()!>#-+|\\:. \n\t1ahttps/<&\"'😀あ", max_size=80)
LINES = st.lists(
    st.sampled_from(["- a", "  - b", "> q", "```", "| a |", "|--|", "", "1. x", "    y", "# h", "---", "*e", "f*"]),
    max_size=20,
)  # fmt: skip


@given(SIGNS)
def test_every_letter_stays_in_its_place(text: str) -> None:
    holds(text)


@given(LINES)
def test_every_line_stays_in_its_place(lines: list[str]) -> None:
    holds("\n".join(lines))


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        '[x](https://a.example/"onmouseover="alert(1))',
        '[a](https://x" onclick="alert`1`)',
        "[x](JaVaScRiPt:alert(1)) [y](data:text/html,x) [z](vbscript:x) [r](//evil.example) [s](/c/own/manage)",
        "[x](https://a.example\u0000/) \u202ehttps://a.example/<b>",
        "https://a.example/<script>",
        "```\n</span><script>\n```",
        "| <b> | </td> |\n|---|---|\n| <script> | x |",
    ],
)
def test_hostile_markdown_does_nothing(text: str) -> None:
    holds(text)


SIGNS_THAT_OPEN = r"* _ ![ [ ] ]( ` ~~ > - | \ a* *a_ [* https:// # |- ``` 1. [a](https://b)"


@pytest.mark.parametrize("sign", [*SIGNS_THAT_OPEN.split(), "- ", "> ", "`` `", "\n", " ", "```\n"])
def test_hostile_lengths_are_read_within_their_length(sign: str) -> None:
    text = (sign * LONG)[:LONG]
    found = layout(text)
    assert len(found) <= 4 * LONG
    for nested in ("\n".join(">" * n for n in range(60)), "\n".join("  " * n + "- x" for n in range(60))):
        assert is_nested(nested)


def test_a_text_without_end_is_shown_as_it_is() -> None:
    """A layout has as many ranges as the text has signs: there is none of a longer text, and few are remembered."""
    text = "` " * LONG
    assert (layout(text), as_html(text, layout(text))) == ((), text)
    assert layout("*a* " * 10_000) is not layout("*a* " * 10_000)
    assert layout("*a* ") is layout("*a* ")


def test_a_campaign_says_how_its_texts_are_shown(bench: Bench) -> None:
    for texts in ("plain", "markdown"):
        name = bench.campaign(name=f"texts-{texts}", texts=texts)
        ada: Browser = bench.person(f"ada-{texts}")
        unit = ada.get(f"/c/{name}/u/{ada.next(name)['unit']}.json").json()
        assert ("layout" in unit["target"]) == (texts == "markdown")
