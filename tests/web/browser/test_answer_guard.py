"""What nobody has seen is not judged: a held key counts once, and so does a press too many."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.web.browser.house import Browsing, Workbench, violations
from tests.web.browser.judging import answerable, begin, said, shows
from tests.web.browser.test_stats import judged_by_two
from tests.web.helpers import chat

RATE = 33
"""Milliseconds between the presses of a key that is held."""


def hold(page: Page, key: str, seconds: float) -> None:
    """Hold a key down as a keyboard does: after the first, presses that say that they repeat it."""
    for _ in range(round(seconds * 1000 / RATE)):
        page.keyboard.down(key)
        page.wait_for_timeout(RATE)
    page.keyboard.up(key)


@pytest.mark.parametrize(
    ("lang", "told"), [("en", "The key was held down"), ("ja", "キーが押されたままでした")]
)
def test_a_key_held_down_is_one_judgment(house: Workbench, browse: Browsing, lang: str, told: str) -> None:
    ada = house.person(language=lang)
    name = house.campaign(people=[ada], documents=[chat("d0", turns=40)])
    page = begin(browse(ada, lang=lang, width=360, height=740), name)
    hold(page, "2", 0.7)
    shows(page, 2)
    expect(page.locator("[data-notice=dropped]")).to_contain_text(told)
    assert said(house, name, ada) == {1: {"breakdown": "T"}}
    assert violations(page) == []


def test_a_held_key_answers_one_question(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    name = house.campaign("response-quality", [ada], [chat("d0", 1)])
    page = begin(browse(ada), name)
    hold(page, "1", 0.5)
    expect(page.locator("#questions [aria-checked=true]")).to_have_count(1)
    # The next question of the same unit is there to be answered at once.
    page.keyboard.press("2")
    page.keyboard.press("3")
    expect(page.locator("#questions [aria-checked=true]")).to_have_count(3)


@pytest.mark.parametrize("by", ["key", "mouse"])
def test_what_comes_before_a_unit_was_seen_does_not_count(
    house: Workbench, browse: Browsing, by: str
) -> None:
    ada = house.person()
    name = house.campaign(people=[ada], documents=[chat("d0", turns=8)])
    page = begin(browse(ada), name)
    # Nothing is seen before the browser draws, so that "too soon" is no matter of how fast the machine is.
    page.evaluate("window.frames_ = []; window.requestAnimationFrame = (draw) => frames_.push(draw); null")
    answer = (lambda: page.keyboard.press("1")) if by == "key" else page.locator('[data-label="O"]').click
    answer()
    expect(page.locator('main[data-unit="2"]')).to_have_count(1)
    answer()
    expect(page.locator("[data-notice=dropped]")).to_contain_text("Too soon")
    assert list(said(house, name, ada)) == [1]
    page.evaluate("frames_.forEach((draw) => draw())")
    answerable(page)
    answer()
    expect(page.locator('main[data-unit="3"]')).to_have_count(1)


def test_a_held_key_decides_one_unit(house: Workbench, browse: Browsing) -> None:
    name, mori = judged_by_two(
        house, "error-types", [{"types": ["repetition"]}, {"types": ["contradiction"]}]
    )
    page = browse(mori)
    page.goto(f"/c/{name}/decide/1?only=all")
    answerable(page)
    hold(page, "1", 0.7)
    expect(page.locator("#standing, main[data-answerable]").first).to_be_visible()
    assert len(house.store.decisions.all(name)) == 1
