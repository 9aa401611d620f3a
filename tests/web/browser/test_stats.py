"""Figures that show by themselves, decisions, and that everybody can use these pages."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from playwright.sync_api import Browser, Page, Route, expect

from lapsus.campaign_stats import result_cache
from lapsus.model import Entry, Judgment
from lapsus.schemes import read_scheme
from lapsus.store import Plan, SaveRequest
from lapsus.store.rows import ANSWERS as DECODER
from tests.contracts.made_up_kind import offer_duel
from tests.web.browser.house import NARROW, WIDE, Browsing, Someone, Workbench, scrolls_sideways, violations
from tests.web.browser.judging import answerable, documents, judge_with_keys
from tests.web.helpers import ANSWERS, chat, new_key, pair


def parts_are_there(page: Page) -> None:
    """Scroll through, so that every part is fetched."""
    page.evaluate("document.querySelectorAll('.rest').forEach((one) => (one.open = true))")
    for part in page.locator("[data-part]").all():
        part.scroll_into_view_if_needed()
        expect(part).to_have_attribute("data-loaded", "")
        expect(part.locator(".waiting")).to_have_count(0)


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


def test_a_part_that_comes_does_not_push_away_the_button_in_use(house: Workbench, browse: Browsing) -> None:
    name, mori = judged_by_two(house, "breakdown", [{"breakdown": "O"}, {"breakdown": "X"}])
    page = browse(mori, height=500)
    waiting: list[Route] = []
    page.route("**/insight/disputed*", lambda route: waiting.append(route))
    with page.expect_request("**/insight/disputed*"):
        page.goto(f"/c/{name}/insight")
        page.locator("form.take button").focus()
    for part in ("results", "answers"):
        expect(page.locator(f"#{part}[data-loaded]")).to_be_attached()
    place = "document.querySelector('form.take button').getBoundingClientRect().top"
    height = "document.querySelector('#disputed').offsetHeight"
    before, small = page.evaluate(place), page.evaluate(height)
    waiting[0].continue_()
    expect(page.locator("#disputed[data-loaded]")).to_be_attached()
    assert page.evaluate(height) > small + 20
    assert abs(page.evaluate(place) - before) < 2


def test_what_is_replaced_itself_does_not_make_the_page_jump(house: Workbench, browse: Browsing) -> None:
    name, mori = judged_by_two(house, "breakdown", [{"breakdown": "O"}, {"breakdown": "X"}])
    page = browse(mori, height=500)
    page.clock.install()
    page.goto(f"/c/{name}/insight")
    parts_are_there(page)
    used = page.locator("#annotators details summary").first
    used.scroll_into_view_if_needed()
    used.evaluate("(one) => { one.dataset.old = ''; one.focus(); }")
    before = page.evaluate("scrollY")
    for person in house.store.progress.of_campaign(name).people:
        house.store.saves.save(SaveRequest(new_key(), name, 2, person.person, {"breakdown": "O"}))
    page.clock.fast_forward(16_000)
    expect(page.locator("#heads")).to_contain_text("on 2 units")
    expect(page.locator("#annotators [data-old]")).to_have_count(0)
    assert abs(page.evaluate("scrollY") - before) < 120


def test_what_takes_long_says_of_when_it_is_and_is_made_new_by_itself(
    house: Workbench, browse: Browsing, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, mori = judged_by_two(house, "breakdown", [{"breakdown": "O"}, {"breakdown": "X"}])
    page = browse(mori)
    page.clock.install()
    page.goto(f"/c/{name}/insight")
    monkeypatch.setattr(result_cache, "SLOW", -1.0)
    for person in house.store.progress.of_campaign(name).people:
        house.store.saves.save(SaveRequest(new_key(), name, 2, person.person, {"breakdown": "O"}))
    page.reload()
    expect(page.locator("#heads [data-age]")).to_contain_text("Newer figures are being worked out.")
    page.clock.fast_forward(16_000)
    expect(page.locator("#heads [data-age]")).to_have_count(0)
    expect(page.locator("#heads")).to_contain_text("on 2 units")


def test_what_is_not_known_yet_says_so_and_shows_by_itself(
    house: Workbench, browse: Browsing, held: list[Callable[[], None]]
) -> None:
    name, mori = judged_by_two(house, "breakdown", [{"breakdown": "O"}, {"breakdown": "X"}])
    page = browse(mori)
    page.clock.install()
    page.goto(f"/c/{name}/insight")
    expect(page.locator("#heads [data-age]")).to_contain_text("This is being worked out.")
    expect(page.locator("#disputed [data-age]")).to_contain_text("This is being worked out.")
    assert violations(page) == []
    for work in held:
        work()
    page.clock.fast_forward(2_500)
    expect(page.locator("#heads")).to_contain_text("on 1 units")
    expect(page.locator("#disputed .disputes li")).to_have_count(3)
    expect(page.locator("#coefficients [data-age]")).to_have_count(0)


def judged_by_two(house: Workbench, scheme: str, said: list[Any]) -> tuple[str, Someone]:
    """A campaign in which two people answered the first unit."""
    mori = house.person("Mori", "manager")
    people = [house.person("Ada"), house.person("Ben")]
    name = house.campaign(
        scheme, people, [pair("p0") if scheme == "semantic-errors" else chat("d0")], per_unit=2
    )
    for person, answers in zip(people, said, strict=True):
        house.store.assignment.next_units(person.id, name)
        decoded = DECODER.decode(msgspec.json.encode(answers))
        house.store.saves.save(SaveRequest(new_key(), name, 1, person.id, decoded))
    return name, mori


@pytest.mark.parametrize(
    ("lang", "apart", "program"),
    [("en", "not counted as people", "program"), ("ja", "人には数えません", "プログラム")],
)
def test_a_program_is_not_taken_for_a_person(
    house: Workbench, browse: Browsing, lang: str, apart: str, program: str
) -> None:
    """And what came from elsewhere has the time that the file says, or none."""
    mori, name = house.person("Mori", "manager"), house.campaign(name=f"told-apart-{lang}")
    at = datetime(2026, 3, 4, 12, tzinfo=UTC)
    said = [
        Judgment("d0", "0", f"ann-{lang}", "breakdown", "1.0", {"breakdown": "O"}, at=at),
        Judgment("d0", "0", f"ben-{lang}", "breakdown", "1.0", {"breakdown": "X"}),
    ]
    house.store.imports.add_judgments(name, [Entry("d0", chat("d0"), tuple(said))])
    robot = house.store.programs.add(f"robot-{lang}")
    list(house.store.programs.add_judgments(name, robot, [Entry("d0", chat("d0"), (said[1],))]))
    page = browse(mori, lang=lang)
    page.goto(f"/c/{name}/insight")
    parts_are_there(page)
    people, programs = (
        page.locator(f"svg[aria-labelledby='chart-{one}-wide-title']") for one in ("people", "program-counts")
    )
    expect(people).to_contain_text(f"ann-{lang}")
    expect(people).not_to_contain_text(robot.name)
    expect(page.locator("#annotators h3")).to_contain_text(apart)
    expect(programs).to_contain_text(robot.name)
    expect(programs).not_to_contain_text("ann")
    assert violations(page) == []
    page.goto(f"/c/{name}")
    rows = page.locator(".as-cards tbody tr")
    expect(rows.last).to_contain_text(f"{robot.name} {program}")
    expect(rows.filter(has_text=f"ann-{lang}")).to_contain_text("2026")
    expect(rows.filter(has_text=f"ben-{lang}")).to_contain_text("–")


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
    answerable(page)
    page.locator("#own-form button.primary").click()
    expect(page.locator("#standing")).to_be_visible()
    spans: Any = house.store.decisions.standing(name)[1].answers["errors"]
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
    answerable(page)
    page.locator("#own-form button.primary").click()
    expect(page.locator("#status")).to_contain_text("Wrong information")
    assert house.store.decisions.all(name) == []


def test_answers_of_a_kind_from_another_package_are_decided_on(
    chrome: Browser, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    scheme = read_scheme(offer_duel(monkeypatch, tmp_path))
    with Workbench(tmp_path) as house:
        people = [house.person("Ada"), house.person("Ben")]
        names = tuple(person.name for person in people)
        house.store.campaigns.create(
            Plan(name="duel", scheme="duel", who="named", people=names, per_unit=2), scheme
        )
        house.store.campaigns.add_documents("duel", [chat("d0")])
        for person, answer in zip(people, ("left", "neither"), strict=True):
            house.store.assignment.next_units(person.id, "duel")
            house.store.saves.save(SaveRequest(new_key(), "duel", 1, person.id, {"better": answer}))
        browsing = Browsing(chrome, house)
        page = browsing(house.person("Mori", "manager"))
        page.goto("/c/duel/decide/1")
        page.keyboard.press("e")
        choices = page.locator("#own-form [data-question=better] label")
        expect(choices).to_have_text([" left", " neither"])
        choices.last.click()
        answerable(page)
        page.locator("#own-form button.primary").click()
        expect(page.locator("#standing")).to_be_visible()
        assert house.store.decisions.standing("duel")[1].answers == {"better": "neither"}
        browsing.close()
        assert browsing.complaints == []


@pytest.mark.parametrize(("lang", "count"), [("en", "(2 of 2)"), ("ja", "（2人中2人）")])
def test_what_most_people_said_has_its_count_and_a_tie_no_default(
    house: Workbench, browse: Browsing, lang: str, count: str
) -> None:
    same = [{"types": ["repetition"]}, {"types": ["repetition"]}]
    tied = [{"types": ["repetition"]}, {"types": ["contradiction"]}]
    for said, is_offered in ((same, True), (tied, False)):
        name, mori = judged_by_two(house, "error-types", said)
        page = browse(mori, lang=lang)
        page.goto(f"/c/{name}/decide/1?only=all")
        offered = page.locator("button[data-how=majority]")
        expect(offered).to_have_count(int(is_offered))
        if is_offered:
            expect(offered).to_contain_text(count)
        page.keyboard.press("e")
        expect(page.locator("#own-form [data-question=types] input:checked")).to_have_count(int(is_offered))


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
        # What cannot be worked out of marks is not offered.
        expect(page.locator("#pairs, #time")).to_have_count(0)
    else:
        page.keyboard.press("e")
        expect(page.locator("#own-form fieldset").first).to_be_visible()
    assert violations(page) == []
    assert not scrolls_sideways(page)


def test_a_long_table_of_people_is_searched_and_sorted(house: Workbench, browse: Browsing) -> None:
    mori = house.person("Mori", "manager")
    people = [house.person(f"{letter}nn") for letter in "DABCHGFE"]
    page = browse(mori, lang="ja")
    page.goto("/people")
    rows = page.locator(".people tbody tr")
    page.locator(".people .sorts").first.click()
    shown = [name.split()[0] for name in rows.locator("th").all_inner_texts()]
    wanted = [f"{letter}nn" for letter in "ABCDEFGH"]
    assert [name for name in shown if name in wanted] == wanted
    page.get_by_role("searchbox").fill(people[0].name.lower())
    expect(rows.filter(visible=True)).to_have_count(1)
    assert violations(page) == []
