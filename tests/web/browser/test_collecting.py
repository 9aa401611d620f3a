"""People who talk to systems and to each other, in real browsers."""

from __future__ import annotations

from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from lapsus.collect.systems import Bot, NoReplyError
from lapsus.store import Plan, talk_beginning
from lapsus.store.collect_plan import Collect, System
from lapsus.web.pages.talk import page as talk_page
from tests.web.browser.house import NARROW, Browsing, Someone, Workbench, violations

_numbers = count(1)


def collecting(house: Workbench, **more: Any) -> str:
    more.setdefault("systems", ("bot",))
    name = f"talk-{next(_numbers)}"
    house.store.campaigns.set_up(Plan(name=name, scheme="breakdown", per_person=1, collect=Collect(**more)))
    return name


def opened(browse: Browsing, who: Someone, campaign: str, **more: Any) -> Page:
    page = browse(who, **more)
    page.goto(f"/c/{campaign}/talk")
    page.wait_for_selector("html[data-ready]")
    return page


def say(page: Page, text: str) -> None:
    expect(
        page.get_by_role("button", name="Send").or_(page.get_by_role("button", name="送信"))
    ).to_be_enabled()
    page.fill("#text", text)
    page.click("#say button.primary")


def has_turns(page: Page, many: int) -> None:
    expect(page.locator(".bubble:not(.pending)")).to_have_count(many)


def test_a_whole_talk_with_the_bot_over_a_reload_and_with_own_votes(
    house: Workbench, browse: Browsing
) -> None:
    name, ada = collecting(house, ask=True, topics=({"en": "You plan a trip."},)), house.person()
    page = opened(browse, ada, name)
    expect(page.locator(".topic")).to_contain_text("You plan a trip.")
    has_turns(page, 1)
    page.locator('.bubble[data-position="0"] [data-label="T"]').click()
    expect(page.locator('.bubble[data-position="0"] .own')).to_contain_text("kept")
    for place in range(10):
        say(page, f"I like trains {place}")
        has_turns(page, min(3 + 2 * place, 21))
        if place == 4:
            page.fill("#text", "half a sen")
            page.reload()
            page.wait_for_selector("html[data-ready]")
            has_turns(page, 11)
            expect(page.locator("#text")).to_have_value("half a sen")
    expect(page.locator("#done")).to_be_visible()
    talk = house.store.talks.last(name, ada.id)
    assert talk is not None
    assert (talk.state, len(talk.turns)) == ("done", 21)
    assert talk.answers["0"] == {"breakdown": "T"}


def test_two_people_and_one_bot(house: Workbench, browse: Browsing) -> None:
    name = collecting(house)
    liked = {house.person(): "trains", house.person("Ben"): "boats"}
    pages = {who: opened(browse, who, name) for who in liked}
    for place in range(10):
        for who, page in pages.items():
            say(page, f"I like {liked[who]} {place}")
        for page in pages.values():
            has_turns(page, 3 + 2 * place)
    for who, page in pages.items():
        expect(page.locator("#done")).to_be_visible()
        talk = house.store.talks.last(name, who.id)
        assert talk is not None
        assert [turn.side for turn in talk.turns] == ["system", *["user", "system"] * 10]
        said = [turn.text for turn in talk.turns if turn.side == "user"]
        assert said == [f"I like {liked[who]} {place}" for place in range(10)]


def test_two_people_one_on_a_phone_in_japanese(house: Workbench, browse: Browsing) -> None:
    name = collecting(house, systems=("person",), exchanges=2, language="ja")
    ada, mio = house.person(), house.person("Mio", language="ja")
    first = opened(browse, ada, name)
    expect(first.locator("#status")).to_contain_text("Waiting for somebody")
    second = opened(browse, mio, name, lang="ja", width=NARROW, height=640, has_touch=True)
    for page, text in (
        (second, "こんにちは。"),
        (first, "どうも"),
        (second, "お元気ですか"),
        (first, "はい"),
        (second, "では"),
    ):
        say(page, text)
    for page in (first, second):
        has_turns(page, 5)
        expect(page.locator("#done")).to_be_visible()
    assert second.evaluate("document.documentElement.scrollWidth") <= NARROW
    assert violations(second) == []
    (entry,) = house.store.exports.export(name)
    assert entry.document is not None
    assert [segment.text for segment in entry.document.segments] == [
        "こんにちは。",
        "どうも",
        "お元気ですか",
        "はい",
        "では",
    ]


def test_whoever_waits_in_two_tabs_talks_in_both(
    house: Workbench, browse: Browsing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(talk_page, "PATIENCE", 0.2)
    name = collecting(house, systems=("person",), exchanges=2)
    ada, ben = house.person(), house.person("Ben")
    with monkeypatch.context() as patch:
        patch.setattr(talk_beginning, "PRESENT", timedelta(days=-1))  # nobody counts as there
        first = opened(browse, ada, name, watched=False)
        second = first.context.new_page()
        second.goto(f"/c/{name}/talk")
        for tab in (first, second):
            expect(tab.locator("#status")).to_contain_text("Waiting for somebody")
        house.store.talks.begin(name, ben.id)
    for tab in (first, second):
        expect(tab.get_by_role("button", name="Send")).to_be_enabled()
    say(first, "Good morning.")
    has_turns(second, 1)


def test_a_system_that_fails_and_a_network_that_is_gone(
    own: tuple[Workbench, Browsing], monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, browse = own
    name, ada = collecting(bench, exchanges=2), bench.person()
    page = opened(browse, ada, name, watched=False)
    has_turns(page, 1)

    def fails(*_: Any) -> Any:
        raise NoReplyError("bot", "out of order")

    with monkeypatch.context() as patch:
        patch.setattr(Bot, "reply", fails)
        say(page, "are you there")
        expect(page.locator("#status")).to_contain_text("does not answer at the moment")
    has_turns(page, 3)
    bench.stop()
    page.fill("#text", "said without a network")
    page.click("#say button.primary")
    expect(page.locator("#status")).to_contain_text("No connection")
    expect(page.locator(".bubble.pending")).to_have_count(1)
    bench.start()
    has_turns(page, 5)
    expect(page.locator("#done")).to_be_visible()
    talk = bench.store.talks.last(name, ada.id)
    assert talk is not None
    assert [turn.text for turn in talk.turns if turn.side == "user"] == [
        "are you there",
        "said without a network",
    ]


def test_two_tabs_and_what_managers_see(house: Workbench, browse: Browsing) -> None:
    name, ada = (
        collecting(house, systems=(System("bot", "a"), System("bot", "b")), exchanges=3),
        house.person(),
    )
    page = opened(browse, ada, name)
    has_turns(page, 1)
    other = page.context.new_page()
    other.goto(f"/c/{name}/talk")
    has_turns(other, 1)
    say(page, "from the first tab")
    for tab in (page, other):
        has_turns(tab, 3)
    say(other, "from the second")
    has_turns(page, 5)
    manager = browse(house.person("Mo", "manager"))
    manager.goto(f"/c/{name}/talks")
    expect(manager.locator("tbody tr")).to_have_count(2)
    assert violations(manager) == []
