"""The way to an answer: the walk 1 → 17, the three steps, and the text of the guideline that goes with a document."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect

from lapsus.model import Document, Segment
from tests.web.browser.house import Browsing, Someone, Workbench
from tests.web.browser.judging import begin, documents, ready, said


def kept(house: Workbench, name: str) -> dict[str, Any]:
    """The metadata of the only judgment of a campaign."""
    (judgment,) = [judgment for entry in house.store.exports.export(name) for judgment in entry.judgments]
    return dict(judgment.metadata)


def one_turn(language: str = "en") -> list[Document]:
    return [Document("d", (Segment("0", "system", "Hello."),), language)]


def error_types(house: Workbench, browse: Browsing, **plan: Any) -> tuple[Page, str, Someone]:
    ada = house.person()
    name = house.campaign("error-types", [ada], one_turn(), **plan)
    return begin(browse(ada), name), name, ada


def test_a_walk_that_is_required_is_walked_and_kept(house: Workbench, browse: Browsing) -> None:
    page, name, ada = error_types(house, browse, walk="required")
    expect(page.locator(".walk-asked")).to_contain_text("1 ")
    expect(page.locator("#guide h3")).to_have_text("1 Uninterpretable")
    page.keyboard.press("7")
    page.locator("#questions .primary").click()
    expect(page.locator(".broken").first).to_contain_text("Still to ask: 5, 6, 7, 8")
    page.locator('button[data-label="ignore-question"]').focus()
    for _ in range(17):
        page.keyboard.press("n")
        if page.locator(".walk-asked").inner_text() == "These were all.":
            break
    page.reload()
    ready(page)
    page.keyboard.press("9")
    page.locator("#questions .primary").click()
    page.wait_for_url("**/judge")
    assert said(house, name, ada)[1]["types"] == ["ignore-expectation"]
    metadata = kept(house, name)
    assert metadata["guideline"] == "en"
    assert len(metadata["walk"]) > 10
    assert metadata["walk"][0] == "uninterpretable"


def test_not_a_breakdown_for_me_is_an_answer(house: Workbench, browse: Browsing) -> None:
    page, name, ada = error_types(house, browse)
    page.keyboard.press("9")
    page.get_by_role("radio", name="Not a breakdown for me").click()
    page.locator("#questions .primary").click()
    page.wait_for_url("**/judge")
    assert said(house, name, ada)[1]["own-view"] == "no-breakdown"
    assert "walk" not in kept(house, name)


def test_each_step_has_its_own_tool(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    name = house.campaign("semantic-errors", [ada], documents("semantic-errors", "en")[:1], steps="required")
    page = begin(browse(ada), name)
    tools = page.locator(".tool[data-label]:visible")
    expect(tools).to_have_count(1)
    expect(tools).to_contain_text("Omission")
    expect(page.locator("#all-tools")).to_have_count(0)
    page.locator(".tokens").first.focus()
    page.keyboard.press("r")
    expect(page.locator(".span-refused")).to_contain_text("later step")
    page.keyboard.press("n")
    page.locator(".foot .primary").click()
    expect(page.locator(".broken").first).to_contain_text("Still to take")
    page.keyboard.press("s")
    expect(tools).to_contain_text("Addition")
    page.keyboard.press("s")
    expect(tools).to_contain_text("Repetition")
    page.locator(".foot .primary").click()
    page.wait_for_url("**/judge")
    assert kept(house, name)["steps"] == ("find-omissions", "find-additions", "find-repetitions")


def test_all_tools_at_once_for_those_who_know_the_steps(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    name = house.campaign("semantic-errors", [ada], documents("semantic-errors", "en"))
    page = begin(browse(ada), name)
    page.check("#all-tools")
    expect(page.locator(".tool[data-label]:visible")).to_have_count(3)
    page.reload()
    expect(page.locator(".tool[data-label]:visible")).to_have_count(3)


def test_the_guideline_is_that_of_the_document_whatever_the_buttons_speak(
    house: Workbench, browse: Browsing
) -> None:
    ada = house.person()
    japanese = house.campaign("error-types", [ada], one_turn("ja"))
    page = begin(browse(ada, lang="en"), japanese)
    expect(page.locator('button[data-label="wrong-information"]')).to_contain_text("誤情報")
    expect(page.locator("#guide")).to_have_attribute("lang", "ja")
    expect(page.locator(".foot .primary")).to_contain_text("Submit")
    planned = house.campaign("error-types", [ada], one_turn("ja"), guideline_language="en")
    page = begin(browse(ada, lang="ja"), planned)
    expect(page.locator('button[data-label="wrong-information"]')).to_contain_text("Wrong information")
    page.keyboard.press("4")
    page.locator(".foot .primary").click()
    page.wait_for_url("**/judge")
    assert kept(house, planned)["guideline"] == "en"
