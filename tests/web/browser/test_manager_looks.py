"""What a manager looks for first: which system is worse, who needs a look, who is behind; each a click away."""

from __future__ import annotations

import re

import msgspec
import pytest
from playwright.sync_api import expect

from lapsus.store import Plan, SaveRequest
from lapsus.store.plan import Pilot
from tests.web.browser.house import NARROW, WIDE, Browsing, Someone, Workbench, scrolls_sideways, violations
from tests.web.helpers import chat, new_key

LOOKS = pytest.mark.parametrize(("lang", "dark", "width"), [("en", False, WIDE), ("ja", True, NARROW)])
MANY = 130


def judge(house: Workbench, person: Someone, name: str, labels: str, seconds: float = 5.0) -> None:
    """Judge units as they are handed out, a letter each."""
    said = iter(labels)
    while units := getattr(house.store.assignment.next_units(person.id, name), "units", ()):
        for unit in units:
            if (label := next(said, None)) is None:
                return
            answers = {"breakdown": label}
            save = SaveRequest(new_key(), name, unit.number, person.id, answers, seconds=seconds)
            house.store.saves.save(save)


@LOOKS
def test_the_worse_system_comes_first_and_its_examples_are_a_click_away(
    house: Workbench, browse: Browsing, lang: str, dark: bool, width: int
) -> None:
    ada = house.person()
    chats = [msgspec.structs.replace(chat(f"d{n}"), metadata={"system": "ab"[n % 2]}) for n in range(12)]
    name = house.campaign(people=[ada], documents=chats, per_unit=1)
    judge(house, ada, name, "OOOOXT" * 6)
    page = browse(house.person("Mori", "manager"), lang=lang, dark=dark, width=width)
    page.goto(f"/c/{name}/insight")
    result = page.locator("#results")
    rows = result.locator("table").first.locator("tbody tr")
    expect(rows.first.locator("th")).to_have_text("b")
    expect(rows.first).to_contain_text("67%")
    assert page.locator("main section[id]").first.get_attribute("id") == "results"
    assert violations(page) == []
    assert not scrolls_sideways(page)
    rows.first.locator("a").click()
    page.wait_for_url(re.compile("system=b&answer=X"))
    expect(page.locator(".found")).to_have_count(6)


@LOOKS
def test_who_is_too_fast_is_at_the_top_and_their_units_a_click_away(
    house: Workbench, browse: Browsing, lang: str, dark: bool, width: int
) -> None:
    people = [house.person(name) for name in ("Ada", "Bo", "Cy")]
    name = house.campaign(people=people, documents=[chat(f"d{n}") for n in range(4)], per_unit=3)
    for person, labels, seconds in zip(people, ("OTX", "XOT", "TXO"), (5.0, 4.0, 0.5), strict=True):
        judge(house, person, name, labels * 4, seconds)
    page = browse(house.person("Mori", "manager"), lang=lang, dark=dark, width=width)
    page.goto(f"/c/{name}/insight")
    strip = page.locator("#attention")
    expect(strip.locator("a")).to_have_count(1)
    expect(strip).to_contain_text("0.5 s")
    assert violations(page) == []
    strip.locator("a").click()
    page.wait_for_url(re.compile(f"person={people[2].id}"))
    expect(page.locator(".found")).to_have_count(12)


def test_among_very_many_annotators_those_behind_come_first(house: Workbench, browse: Browsing) -> None:
    people = [house.person(f"P{n:03}") for n in range(MANY)]
    name = house.campaign(people=people, documents=[chat(f"d{n}", 1) for n in range(MANY)], per_person=1)
    for place, person in enumerate(people):
        judge(house, person, name, "" if place in (70, 90) else "O")
    page = browse(house.person("Mori", "manager"))
    page.goto(f"/c/{name}/manage")
    rows = page.locator(".as-cards tbody tr")
    expect(rows).to_have_count(MANY)
    names = [name.split()[0] for name in rows.locator("th").all_inner_texts()]
    assert set(names[:2]) == {"P070", "P090"}
    page.locator(".sorts").first.click()
    assert rows.first.locator("th").inner_text().startswith("P000")
    page.get_by_role("searchbox").first.fill("p090")
    expect(rows.filter(visible=True)).to_have_count(1)


def test_a_draft_is_piloted_then_opened_by_buttons_and_says_how_much_there_is(
    house: Workbench, browse: Browsing
) -> None:
    ada = house.person()
    chats = [chat(f"d{n}", 1) for n in range(5)]
    plan = Plan(
        name="drafted", scheme="breakdown", who="named", people=(ada.name,), pilot=Pilot(2), per_unit=1
    )
    house.store.campaigns.set_up(plan, chats, draft=True)
    page, mori = browse(ada), browse(house.person("Mori", "manager"))
    mori.goto("/c/drafted/manage")
    now = mori.locator(".stages [aria-current]")
    expect(now).to_have_text("draft")
    # The plan tells of all units, whatever of them is open.
    expect(mori.locator(".summary").first).to_contain_text("5 units")
    page.goto("/c/drafted/judge")
    expect(page.locator("#questions button")).to_have_count(0)
    mori.get_by_role("button", name="Open the pilot").click()
    expect(now).to_have_text("pilot")
    page.goto("/c/drafted")
    expect(page.locator("main")).to_contain_text("0 of 2 judged")
    mori.get_by_role("button", name="Open the rest").click()
    expect(now).to_have_text("open")
    page.reload()
    expect(page.locator("main")).to_contain_text("0 of 5 judged")
