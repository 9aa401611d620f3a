"""A file with odd columns in a real browser: mapped by hand, shown at once, usable by everybody."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from tests.web.browser.house import NARROW, Browsing, Workbench, scrolls_sideways, violations
from tests.web.test_columns import HEADER, TURNS


def test_columns_are_mapped_and_what_comes_of_it_is_shown_at_once(
    house: Workbench, browse: Browsing, tmp_path: Path
) -> None:
    file = tmp_path / "odd.csv"
    file.write_text(HEADER + TURNS)
    page = browse(house.person("Mori", "manager"))
    page.goto(f"{house.address}/new")
    page.fill("#name", "odd-columns")
    page.set_input_files("#file", file)
    page.click("button[value=next]")
    expect(page.locator(".column-map tbody tr")).to_have_count(5)
    for head in page.locator(".column-map th").all():
        assert head.evaluate("head => head.scrollWidth <= head.clientWidth"), (
            "what it holds is in its own column"
        )
    page.select_option("select[name=speaker-1]", "system")
    expect(page.locator("#understood .turns li")).to_have_count(3)
    page.select_option("select[name=column-3]", "model")
    expect(page.locator("#understood")).to_contain_text("model=Version")
    page.set_viewport_size({"width": NARROW, "height": 740})
    assert violations(page) == []
    assert not scrolls_sideways(page)
    page.click("button[value=next]")
    page.wait_for_url("**/guideline")
