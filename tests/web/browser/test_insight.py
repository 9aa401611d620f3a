"""From two people's judgments to agreement, decisions and an export; and that everybody can use these pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from playwright.sync_api import Page, expect

from lapsus.formats import convert, read
from lapsus.insight.golding import campaign_gold, gold_entries
from lapsus.store import SaveRequest
from lapsus.store.chains import ANSWERS as DECODER
from tests.web.browser.house import NARROW, WIDE, Browsing, Someone, Workbench, scrolls_sideways, violations
from tests.web.browser.judging import begin, documents, ready, shows
from tests.web.helpers import ANSWERS, chat, new_key, pair


def judge_with_keys(page: Page, name: str, keys: str) -> None:
    begin(page, name)
    for unit, key in enumerate(keys, 1):
        ready(page)
        shows(page, unit)
        page.keyboard.press(key)
    page.wait_for_url(f"**/c/{name}/judge")


def parts_are_there(page: Page) -> None:
    """Scroll through, so that every part is fetched."""
    for part in ("disputed", "time", "answers", "annotators", "pairs"):
        page.locator(f"#{part}").scroll_into_view_if_needed()
        expect(page.locator(f"#{part}[data-loaded]")).to_be_attached()
        expect(page.locator(f"#{part} .waiting")).to_have_count(0)


def test_from_two_judges_to_an_export(house: Workbench, browse: Browsing, tmp_path: Path) -> None:
    ada, ben = house.person("Ada"), house.person("Ben")
    mori = house.person("Mori", "manager")
    name = house.campaign("breakdown", [ada, ben], documents("breakdown", "en"), per_unit=2)
    judge_with_keys(browse(ada), name, "1231")
    manager = browse(mori)
    manager.goto(f"/c/{name}/insight")
    expect(manager.locator("#h-agreement + p")).to_have_text(
        "Not yet: it takes units that two people have judged."
    )
    judge_with_keys(browse(ben), name, "1331")

    # Agreement appears: 3 of 4 units agree. Shares O 1/2, T 1/8, X 3/8: (3/4 - 13/32) / (1 - 13/32) = 11/19.
    manager.reload()
    expect(manager.locator("#heads .large").nth(1)).to_contain_text("0.579")
    parts_are_there(manager)
    expect(manager.locator("#annotators tbody tr")).to_have_count(2)
    pictures = manager.locator(".chart img")
    assert pictures.count() >= 3
    pictures.first.scroll_into_view_if_needed()
    manager.wait_for_function("[...document.images].filter(i => i.complete && i.naturalWidth > 0).length > 0")

    # Decide: the one disputed unit, by a key, with a reason.
    manager.locator("#heads .primary").click()
    manager.wait_for_url("**/decide/2**")
    expect(manager.locator(".groups li")).to_have_count(2)
    manager.keyboard.press("c")
    manager.keyboard.type("they could still go on")
    manager.keyboard.press("Escape")
    manager.keyboard.press("1")
    expect(manager.locator("#standing")).to_contain_text("Possible breakdown")
    expect(manager.locator("#standing")).to_contain_text("they could still go on")

    decided = house.store.standing_decisions(name)
    assert {unit: one.answers["breakdown"] for unit, one in decided.items()} == {2: "T"}
    gold = campaign_gold(house.store, name)
    convert(gold_entries(house.store, name, gold), tmp_path / "gold.jsonl")
    convert(house.store.export(name), tmp_path / "all.jsonl")
    found = [j.answers["breakdown"] for entry in read(tmp_path / "gold.jsonl") for j in entry.judgments]
    assert found == ["O", "T", "X", "O"]
    assert sum(len(entry.judgments) for entry in read(tmp_path / "all.jsonl")) == 8


def test_a_new_judgment_shows_by_itself(house: Workbench, browse: Browsing) -> None:
    ada, mori = house.person("Ada"), house.person("Mori", "manager")
    name = house.campaign("breakdown", [ada], documents("breakdown", "en"))
    page = browse(mori)
    page.clock.install()
    page.goto(f"/c/{name}/insight")
    expect(page.locator("#heads .large").first).to_contain_text("0 of 4")
    judge_with_keys(browse(ada), name, "1111")
    page.clock.fast_forward(16_000)
    expect(page.locator("#heads .large").first).to_contain_text("4 of 4")


def judged_by_two(house: Workbench, scheme: str, said: list[Any]) -> tuple[str, Someone]:
    """A campaign in which two people answered the first unit."""
    mori = house.person("Mori", "manager")
    people = [house.person("Ada"), house.person("Ben")]
    name = house.campaign(
        scheme, people, [pair("p0") if scheme == "semantic-errors" else chat("d0")], per_unit=2
    )
    for person, answers in zip(people, said, strict=True):
        house.store.next_units(person.id, name)
        decoded = DECODER.decode(msgspec.json.encode(answers))
        house.store.save(SaveRequest(new_key(), name, 1, person.id, decoded))
    return name, mori


def test_marks_are_taken_and_added(house: Workbench, browse: Browsing) -> None:
    name, mori = judged_by_two(house, "semantic-errors", [ANSWERS["semantic-errors"], {"errors": []}])
    page = browse(mori)
    page.goto(f"/c/{name}/decide")
    expect(page.locator(".lane mark")).to_have_count(2)
    page.keyboard.press("e")
    marks = page.locator("#own-form .marks input")
    expect(marks).to_have_count(2)
    for mark in marks.all():
        mark.uncheck()
    marks.nth(1).check()
    # "Orsk": the last word of the text, selected as a reader does; half of it is enough.
    page.evaluate(
        """() => { const node = document.querySelector('[data-segment="text"]').firstChild;
        const range = document.createRange(); range.setStart(node, node.length - 3); range.setEnd(node, node.length);
        getSelection().removeAllRanges(); getSelection().addRange(range); }"""
    )
    page.locator(".offer button", has_text="Repetition").click()
    expect(marks).to_have_count(3)
    page.locator("#own-form button.primary").click()
    expect(page.locator("#standing")).to_be_visible()
    spans: Any = house.store.standing_decisions(name)[1].answers["errors"]
    assert [(span.label, span.start, span.end) for span in spans] == [
        ("addition", 9, 12),
        ("repetition", 22, 26),
    ]


def test_a_broken_rule_is_said_and_nothing_kept(house: Workbench, browse: Browsing) -> None:
    said = [{"types": ["repetition"]}, {"types": ["wrong-information"]}]
    name, mori = judged_by_two(house, "error-types", said)
    page = browse(mori, watched=False)
    page.goto(f"/c/{name}/decide/1")
    page.keyboard.press("e")
    page.locator("#own-form input[value=repetition]").check()
    page.locator("#own-form input[value=wrong-information]").check()
    page.locator("#own-form button.primary").click()
    expect(page.locator("#status")).to_contain_text("Wrong information")
    assert house.store.decisions(name) == []


@pytest.mark.parametrize("path", ["insight", "decide/1"])
@pytest.mark.parametrize(("dark", "width", "lang"), [(False, WIDE, "en"), (True, NARROW, "ja")])
def test_everybody_can_use_them(
    house: Workbench, browse: Browsing, path: str, dark: bool, width: int, lang: str
) -> None:
    name, mori = judged_by_two(house, "semantic-errors", [ANSWERS["semantic-errors"], {"errors": []}])
    page = browse(mori, dark=dark, width=width, lang=lang)
    page.goto(f"/c/{name}/{path}")
    if path == "insight":
        parts_are_there(page)
    else:
        page.keyboard.press("e")
        expect(page.locator("#own-form fieldset").first).to_be_visible()
    assert violations(page) == []
    assert not scrolls_sideways(page)
