"""Texts as users saw them, in a real browser: marks stand on the raw text, and nothing in a text runs or is fetched."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from lapsus.model import Document, Segment
from tests.web.browser.house import NARROW, WIDE, Browsing, Workbench, scrolls_sideways, violations
from tests.web.browser.judging import begin, said

REPLY = """# Opening hours

The desk is **open daily**, *except* on `2026-01-01`. See [the plan](https://desk.example/plan).

| Day | Hours |
|---|---|
| Monday | 9–17 |
| Sunday | 10–12 |

1. Ring the bell.
2. Wait.

- no dogs
  - no cats

> Please be quiet.

```sh
curl https://desk.example && echo "<b>done</b>"
```
<script>document.title = "taken over"</script><img src=x onerror="document.title='taken over'">
[press me](javascript:alert(1))
"""
TEXT = "The **Lake Orra** covers `11.5` acres."


@pytest.mark.parametrize(("lang", "dark"), [("en", False), ("ja", True)])
def test_markdown_is_seen_and_does_nothing(house: Workbench, browse: Browsing, lang: str, dark: bool) -> None:
    ada = house.person()
    turns = (Segment("0", "user", "When are you open?"), Segment("1", "system", REPLY))
    name = house.campaign(people=[ada], documents=[Document("d0", turns, "en")], texts="markdown")
    page = begin(browse(ada, lang=lang, dark=dark), name)
    said = page.locator(".target .said")
    expect(said.get_by_role("columnheader")).to_have_text(["Day", "Hours"])
    expect(said.get_by_role("listitem")).to_have_count(4)
    expect(said.locator("strong")).to_have_text("**open daily**")
    assert said.inner_text().count("**") == 0
    assert said.evaluate("place => place.textContent") == REPLY
    assert said.get_by_role("link").evaluate_all("links => links.map((link) => link.href)") == [
        "https://desk.example/plan"
    ]
    assert "taken over" not in page.title()
    expect(page.locator("#place")).to_have_text("1 of your 1" if lang == "en" else "担当1件中1件目")
    for width in (WIDE, NARROW):
        page.set_viewport_size({"width": width, "height": 740})
        assert violations(page) == []
        assert not scrolls_sideways(page)


def test_marks_stand_on_the_raw_text(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    segments = (Segment.triple("t1", "Lake_Orra", "area", "11.5"), Segment("text", "text", TEXT))
    name = house.campaign("semantic-errors", [ada], [Document("p0", segments, "en")], texts="markdown")
    page = begin(browse(ada), name)
    words = ["The", "Lake", "Orra", "covers", "11.5", "acres."]
    expect(page.locator("p.tokens .token .word")).to_have_text(words)
    assert page.locator("p.tokens").evaluate("place => place.textContent") == TEXT
    page.locator("p.tokens").focus()
    page.keyboard.press("Home")
    for _ in words:
        page.keyboard.press("a")
        page.keyboard.press("ArrowRight")
    assert violations(page) == []
    page.keyboard.press("Enter")
    page.wait_for_url("**/judge")
    marks = said(house, name, ada)[1]["errors"]
    assert [TEXT[mark["start"] : mark["end"]] for mark in marks] == TEXT.split()
