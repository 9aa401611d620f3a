"""A breakdown campaign chooses the units of an error-types campaign, as its votes come in."""

from __future__ import annotations

from playwright.sync_api import expect

from lapsus.store import Chain
from tests.web.browser.house import Browsing, Workbench
from tests.web.browser.judging import begin, ready, shows
from tests.web.helpers import chat


def test_what_was_judged_broken_is_offered_for_error_types(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    first = house.campaign("breakdown", [ada], [chat("d0", 3)])
    second = house.campaign("error-types", [ada], chain=Chain(first))
    page = browse(ada)
    page.goto(f"/c/{second}/judge")
    expect(page).to_have_url(f"{house.address}/c/{second}/judge")  # nothing is chosen yet

    begin(page, first)
    for unit, key in enumerate("131", 1):
        ready(page)
        shows(page, unit)
        page.keyboard.press(key)
    page.wait_for_url(f"**/c/{first}/judge")

    begin(page, second)
    shows(page, 2)  # the second turn: the one that was judged a breakdown
    page.keyboard.press("5")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/c/{second}/judge")  # and no other
