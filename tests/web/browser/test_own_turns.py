"""The page on which a log's owner judges some turns: from a file, in both languages, with nothing lost on the way."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import lapsus
from lapsus.formats import read
from lapsus.samples import sample_path
from tests.patience import until
from tests.web.browser.house import NARROW, PATIENCE, WIDE, scrolls_sideways, violations


def seen_in_another_tab(page: Page) -> int:
    """How many answers a new tab with the same page shows."""
    tab = page.context.new_page()
    tab.goto(page.url)
    count = tab.locator("input:checked").count()
    tab.close()
    return count


@pytest.mark.parametrize(("language", "width", "dark"), [("en", WIDE, False), ("ja", NARROW, True)])
def test_turns_are_judged_and_saved(
    chrome: Browser, tmp_path: Path, language: str, width: int, dark: bool
) -> None:
    found = lapsus.check(sample_path("helpdesk-en"))
    (tmp_path / "turns.html").write_text(found.to_judge(language), encoding="utf-8")
    context = chrome.new_context(
        viewport={"width": width, "height": 800}, color_scheme="dark" if dark else "light"
    )
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto((tmp_path / "turns.html").as_uri())
    expect(page.locator("[data-save]")).to_be_disabled()
    for turn, label in enumerate("OTX"):
        page.locator(f"input[name=turn-{turn}][value={label}]").check()
    expect(page.locator("[data-count]")).to_contain_text("3")
    assert violations(page) == []
    assert not scrolls_sideways(page)
    # What a page keeps reaches the next one by way of the browser: another tab has it, and then so has this one.
    until(lambda: seen_in_another_tab(page) == 3)
    page.reload()
    expect(page.locator("input:checked")).to_have_count(3)
    with page.expect_download() as begun:
        page.locator("[data-save]").click()
    begun.value.save_as(tmp_path / begun.value.suggested_filename)
    expect(page.locator("[data-after]")).to_be_visible()
    context.close()
    said = [one.answers["breakdown"] for entry in read(tmp_path / "judged.jsonl") for one in entry.judgments]
    assert said == ["O", "T", "X"]
    assert complaints == []
