"""All units and the overview in a browser: search, keys, many at once, charts that lead to units."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from lapsus.model import Entry, Judgment
from tests.web.browser.house import Browsing, Workbench, violations
from tests.web.helpers import chat


def judged(house: Workbench) -> str:
    name = house.campaign(
        documents=[chat("d_0", said="雨の日の電車 {place}"), chat("d_1", said="late train {place}")]
    )
    entries = []
    for document in ("d_0", "d_1"):
        said = tuple(
            Judgment(document, str(turn), who, "breakdown", "1.0", {"breakdown": label})
            for turn in (0, 2)
            for who, label in (("ann", "O"), ("bob", "OX"[turn > 0]), ("cem", "X"))
        )
        entries.append(Entry(document, None, said))
    house.store.campaigns.set_per_unit(name, 3)
    documents = {
        "d_0": chat("d_0", said="雨の日の電車 {place}"),
        "d_1": chat("d_1", said="late train {place}"),
    }
    house.store.imports.add_judgments(name, [Entry(e.id, documents[e.id], e.judgments) for e in entries])
    return name


@pytest.mark.parametrize(("lang", "dark", "width"), [("en", False, 1280), ("ja", True, 360)])
def test_a_unit_is_found_by_its_words_and_many_are_decided(
    browse: Browsing, house: Workbench, lang: str, dark: bool, width: int
) -> None:
    name = judged(house)
    page = browse(house.person("Mori", "manager"), lang=lang, dark=dark, width=width)
    page.goto(f"/c/{name}/units")
    expect(page.locator(".found")).to_have_count(6)
    assert violations(page) == []
    page.keyboard.press("/")
    page.keyboard.type("雨の日")
    page.keyboard.press("Enter")
    expect(page.locator(".found")).to_have_count(3)
    assert "text=" in page.url
    assert "answer=" not in page.url
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.locator("#ticked")).to_contain_text("1")
    page.locator("button[value=decide]").click()
    expect(page.locator("input[name=share]")).to_have_count(5)
    assert violations(page) == []
    page.locator(".ways button.primary").click()
    expect(page.locator(".notice[role=status]")).to_contain_text("1")
    assert len(house.store.decisions.decided_units(name)) == 1
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize(("lang", "dark", "width"), [("en", True, 360), ("ja", False, 1280)])
def test_a_flag_is_answered_and_settled_where_it_is_found(
    browse: Browsing, house: Workbench, lang: str, dark: bool, width: int
) -> None:
    name, ada = judged(house), house.person()
    house.store.flags.add(f"k-{name}", name, 2, ada.id, "Who speaks first?")
    page = browse(house.person("Mori", "manager"), lang=lang, dark=dark, width=width)
    page.goto(f"/c/{name}/units?flag=any")
    # On a phone the unit is in sight at once.
    expect(page.locator("#f-flag")).to_be_visible(visible=width > 360)
    talk = page.locator(".thread")
    talk.locator("summary").click()
    talk.locator("textarea").fill("The system does.")
    assert violations(page) == []
    talk.locator("button[value=settle]").click()
    expect(talk.locator(".reply")).to_contain_text("The system does.")
    expect(talk.locator("button[value=reopen]")).to_be_visible()
    expect(page.locator(".notice[role=status]")).to_contain_text("2")
    flag = house.store.flags.all(name)[0]
    assert page.url.endswith(f"flag=any&sort=number&page=1&told=flag.{flag.id}#u2")
    assert flag.settled is not None
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_bar_leads_to_the_units_behind_it_and_help_is_there(browse: Browsing, house: Workbench) -> None:
    name = judged(house)
    page = browse(house.person("Mori", "manager"))
    page.goto(f"/c/{name}/insight")
    bar = page.locator("#answers .chart-wide a").first
    expect(bar).to_be_visible()
    page.keyboard.press("?")
    expect(page.locator("#page-help")).to_be_visible()
    page.keyboard.press("Escape")
    bar.click()
    expect(page.locator("#f-answer")).to_have_value("O")
    expect(page.locator(".found")).to_have_count(4)


def test_times_are_the_readers_own(browse: Browsing, house: Workbench) -> None:
    name = judged(house)
    page = browse(house.person("Mori", "manager"), timezone_id="Asia/Tokyo")
    page.goto(f"/c/{name}/log")
    shown = page.locator("time").first
    expect(shown).not_to_contain_text("UTC")
    assert page.locator("time[data-local]").count() == 0
