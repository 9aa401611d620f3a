"""Marks on texts: offsets in code points whatever signs there are, ties, overlaps, undo."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from lapsus.model import Document, Segment
from tests.web.browser.house import Browsing, Workbench
from tests.web.browser.judging import begin, ready, said
from tests.web.browser.test_judge_keys import own_campaign

ODD = "ne\u0301e 👩‍🔬👍🏽 a\u0323\u0302 🇯🇵 end"
PLAIN_MARKS = """
  - id: wrong
    kind: spans
    name: {en: "Wrong words", ja: "誤り"}
    ask: {en: "Mark what is wrong.", ja: "誤りに印を付けてください。"}
    labels:
      - {id: untrue, name: {en: "Untrue", ja: "嘘"}, definition: {en: "not so", ja: "違う"}, on: system}
      - {id: rude, name: {en: "Rude", ja: "失礼"}, definition: {en: "unkind", ja: "失礼な語"}, on: system}
"""
ODD_JA = "か\u3099くせい👩‍🔬🇯🇵が𠮟る"


def open_pair(
    house: Workbench, browse: Browsing, text: str, language: str, subject: str = "Zoë 👩‍🔬"
) -> tuple[Page, Any]:
    ada = house.person()
    triple = Segment.triple("t1", subject, "née 🇯🇵", "𠮟る")
    pair = Document("p", (triple, Segment("text", "text", text)), language)
    name = house.campaign("semantic-errors", [ada], [pair])
    page = begin(browse(ada), name)
    return page, lambda: said(house, name, ada)[1]["errors"]


def text_of(page: Page) -> None:
    page.locator("p.tokens").focus()
    page.keyboard.press("Home")


def submit(page: Page) -> None:
    page.keyboard.press("Enter")
    page.wait_for_url("**/judge")


@pytest.mark.parametrize(("text", "language"), [(ODD, "en"), (ODD_JA, "ja")])
def test_every_token_is_where_the_server_says(
    house: Workbench, browse: Browsing, text: str, language: str
) -> None:
    """Each token marked by itself: what is quoted here is what stands there in the data."""
    page, errors = open_pair(house, browse, text, language)
    tokens = page.locator("p.tokens .token .word").all_inner_texts()
    text_of(page)
    for _ in tokens:
        page.keyboard.press("a")
        page.keyboard.press("ArrowRight")
    quotes = page.locator(".marks .quote").all_inner_texts()
    submit(page)
    marks = errors()
    assert [text[mark["start"] : mark["end"]] for mark in marks] == tokens == quotes
    assert "".join(tokens) == text.replace(" ", "")
    assert len(tokens) > 4


def test_a_long_name_is_broken_after_its_signs_and_marked_whole(house: Workbench, browse: Browsing) -> None:
    ship = "MV_Grey_Petrel_of_Halvorn_Yard"
    page, errors = open_pair(house, browse, ODD, "en", ship)
    cell = page.locator(".cells .cell").first
    expect(cell).to_have_text(ship)
    assert cell.locator("wbr").count() == 5
    page.locator(".tokens").first.focus()
    page.keyboard.press("o")
    submit(page)
    assert [(mark["start"], mark["end"]) for mark in errors()] == [(0, len(ship))]


def test_elements_with_odd_signs(house: Workbench, browse: Browsing) -> None:
    page, errors = open_pair(house, browse, ODD, "en")
    page.locator(".tokens").first.focus()
    page.keyboard.press("Shift+O")
    expect(page.locator(".marks li")).to_have_count(3)
    submit(page)
    whole = Segment.triple("t1", "Zoë 👩‍🔬", "née 🇯🇵", "𠮟る")
    assert [(mark["start"], mark["end"]) for mark in errors()] == [
        (element.start, element.end) for element in whole.elements()
    ]


def test_a_changed_name_is_tied(house: Workbench, browse: Browsing) -> None:
    page, errors = open_pair(house, browse, "zoë berg was there", "en")
    page.locator(".tokens").first.focus()
    page.keyboard.press("o")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Home")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("a")
    page.keyboard.press("t")
    expect(page.locator(".marks .tag")).to_have_text(["Omission ↔1", "Addition ↔1"])
    page.keyboard.press("u")
    expect(page.locator(".marks .tag")).to_have_text(["Omission", "Addition"])
    page.keyboard.press("Shift+U")
    # In a page whose guideline has a key of its own for r, redo is on another one, and the keys say so.
    page.keyboard.press("?")
    expect(page.locator(".keys-list")).to_contain_text(["Repetition", "Redo"])
    assert "r" in page.locator("dt:has(+ dd:text-is('Repetition'))").inner_text()
    assert page.locator("dt:has(+ dd:text-is('Redo'))").inner_text().strip() == "⇧u"
    page.keyboard.press("Escape")
    submit(page)
    assert [(mark["label"], mark.get("tie")) for mark in errors()] == [("omission", "1"), ("addition", "1")]


def test_ties_by_mouse_among_several(house: Workbench, browse: Browsing) -> None:
    page, errors = open_pair(house, browse, "zoë berg was there once", "en")
    page.check("#all-tools")
    for token in (0, 1):
        page.locator("p.tokens .token").nth(token).click()
        page.click('[data-label="addition"]')
    for cell in (0, 2):
        page.locator(".triple .cell").nth(cell).click()
        page.click('[data-label="omission"]')
    rows = page.locator(".marks .pick")
    rows.nth(3).click()
    page.get_by_role("button", name="Tie").click()
    expect(page.locator(".span-status")).to_contain_text("is picked")
    rows.nth(1).click()
    expect(page.locator(".marks .tag")).to_have_text(["Addition", "Addition ↔1", "Omission", "Omission ↔1"])
    page.locator(".marks li").nth(1).get_by_role("button").last.click()
    expect(page.locator(".marks .tag")).to_have_text(["Addition", "Omission", "Omission"])
    page.click(".foot .primary")
    page.wait_for_url("**/judge")
    assert all("tie" not in mark for mark in errors())


def test_overlaps_lie_in_lanes(house: Workbench, browse: Browsing) -> None:
    page, errors = open_pair(house, browse, "one two three four", "en")
    text_of(page)
    for _ in range(2):
        page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("a")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("r")
    tags = page.locator("p.tokens .tag")
    expect(tags).to_have_text(["Addition", "Repetition"])
    boxes = [tags.nth(place).bounding_box() for place in range(2)]
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert boxes[0]["y"] + boxes[0]["height"] <= boxes[1]["y"] + 1
    page.keyboard.press("Delete")
    expect(tags).to_have_text(["Addition"])
    submit(page)
    assert [(mark["start"], mark["end"], mark["label"]) for mark in errors()] == [(0, 13, "addition")]


def test_nothing_to_mark_is_an_answer_and_has_to_be_given(house: Workbench, browse: Browsing) -> None:
    page, errors = open_pair(house, browse, "all is said", "en")
    page.keyboard.press("Enter")
    expect(page.locator(".kind-spans .broken")).to_contain_text("“Errors” still needs an answer.")
    page.keyboard.press("n")
    expect(page.locator(".kind-spans .broken")).to_have_text("")
    submit(page)
    assert errors() == []


def test_a_label_stands_only_where_the_guideline_says(house: Workbench, browse: Browsing) -> None:
    page, _ = open_pair(house, browse, "all is said", "en")
    page.locator(".tokens").first.focus()
    page.keyboard.press("a")
    refused = "Addition is marked on the text, not on a triple."
    expect(page.locator(".span-refused[role=alert]")).to_have_text(refused)
    expect(page.locator(".marks li")).to_have_count(0)
    # Whoever submits is told of it first.
    page.keyboard.press("Enter")
    expect(page.locator(".kind-spans .broken")).to_contain_text("That mark was not made")
    # Additions are marked in the text: their step is there now, and so is the cursor.
    expect(page.locator("p.tokens")).to_be_focused()


def test_by_finger(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    pair = Document("p", (Segment("text", "text", "one two three"),), "en")
    name = house.campaign("semantic-errors", [ada], [pair])
    page = begin(browse(ada, width=360, has_touch=True, is_mobile=True), name)
    words = page.locator("p.tokens .token")
    page.locator(".step").nth(1).tap()
    # The first and the last word, in either order.
    words.nth(2).tap()
    words.nth(1).tap()
    tool = page.locator('[data-label="addition"]')
    expect(tool).to_be_in_viewport()
    tool.tap()
    page.locator(".foot .primary").tap()
    page.wait_for_url("**/judge")
    assert said(house, name, ada)[1]["errors"] == [
        {"segment": "text", "start": 4, "end": 13, "label": "addition"}
    ]


def test_a_label_without_a_key_has_its_number_and_it_says_how_to_mark(
    house: Workbench, browse: Browsing
) -> None:
    ada = house.person()
    name = own_campaign(house, ada, PLAIN_MARKS)
    page = begin(browse(ada), name)
    page.goto(f"/c/{name}/u/2")
    ready(page)
    expect(page.locator(".turn.system:not(.target) p.tokens").first).to_be_visible()
    expect(page.locator(".kind-spans .tool kbd").first).to_have_text("1")
    hint = page.locator(".kind-spans").get_by_text("arrow keys")
    expect(hint).to_be_visible()
    # The cursor is in the turn that is judged, whatever came before; beside it stands what is asked here.
    expect(page.locator(".turn.target p.tokens")).to_be_focused()
    expect(page.locator("#guide h3")).to_have_text("Wrong words")
    page.keyboard.press("1")
    expect(page.locator(".marks li")).to_have_count(1)
    expect(hint).to_be_hidden()
    page.keyboard.press("2")
    expect(page.locator(".marks li")).to_have_count(2)
