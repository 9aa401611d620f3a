"""All units of one's own on the campaign's page, each with its state, a click away; from one to the next by arrows."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from lapsus.store import SaveRequest
from tests.web.browser.house import NARROW, WIDE, Browsing, Workbench, scrolls_sideways, violations
from tests.web.browser.judging import ready, shows
from tests.web.helpers import chat, new_key

LOOKS = [("en", False, WIDE, "draft"), ("ja", True, NARROW, "下書き")]


@pytest.mark.parametrize(("lang", "dark", "width", "draft"), LOOKS)
def test_units_are_listed_with_their_states_and_a_click_leads_to_each(
    house: Workbench, browse: Browsing, lang: str, dark: bool, width: int, draft: str
) -> None:
    ada = house.person(language=lang)
    name = house.campaign(people=[ada], documents=[chat(f"d{n}", 1) for n in range(4)], batch=4)
    held = getattr(house.store.assignment.next_units(ada.id, name), "units", ())
    assert [unit.number for unit in held] == [1, 2, 3, 4]
    for unit, is_submitted in ((1, True), (2, False)):
        save = SaveRequest(new_key(), name, unit, ada.id, {"breakdown": "T"}, submitted=is_submitted)
        house.store.saves.save(save)
    page = browse(ada, lang=lang, dark=dark, width=width)
    page.goto(f"/c/{name}")
    waiting = page.locator("details.waiting-units")
    expect(waiting.locator("li").first).to_be_hidden()
    waiting.locator("summary").click()
    links = waiting.locator("li a")
    assert [link.get_attribute("href") for link in links.all()] == [f"/c/{name}/u/{n}" for n in (2, 3, 4)]
    expect(waiting.locator("li").first.locator(".mark")).to_have_text(draft)
    expect(waiting.locator(".mark")).to_have_count(1)
    assert violations(page) == []
    assert not scrolls_sideways(page)
    judged = page.locator(f'.judgments a[href="/c/{name}/u/1"]')
    expect(judged).to_have_text("turn 0 of d0")
    judged.click()
    shows(ready(page), 1)
    page.go_back()
    if waiting.get_attribute("open") is None:
        waiting.locator("summary").click()
    links.nth(1).click()
    shows(ready(page), 3)


def test_arrows_lead_through_ones_own_units_judged_or_not(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    name = house.campaign(people=[ada], documents=[chat(f"d{n}", 1) for n in range(3)], batch=3)
    house.store.assignment.next_units(ada.id, name)
    house.store.saves.save(SaveRequest(new_key(), name, 1, ada.id, {"breakdown": "T"}))
    page = browse(ada)
    page.goto(f"/c/{name}/u/2")
    shows(ready(page), 2)
    for key, unit in (
        ("ArrowRight", 3),
        ("ArrowRight", 3),
        ("ArrowLeft", 2),
        ("ArrowLeft", 1),
        ("ArrowLeft", 1),
    ):
        page.keyboard.press(key)
        shows(page, unit)
    expect(page.locator('#questions [data-label="T"]')).to_have_attribute("aria-checked", "true")
