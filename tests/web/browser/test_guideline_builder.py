"""A guideline written in a real browser: from nothing, with the annotators' page beside it."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from lapsus.formats import convert
from lapsus.model import Entry
from tests.web.browser.house import NARROW, WIDE, Browsing, Workbench, scrolls_sideways, violations
from tests.web.helpers import chat


def begun(house: Workbench, page: Page, folder: Path, name: str) -> None:
    """The wizard at the choice of a guideline, with a file of chats."""
    file = folder / "chats.jsonl"
    convert((Entry(f"d{n}", chat(f"d{n}", 3)) for n in range(3)), file)
    page.goto(f"{house.address}/new")
    page.fill("#name", name)
    page.set_input_files("#file", file)
    page.click("button[value=next]")


def fill(page: Page, **fields: str) -> None:
    """Fill fields in by where they stand in the guideline, with `__` for a dot."""
    for name, value in fields.items():
        page.fill(f'[id="{name.replace("__", ".")}"]', value)


def press(page: Page, go: str) -> None:
    """Press a button of the form and wait for the page after it."""
    with page.expect_navigation():
        page.locator(f'#words-form button[value="{go}"]').last.click()
    page.wait_for_selector("html[data-ready]")


def test_a_guideline_is_written_from_nothing_and_judged_by(
    house: Workbench, browse: Browsing, tmp_path: Path
) -> None:
    page = browse(house.person("Mori", "manager"))
    begun(house, page, tmp_path, "written")
    page.locator(".own-guideline summary").click()
    page.click("button[name=blank]")
    page.wait_for_selector("html[data-ready]")
    fill(page, title__en="Faults", summary__en="Say what is wrong with the reply.")
    press(page, "question:labels")
    fill(page, questions__0__id="faults", questions__0__name__en="Faults", questions__0__ask__en="Which?")
    press(page, "label:questions.0")
    for place, name in enumerate(("rude", "wrong", "none")):
        part = page.locator(f'details[id="questions.0.labels.{place}"]')
        if part.get_attribute("open") is None:
            part.locator("> summary").click()
        fields = {"id": name, "name__en": name.title(), "definition__en": f"It is {name}."}
        fill(page, **{f"questions__0__labels__{place}__{key}": value for key, value in fields.items()})
    press(page, "keep")
    page.check('[name="questions.0.alone=none"]')
    press(page, "example:questions.0.labels.0.examples.en")
    place = "questions__0__labels__0__examples__en__0"
    fill(page, **{f"{place}__text": "Shut up.", f"{place}__why": "Nobody says that kindly."})
    press(page, "question:scale")
    # While words are missing it says where, and what annotators will see is there all the same.
    expect(page.locator("#problem-list")).to_contain_text("Level 1 › Meaning is empty")
    expect(page.locator("#questions .question, #questions [data-question]").first).to_be_visible()
    fill(page, questions__1__name__en="How bad", questions__1__ask__en="How bad is it?")
    for place, meaning in enumerate(("fine", "odd", "poor", "bad", "awful")):
        fill(page, **{f"questions__1__levels__{place}__meaning__en": meaning})
    with page.expect_navigation():
        page.select_option('[id="questions.1.only_if.question"]', "faults")
    page.check('[name="questions.1.only_if.answers=rude"]')
    # Beside it is what annotators see: the question comes with the answer on which it depends.
    expect(page.locator("#sound")).to_be_visible()
    expect(page.locator("#problem-list .warn")).to_have_count(0)
    level = page.locator('#questions [data-question="question-1"]')
    expect(level).to_be_hidden()
    page.click('#questions [data-label="rude"]')
    expect(level).to_be_visible()
    page.click('#questions [data-label="rude"]')
    expect(level).to_be_hidden()
    expect(page.locator("#guide")).to_contain_text("Nobody says that kindly.")
    expect(page.locator("#document")).to_contain_text("turn 0 of d")
    for width in (WIDE, NARROW):
        page.set_viewport_size({"width": width, "height": 740})
        assert violations(page) == []
        assert not scrolls_sideways(page)
    page.set_viewport_size({"width": WIDE, "height": 740})
    with page.expect_navigation():
        page.click("button[value=done]")
    expect(page.locator("#preview")).to_contain_text("Asked only where the answer to “Faults” is Rude.")
    page.click("button[value=next]")
    page.goto(page.url.rpartition("/")[0] + "/review")
    page.click("button[value=make]")
    page.wait_for_url("**/c/written/manage")
    questions = house.store.campaigns.scheme("written").questions
    assert [question.kind for question in questions] == ["labels", "scale"]
    assert questions[0].alone == ("none",)
    assert questions[1].only_if is not None
    assert questions[1].only_if.answers == ("rude",)


def test_what_was_written_is_kept_as_one_leaves(house: Workbench, browse: Browsing, tmp_path: Path) -> None:
    page = browse(house.person("Mori", "manager"))
    begun(house, page, tmp_path, "left")
    page.locator(".own-guideline summary").click()
    page.click("button[name=blank]")
    page.wait_for_selector("html[data-ready]")
    address = page.url
    fill(page, title__en="Faults")
    page.click(".wizard-head a")
    page.wait_for_url("**/guideline")
    page.goto(address)
    expect(page.locator('[id="title.en"]')).to_have_value("Faults")
    fill(page, summary__en="Say what is wrong.")
    page.go_back()
    page.wait_for_url("**/guideline")
    # It is sent as the page goes, so it may be there a moment after the next one.
    for _ in range(20):
        page.goto(address)
        if page.input_value('[id="summary.en"]'):
            break
    assert page.input_value('[id="summary.en"]') == "Say what is wrong."


@pytest.mark.parametrize("scheme", ["error-types", "semantic-errors", "preference"])
def test_shipped_guidelines_are_edited_in_japanese_and_in_the_dark(
    house: Workbench, browse: Browsing, tmp_path: Path, scheme: str
) -> None:
    page = browse(house.person("Mori", "manager"), lang="ja", dark=True)
    begun(house, page, tmp_path, f"edited-{scheme}")
    page.locator(".own-guideline summary").click()
    page.select_option("#base", scheme)
    page.click(".own-guideline form:first-of-type button")
    page.wait_for_selector("html[data-ready]")
    page.fill('[id="title.ja"]', "改訂版")
    expect(page.locator("#sound")).to_be_visible()
    for width in (WIDE, NARROW):
        page.set_viewport_size({"width": width, "height": 740})
        assert violations(page) == []
        assert not scrolls_sideways(page)
