"""People who judge: by keyboard alone, or by mouse alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from playwright.sync_api import Page, expect

from lapsus.model import Document, Segment
from tests.web.browser.house import Someone, Workbench

SCALES = ("soundness", "conciseness", "completeness", "relevance", "clarity", "brevity", "coherence")


def documents(scheme: str, language: str) -> list[Document]:
    """Two tiny documents, in a language."""
    if scheme == "semantic-errors":
        triple = ("Ida Vale", "birthPlace", "Orsk") if language == "en" else ("羽根月町", "標高", "212")
        text = "ida vale was born long ago" if language == "en" else "羽根月町は古い町です。"
        return [
            Document(
                name,
                (
                    Segment.triple("t1", *triple),
                    Segment.triple("t2", *triple),
                    Segment("text", "text", text),
                ),
                language,
            )
            for name in ("p0", "p1")
        ]
    said: tuple[str, ...] = (
        ("Hello.", "hi", "Do you like tea?")
        if language == "en"
        else ("こんにちは。", "どうも", "お茶は好き？")
    )
    roles: tuple[str, ...] = ("system", "user", "system")
    if scheme == "response-quality":
        said, roles = said[:1], roles[:1]
    turns = tuple(
        Segment(str(place), role, words)  # type: ignore[arg-type]
        for place, (role, words) in enumerate(zip(roles, said, strict=True))
    )
    return [Document(name, turns, language) for name in ("d0", "d1")]


def begin(page: Page, campaign: str, *, lang: str | None = None) -> Page:
    """On to the first unit, without the pages before it."""
    page.goto(f"/c/{campaign}/judge" + (f"?lang={lang}" if lang else ""))
    return ready(page)


def ready(page: Page) -> Page:
    """The page is there, and where it shows a unit, takes answers about it."""
    page.wait_for_selector("html[data-ready]:not(:has(main[data-unit]:not([data-answerable])))")
    return page


def answerable(page: Page) -> None:
    """Answers are taken: about a unit that is judged, or decided on."""
    page.wait_for_selector("main[data-answerable]")


def shows(page: Page, unit: int) -> None:
    """A unit is there, and answers about it are taken."""
    expect(page.locator(f'main[data-unit="{unit}"][data-answerable]')).to_have_count(1)


def judge_with_keys(page: Page, name: str, keys: str) -> None:
    """One key a unit, to the last one."""
    begin(page, name)
    for unit, key in enumerate(keys, 1):
        ready(page)
        shows(page, unit)
        page.keyboard.press(key)
    page.wait_for_url(f"**/c/{name}/judge")


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until something has focus."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("wanted => document.activeElement.matches(wanted)", selector):
            return
    raise AssertionError(f"Tab never comes to {selector}")


def said(house: Workbench, campaign: str, person: Someone) -> dict[int, Mapping[str, Any]]:
    """What the server has of somebody's submitted judgments, by unit."""
    found = house.store.judgments.of_person(campaign, person.id, limit=100)
    return {one.unit: msgspec.json.decode(msgspec.json.encode(one.answers)) for one in found if one.submitted}


def type_at_once(page: Page, digits: str) -> None:
    """Digits in one moment, however slow the machine is: after a while each of them would count alone."""
    page.evaluate(
        """digits => { for (const key of digits) document.activeElement.dispatchEvent(
        new KeyboardEvent("keydown", { key, code: `Digit${key}`, bubbles: true, cancelable: true })); }""",
        digits,
    )


class Keyboard:
    """Judges with keys only."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def start(self, campaign: str) -> None:
        tab_to(self.page, f'a[href="/c/{campaign}/judge"]')
        self.press("Enter")

    def breakdown(self) -> None:
        self.press("t")

    def error_types(self) -> None:
        # 7, then 15: one digit at once, two in quick succession.
        self.press("7")
        type_at_once(self.page, "15")
        self.press("Enter")

    def response_quality(self) -> None:
        # The first question is in focus, and each answer moves on to the next.
        self.press(*("4" for _ in SCALES))
        for key, question in (("y", "dialogue-act"), ("p", "emotion"), ("n", "communicative-goal")):
            if not self.page.evaluate(
                "name => document.activeElement.closest(name)", f'[data-question="{question}"]'
            ):
                tab_to(self.page, f'[data-question="{question}"] [role=radio]')
            self.press(key)
        tab_to(self.page, '[data-question="fitting-acts"] input')
        self.page.keyboard.type("thank" if self.language == "en" else "感謝")
        self.press("Enter", "Enter")

    @property
    def language(self) -> str:
        return str(self.page.evaluate("document.documentElement.lang"))

    def semantic_errors(self) -> None:
        # The first text is in focus.
        self.press("ArrowRight", "ArrowRight", "o", "ArrowDown", "Shift+O", "ArrowDown", "Home")
        self.press("Shift+ArrowRight", "a", "End", "r", "Enter")


class Mouse:
    """Judges with clicks only."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def click(self, *selectors: str) -> None:
        for selector in selectors:
            self.page.click(selector)

    def submit(self) -> None:
        self.click(".foot .primary")

    def start(self, campaign: str) -> None:
        self.click(f'a[href="/c/{campaign}/judge"]')

    def breakdown(self) -> None:
        self.click('[data-label="T"]')

    def error_types(self) -> None:
        self.click('[data-label="ignore-proposal"]', '[data-label="repetition"]')
        self.submit()

    def response_quality(self) -> None:
        for question in SCALES:
            self.click(f'[data-question="{question}"] .level:nth-child(4)')
        for question, label in (("dialogue-act", "Y"), ("emotion", "P"), ("communicative-goal", "N")):
            self.click(f'[data-question="{question}"] [data-label="{label}"]')
        self.click('[data-question="fitting-acts"] input')
        self.page.locator(".option:has-text('Thanks'), .option b:text-is('感謝')").first.click()
        self.submit()

    def semantic_errors(self) -> None:
        cells = self.page.locator(".triple .cell")
        cells.nth(2).click()
        self.click('[data-label="omission"]')
        cells.nth(4).click()
        self.click('[data-whole="omission"]')
        tokens = self.page.locator("p.tokens .token")
        first, second = tokens.nth(0).bounding_box(), tokens.nth(1).bounding_box()
        assert first is not None
        assert second is not None
        self.page.mouse.move(first["x"] + 3, first["y"] + 8)
        self.page.mouse.down()
        self.page.mouse.move(second["x"] + 3, second["y"] + 8, steps=3)
        self.page.mouse.up()
        # Each step has its own tool.
        self.page.locator(".step").nth(1).click()
        self.click('[data-label="addition"]')
        self.page.locator(".step").nth(2).click()
        tokens.last.click()
        self.click('[data-label="repetition"]')
        self.submit()


HANDS: dict[str, type[Keyboard] | type[Mouse]] = {"keyboard": Keyboard, "mouse": Mouse}
