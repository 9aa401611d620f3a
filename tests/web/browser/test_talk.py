"""Flags as talk between an annotator and a manager, in both languages; and the ways into a demonstration."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.web.browser.house import NARROW, Browsing, Workbench, scrolls_sideways, violations
from tests.web.browser.judging import begin, documents, ready, shows
from tests.web.helpers import PASSWORD

WORDS = {
    "en": (
        *("open", "settled", "Reply", "Send", "Got it", "Mark as settled"),
        *("Flags answered: 1", "Your flag on this unit"),
    ),
    "ja": (
        *("相談中", "解決済み", "返信する", "送る", "分かりました", "解決済みにする"),
        *("相談への返信 1 件", "この箇所の相談に返信"),
    ),
}


@pytest.mark.parametrize("lang", WORDS)
def test_a_question_is_answered_and_settled(house: Workbench, browse: Browsing, lang: str) -> None:
    is_open, settled, reply, send, got_it, settle, badge, answered = WORDS[lang]
    ada, mori = house.person(language=lang), house.person("Mori", "manager", language=lang)
    name = house.campaign(people=[ada], documents=documents("breakdown", lang))
    page = begin(browse(ada, lang=lang, width=NARROW), name)
    page.keyboard.press("f")
    page.keyboard.type("Who speaks first?")
    page.keyboard.press("Control+Enter")
    thread = page.locator("article.thread")
    expect(thread).to_contain_text("Who speaks first?")
    expect(page.locator("#saved")).to_contain_text("✓")
    page.reload()
    ready(page)
    expect(thread).to_contain_text(is_open)
    expect(thread).to_contain_text("Who speaks first?")

    desk = browse(mori, lang=lang)
    desk.locator(".badge").filter(has_text="1").first.click()
    desk.goto(f"/c/{name}/u/1")
    ready(desk)
    desk.get_by_role("button", name=reply).click()
    desk.keyboard.type("The system does.\nAlways.")
    desk.get_by_role("button", name=send, exact=True).click()
    expect(desk.locator(".reply")).to_contain_text("The system does.")
    expect(desk.locator("#saved")).to_contain_text("✓")
    assert violations(desk) == []

    page.goto("/")
    page.get_by_role("link", name=badge).click()
    expect(page.locator(".thread")).to_contain_text("The system does.")
    assert violations(page) == []
    page.goto(f"/c/{name}/u/1")
    ready(page)
    expect(page.locator('[data-notice="answered"]')).to_contain_text(answered)
    assert violations(page) == []
    assert not scrolls_sideways(page)
    thread.get_by_role("button", name=got_it).click()
    expect(page.locator('[data-notice="answered"]')).to_have_count(0)
    thread.get_by_role("button", name=settle).click()
    expect(thread.locator(".good")).to_have_text(settled)
    # The next unit has its own.
    page.keyboard.press("1")
    shows(page, 2)
    expect(thread).to_have_count(0)
    page.goto("/")
    expect(page.locator(".badge")).to_have_count(0)
    (flag,) = house.store.flags.all(name)
    assert flag.settled is not None


def test_colours_and_language_stay_as_one_chose_them(house: Workbench, browse: Browsing) -> None:
    ada = house.person(password=PASSWORD)
    house.campaign(people=[ada])
    page = browse(ada, dark=True)
    page.get_by_role("link", name=ada.name).click()
    page.get_by_label("Light").check()
    page.get_by_label("日本語").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_have_text("保存しました。")
    paper = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]"
    assert page.evaluate(paper) > 200
    assert violations(page) == []
    page.emulate_media(color_scheme="light")
    page.get_by_label("暗い").check()
    page.get_by_role("button", name="保存する").click()
    page.goto("/")
    assert page.evaluate(paper) < 80
    assert violations(page) == []


def test_a_demonstration_has_three_ways_in(tmp_path: Path, chrome: Browser) -> None:
    with Workbench(tmp_path) as bench:
        browse = Browsing(chrome, bench)
        people = (("Mori", "manager", "en"), ("Ada", "annotator", "en"), ("花子", "annotator", "ja"))
        for name, role, language in people:
            bench.person(name, role, language=language)  # type: ignore[arg-type]
        bench.ways_in.is_demo = True
        for lang, dark, width in (("en", False, 1280), ("ja", True, NARROW)):
            page = browse(lang=lang, dark=dark, width=width)
            page.goto("/")
            expect(page.locator(".enter a")).to_have_count(3)
            assert violations(page) == []
            assert not scrolls_sideways(page)
        page.get_by_role("link", name="日本語の判断者として入る").click()
        expect(page.locator(".top")).to_contain_text("花子")
        browse.close()
        assert browse.complaints == []
