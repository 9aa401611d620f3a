"""What stands by a judge: suggestions, practice, messages; and how those get in and out who come from a platform."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from lapsus.model import Document, Entry, Judgment
from lapsus.store import KnownUnit, KnownUnits, Plan
from tests.web.browser.house import NARROW, WIDE, Browsing, Someone, Workbench, scrolls_sideways, violations
from tests.web.browser.judging import SCALES, begin, documents, ready, said, shows
from tests.web.helpers import chat

LOOKS = [("en", False, WIDE), ("ja", True, NARROW)]


def is_sound(page: Page) -> None:
    assert violations(page) == []
    assert not scrolls_sideways(page)


def suggesting(
    house: Workbench, ada: Someone, documents: Sequence[Document], answers: dict[str, Any], scheme: str
) -> str:
    """A campaign in which a program has answered the first turn of each document."""
    name = house.campaign(scheme, [ada], documents, suggest="rules")
    program = house.store.programs.add("rules")
    entries = [Entry(one.id, one, (Judgment(one.id, "0", "x", scheme, "1.0", answers),)) for one in documents]
    assert sum(house.store.programs.add_judgments(name, program, entries)) == len(documents)
    return name


def practising(house: Workbench, ada: Someone) -> str:
    """Two units of practice, then one that counts."""
    told = {"en": "Nobody can go on from here.", "ja": "ここからは続けられません。"}
    known = tuple(KnownUnit(name, {"breakdown": "X"}, "0", told) for name in ("d0", "d1"))
    name = f"practice-{ada.id}"
    plan = Plan(name, "breakdown", order="given", who="named", people=(ada.name,), training=KnownUnits(known))
    house.store.campaigns.set_up(plan, [chat(f"d{n}", 1) for n in range(3)])
    return name


@pytest.mark.parametrize(("lang", "dark", "width"), LOOKS)
def test_a_suggestion_is_marked_and_one_key_takes_it_over(
    house: Workbench, browse: Browsing, lang: str, dark: bool, width: int
) -> None:
    ada = house.person(language=lang)
    name = suggesting(house, ada, [chat(f"d{n}", 1) for n in range(3)], {"breakdown": "T"}, "breakdown")
    page = begin(browse(ada, lang=lang, dark=dark, width=width), name)
    expect(page.locator(".suggested")).to_contain_text("rules")
    expect(page.locator('[role=radio][aria-checked="true"]')).to_have_count(0)
    is_sound(page)
    with page.expect_request("**/judgments") as sent:
        page.keyboard.press(".")
    assert '"suggested":true' in (sent.value.post_data or "")
    shows(page, 2)
    page.click(".suggested .take")
    shows(page, 3)
    page.keyboard.press("o")
    page.wait_for_url(f"**/c/{name}/judge")
    answered = said(house, name, ada)
    assert [answered[unit]["breakdown"] for unit in (1, 2, 3)] == ["T", "T", "O"]


def test_where_one_touch_is_not_all_a_suggestion_can_be_changed_first(
    house: Workbench, browse: Browsing
) -> None:
    ada = house.person()
    name = suggesting(house, ada, [chat("d0", 1)], {"types": ("ignore-proposal",)}, "error-types")
    page = begin(browse(ada), name)
    page.keyboard.press(".")
    chosen = page.locator('[data-label="ignore-proposal"]')
    expect(chosen).to_have_attribute("aria-checked", "true")
    page.keyboard.press("u")
    expect(chosen).to_have_attribute("aria-checked", "false")


def test_without_a_suggestion_none_is_claimed(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    page = begin(browse(ada), house.campaign(people=[ada]))
    with page.expect_request("**/judgments") as sent:
        page.keyboard.press("o")
    assert '"suggested":false' in (sent.value.post_data or "")
    assert page.locator(".suggested").count() == 0


@pytest.mark.parametrize(("lang", "dark", "width"), LOOKS)
def test_practice_tells_how_it_went_before_it_goes_on(
    house: Workbench, browse: Browsing, lang: str, dark: bool, width: int
) -> None:
    ada = house.person(language=lang)
    page = begin(browse(ada, lang=lang, dark=dark, width=width), practising(house, ada))
    expect(page.locator("[data-notice=practice]")).to_be_visible()
    assert page.locator(".feedback").count() == 0
    page.keyboard.press("o")
    feedback = page.locator(".feedback.other")
    words = "Nobody can go on from here." if lang == "en" else "ここからは続けられません。"
    expect(feedback).to_contain_text(words)
    expect(feedback.locator("li")).to_have_count(1)
    shows(page, 1)
    is_sound(page)
    page.keyboard.press("Enter")
    shows(page, 2)
    page.keyboard.press("x")
    expect(page.locator(".feedback.fine")).to_be_visible()
    shows(page, 2)
    page.click(".foot .primary")
    shows(page, 3)
    expect(page.locator("[data-notice=practice]")).to_have_count(0)
    assert page.locator(".feedback").count() == 0


def test_whoever_is_stopped_is_told_so_and_keeps_what_was_done(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    name = house.campaign(people=[ada])
    page = begin(browse(ada, watched=False), name)
    page.keyboard.press("o")
    shows(page, 2)
    house.store.members.stop(name, ada.id)
    page.keyboard.press("o")
    page.wait_for_url(f"**/c/{name}/judge")
    expect(page.locator(".state-stopped")).to_be_visible()
    # The answer that came too late is set aside: told, kept, and sent no more.
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    page.goto("/")
    expect(page.locator(".aside")).to_contain_text("It is kept in this browser until you give it up.")
    assert page.locator(".top-end [role=status]").count() == 0
    is_sound(page)
    page.reload()
    page.locator(".aside button").click()
    expect(page.locator(".aside")).to_have_count(0)
    assert sent == []
    assert list(said(house, name, ada)) == [1]


def test_messages_are_on_the_judging_page_until_read(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    name = house.campaign(people=[ada])
    house.store.messages.send(name, "Please\nread <b>this</b>.", person=ada.id)
    page = browse(ada)
    expect(page.locator(".message")).to_have_count(1)
    is_sound(page)
    page.clock.install()
    begin(page, name)
    expect(page.locator("#notices .message")).to_contain_text("read <b>this</b>.")
    is_sound(page)
    page.click(".message button")
    ready(page)
    expect(page.locator(".message")).to_have_count(0)
    house.store.messages.send(name, "One more.", person=ada.id)
    page.clock.fast_forward(40_000)
    page.keyboard.press("o")
    notice = page.locator("[data-notice^=message]")
    expect(notice).to_contain_text("One more.")
    notice.locator("button").click()
    expect(notice).to_have_count(0)
    assert house.store.messages.unread(ada.id) == []


def test_from_a_platform_one_button_is_all_there_is(house: Workbench, browse: Browsing) -> None:
    name = house.campaign(documents=[chat("d0", 1)], who="open", people=())
    token = house.store.access.invite(campaign=name, uses=None)
    page = browse()
    page.goto(f"/join/{token}?PROLIFIC_PID=5f0b&STUDY_ID=s1")
    page.click("a.language")
    expect(page.locator("html")).to_have_attribute("lang", "ja")
    assert page.locator("main input:not([type=hidden])").count() == 0
    is_sound(page)
    page.click("main button")
    page.wait_for_url(f"**/c/{name}/u/1")
    (member,) = house.store.members.all(name)
    assert (member.name, member.origin) == ("prolific-5f0b", {"PROLIFIC_PID": "5f0b", "STUDY_ID": "s1"})


def test_a_page_opens_at_its_top_with_the_first_open_question(house: Workbench, browse: Browsing) -> None:
    """What a key changes is what one sees: after a unit is submitted at the foot, the next one begins at its head."""
    ada = house.person()
    name = house.campaign("response-quality", [ada], documents("response-quality", "en"))
    page = begin(browse(ada, width=1280, height=500), name)
    current = page.locator(".question.current")
    for unit in (1, 2):
        shows(page, unit)
        expect(current).to_have_attribute("data-question", SCALES[0])
        assert page.evaluate("scrollY") == 0
        if unit == 2:
            break
        for scale in SCALES:
            expect(current).to_have_attribute("data-question", scale)
            page.keyboard.press("3")
        for key in "ypn":
            page.keyboard.press(key)
        page.keyboard.press("Enter")
    # A digit on the new page answers the question that is outlined, and nothing else.
    page.keyboard.press("5")
    expect(current).to_have_attribute("data-question", SCALES[1])
    assert page.locator('.level[aria-checked="true"]').count() == 1


def test_the_way_back_from_one_touch_is_offered(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    name = house.campaign("breakdown", [ada], documents("breakdown", "en"))
    page = begin(browse(ada), name)
    page.click('.choice[data-label="O"]')
    shows(page, 2)
    toast = page.locator('[data-notice="undo"]')
    expect(toast).to_contain_text("Not a breakdown")
    toast.get_by_role("button").click()
    shows(page, 1)
    expect(toast).to_contain_text("a draft again")
