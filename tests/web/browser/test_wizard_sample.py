"""The planner in the wizard, with a real browser: units are drawn, and the campaign hands out those."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from lapsus.formats import convert
from tests.web.browser.house import NARROW, Browsing, Workbench, scrolls_sideways, violations
from tests.web.test_wizard_sample import talks


def test_units_are_drawn_in_the_last_step(house: Workbench, browse: Browsing, tmp_path: Path) -> None:
    convert((talks(number, 0.4) for number in range(60)), tmp_path / "chats.jsonl")
    mori = house.person("Mori", "manager")
    page = browse(mori)
    page.goto("/new")
    page.fill("#name", "drawn")
    page.set_input_files("#file", tmp_path / "chats.jsonl")
    page.locator("button[value=next]").click()
    page.check("input[value=breakdown]")
    page.locator("button[value=next]").click()
    expect(page.locator("#per_unit")).to_be_visible()
    review = page.url.rsplit("/", 1)[0] + "/review"
    page.goto(review)
    expect(page.locator(".planner")).to_contain_text("All 180 units are judged.")
    page.get_by_label("Shares of all units to ± … points").fill("10")
    page.get_by_role("button", name="Draw these units").click()
    expect(page.locator(".planner strong")).to_have_text(
        "65 of 180 units are drawn, for shares known to ± 10 percentage points."
    )
    assert violations(page) == []
    small = browse(mori, lang="ja", dark=True, width=NARROW)
    small.goto(review)
    expect(small.locator(".planner")).to_contain_text("か所を選びます")
    assert violations(small) == []
    assert not scrolls_sideways(small)
    page.locator("button[value=make]").click()
    expect(page).to_have_url(f"{house.address}/c/drawn/manage")
    assert house.store.progress.of_campaign("drawn").units == 65
