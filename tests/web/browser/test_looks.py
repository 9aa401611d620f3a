"""What the eye sees: nothing lies over what is judged, nothing is out of line, no word is broken or foreign."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from lapsus.model import Document, Segment, Span
from lapsus.schemes.scheme_check import check_scheme
from lapsus.store import Plan, SaveRequest
from tests.web.browser.house import NARROW, PATIENCE, WIDE, Browsing, Someone, Workbench, violations
from tests.web.browser.judging import begin, documents, shows
from tests.web.helpers import chat, new_key

LOOKS = [("en", False, WIDE), ("ja", True, NARROW)]
IS_FREE = """() => document.querySelector(".turn.target").getBoundingClientRect().bottom
  <= document.querySelector("#questions").getBoundingClientRect().top"""

COVERED = """() => {
  const judged = document.querySelector(".turn.target") ?? document.querySelector(".talk > li:last-child");
  const box = judged.getBoundingClientRect(), found = new Set();
  for (let x = box.left + 2; x < box.right; x += 20) for (let y = box.top + 2; y < box.bottom; y += 8) {
    const there = document.elementFromPoint(x, y);
    const isFine = !there || judged.contains(there) || there.contains(judged) || there.closest(".top");
    if (!isFine) found.add(there.outerHTML.slice(0, 80));
  }
  return [...found];
}"""
"""What lies over the turn that is judged, as far as it is in the window and not below the bar."""


def left(place: Locator) -> float:
    box = place.bounding_box()
    assert box is not None
    return box["x"]


def says(house: Workbench, person: Someone, campaign: str, unit: int, answer: object) -> None:
    house.store.saves.save(
        SaveRequest(new_key(), campaign, unit, person.id, answer, submitted=True)  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(("lang", "dark", "width"), LOOKS)
def test_a_comment_is_written_beside_the_turn_it_is_about(
    house: Workbench, browse: Browsing, lang: str, dark: bool, width: int
) -> None:
    """The choices stay at the lower edge and grow by the comment; the turn moves up with them."""
    ada = house.person()
    name = house.campaign(people=[ada], documents=[chat("d0", turns=30)])
    page = browse(ada, lang=lang, dark=dark, width=width, height=740)
    begin(page, name)
    for unit in range(1, 9):
        page.keyboard.press("1")
        shows(page, unit + 1)
    page.keyboard.press("c")
    expect(page.locator("textarea")).to_be_focused()
    page.wait_for_function(IS_FREE, timeout=PATIENCE)
    expect(page.locator(".turn.target")).to_be_in_viewport(ratio=1)
    expect(page.locator("textarea")).to_be_in_viewport(ratio=1)


def is_free(page: Page) -> None:
    """Nothing lies over the turn, once the page has come to rest."""
    page.wait_for_function(f"() => ({COVERED})().length === 0", timeout=PATIENCE)


def last_of_many(scheme: str, language: str) -> Document:
    """A document in which much stands before what is judged."""
    if scheme == "semantic-errors":
        (first, *_) = documents(scheme, language)
        triples = [Segment.triple(f"t{n}", *(first.segments[0].parts or ("", "", ""))) for n in range(9)]
        return Document("d0", (*triples, first.segments[-1]), language)
    said = "Do you like tea, and which one?" if language == "en" else "お茶は好きですか。どんなお茶ですか。"
    turns = [Segment(str(n), "user", said) for n in range(14)]
    return Document("d0", (*turns, Segment("last", "system", said)), language)


@pytest.mark.parametrize(
    ("scheme", "language"),
    [("breakdown", "en"), ("error-types", "ja"), ("response-quality", "ja"), ("semantic-errors", "en")],
)
def test_nothing_that_one_writes_or_is_told_lies_over_the_turn(
    house: Workbench, browse: Browsing, scheme: str, language: str
) -> None:
    ada = house.person(language=language)
    name = house.campaign(scheme, [ada], [last_of_many(scheme, language)])
    house.store.messages.send(name, "Please take your time. " * 5, person=ada.id)
    page = begin(browse(ada, lang=language, width=NARROW, height=640), name)
    judged = page.locator(".turn.target, .talk > li:last-child").last
    is_free(page)
    page.keyboard.press("Enter")
    expect(page.locator(".broken:not(:empty)")).not_to_have_count(0)
    is_free(page)
    page.keyboard.press("Escape")
    page.keyboard.press("f")
    expect(page.locator("dialog textarea")).to_be_focused()
    expect(page.locator("dialog")).to_be_in_viewport(ratio=1)
    expect(judged).to_be_in_viewport(ratio=1)
    is_free(page)
    assert violations(page) == []
    page.keyboard.type("Why?")
    page.locator("dialog .primary").click()
    expect(page.locator('[data-notice="flag"]')).to_be_visible()
    is_free(page)
    if scheme != "response-quality":  # which asks for no words of one's own
        page.keyboard.press("c")
        expect(page.locator("#questions textarea").last).to_be_focused()
        is_free(page)


def test_what_one_writes_is_not_lost_by_a_touch_on_an_answer(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    page = begin(browse(ada, width=NARROW), house.campaign(people=[ada]))
    page.locator("#flag").click()
    page.keyboard.type("Is it")
    page.locator("#questions").click(force=True)
    page.locator("#flag").click()
    expect(page.locator("dialog textarea")).to_have_value("Is it")
    expect(page.locator("dialog textarea")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    page.keyboard.press("1")
    shows(page, 2)


@pytest.mark.parametrize("dark", [False, True])
def test_nothing_to_mark_can_be_read_when_it_is_chosen(
    house: Workbench, browse: Browsing, dark: bool
) -> None:
    ada = house.person()
    name = house.campaign("semantic-errors", [ada])
    page = begin(browse(ada, dark=dark), name)
    page.keyboard.press("n")
    expect(page.locator(".tool.none")).to_have_attribute("aria-pressed", "true")
    assert violations(page) == []


def is_whole(page: Page, word: str) -> bool:
    """Whether an element of a triple stands on one line."""
    cell = page.locator(".triple .cell").filter(has_text=word).first
    lines = cell.evaluate(
        "cell => { const all = document.createRange(); all.selectNodeContents(cell);"
        " return new Set([...all.getClientRects()].map((one) => Math.round(one.top))).size; }"
    )
    return int(lines) == 1


@pytest.mark.parametrize(
    ("lang", "triple"),
    [("en", ("Hollowbrook", "constituency", "Southchester")), ("ja", ("夜鳴岳", "標高", "2115メートル"))],
)
def test_no_word_of_a_triple_is_broken_on_a_phone(
    house: Workbench, browse: Browsing, lang: str, triple: tuple[str, str, str]
) -> None:
    ada = house.person()
    given = Document("p0", (Segment.triple("t1", *triple), Segment("text", "text", "x")), lang)
    page = begin(browse(ada, lang=lang, width=NARROW), house.campaign("semantic-errors", [ada], [given]))
    assert all(is_whole(page, word) for word in triple)


def test_marks_are_called_by_their_names_where_one_decides(house: Workbench, browse: Browsing) -> None:
    ada, bob, mori = house.person(), house.person("Bob"), house.person("Mori", "manager", language="ja")
    name = house.campaign("semantic-errors", [ada, bob], documents("semantic-errors", "ja")[:1], per_unit=2)
    for person, spans in ((ada, [Span("t1", 0, 4, "omission")]), (bob, [])):
        house.store.assignment.next_units(person.id, name)
        says(house, person, name, 1, {"errors": spans})
    page = browse(mori, lang="ja")
    page.goto(f"/c/{name}/decide/1?only=all")
    expect(page.locator("mark .tag")).to_have_text("欠落")
    expect(page.locator(".house-nav [aria-current]")).to_have_text("裁定")
    page.goto(f"/c/{name}/units")
    expect(page.locator(".voters").first).to_contain_text("印なし")


TOPICS = """
scheme: topics
version: "1"
title: {en: "Topics", ja: "話題"}
summary: {en: "What it is about.", ja: "何の話かを答えます。"}
unit: {role: system, context: all}
questions:
  - id: topics
    kind: labels
    at_least: 0
    name: {en: "Topics", ja: "話題"}
    ask: {en: "What is it about?", ja: "何の話ですか。"}
    labels:
      - {id: food, name: {en: "Food", ja: "食べ物"}, definition: {en: "About food.", ja: "食べ物の話。"}}
      - {id: work, name: {en: "Work", ja: "仕事"}, definition: {en: "About work.", ja: "仕事の話。"}}
"""


@pytest.mark.parametrize(
    ("lang", "nothing", "food"), [("en", "no label chosen", "Food"), ("ja", "該当なし", "食べ物")]
)
def test_an_answer_without_labels_is_said_in_words_of_labels(
    house: Workbench, browse: Browsing, lang: str, nothing: str, food: str
) -> None:
    ada, bob, mori = house.person(), house.person("Bob"), house.person("Mori", "manager")
    scheme, problems = check_scheme(TOPICS, "topics.yaml")
    assert scheme is not None, problems
    name = f"topics-{lang}"
    plan = Plan(name=name, scheme="topics", who="named", people=(ada.name, bob.name), per_unit=2)
    house.store.campaigns.create(plan, scheme)
    house.store.campaigns.add_documents(name, [chat("d0", 1)])
    for person, answer in ((ada, ()), (bob, ("food",))):
        house.store.assignment.next_units(person.id, name)
        says(house, person, name, 1, {"topics": answer})
    page = browse(mori, lang=lang)
    page.goto(f"/c/{name}/decide/1?only=all")
    expect(page.locator(".groups p[dir]").filter(has_text=nothing)).to_have_count(1)
    page.goto(f"/c/{name}/units")
    expect(page.locator(".voters b")).to_have_text([nothing, food])
    page = browse(ada, lang=lang)
    page.goto(f"/c/{name}")
    expect(page.locator(".judgments .said li")).to_have_text([nothing])


def test_rows_and_cards_begin_where_the_others_do(house: Workbench, browse: Browsing) -> None:
    ada, bob, mori = house.person(), house.person("Bob"), house.person("Mori", "manager")
    name = house.campaign(people=[ada, bob], documents=[chat("d0", 1)], per_unit=2)
    for person, label in ((ada, "O"), (bob, "X")):
        house.store.assignment.next_units(person.id, name)
        says(house, person, name, 1, {"breakdown": label})
    page = browse(mori)
    page.goto(f"/c/{name}/insight/disputed")
    row = page.locator(".disputes > li").first
    assert left(row.locator(".where a").first) == left(row.locator(".text"))
    page.set_viewport_size({"width": NARROW, "height": 740})
    page.goto(f"/c/{name}")
    cells = page.locator(".as-cards tbody tr").first.locator("th, td")
    assert len({left(cell) for cell in cells.all()}) == 1
    starts = cells.evaluate_all("cells => cells.map((cell) => getComputedStyle(cell).paddingInlineStart)")
    assert set(starts) == {"0px"}


def test_the_bar_takes_two_lines_of_a_phone(house: Workbench, browse: Browsing) -> None:
    mori = house.person("Mori", "manager")
    name = house.campaign(title={"ja": "とても長い題名のキャンペーンとその続きの言葉"})
    page = browse(mori, lang="ja", width=NARROW)
    for path in ("/", f"/c/{name}/units", "/people"):
        page.goto(path)
        expect(page.locator("#help")).to_be_visible()
        tops = page.locator(".top .brand, .top .language, .top #help").evaluate_all(
            "all => all.map((one) => { const box = one.getBoundingClientRect(); return (box.top + box.bottom) / 2; })"
        )
        assert max(tops) - min(tops) < 4, path
        assert page.locator(".top").evaluate("bar => bar.clientHeight") < 90, path


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_the_pages_of_a_campaign_begin_at_one_line_and_cut_nothing_off(
    house: Workbench, browse: Browsing, width: int
) -> None:
    ada, mori = house.person(), house.person("Mori", "manager")
    name = house.campaign(people=[ada])
    house.store.assignment.next_units(ada.id, name)
    says(house, ada, name, 1, {"breakdown": "O"})
    page, starts = browse(mori, width=width), set()
    for path in ("", "/insight", "/units", "/judges", "/manage", "/log", "/exports"):
        page.goto(f"/c/{name}{path}")
        starts.add(left(page.locator(".house-nav")))
        hidden = page.locator(".scroll").evaluate_all(
            "all => all.filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth).length"
        )
        assert hidden == 0, path
    assert len(starts) == 1


def test_a_part_of_the_overview_is_a_page_of_its_own(house: Workbench, browse: Browsing) -> None:
    name = house.campaign(title={"en": "Spring"})
    page = browse(house.person("Mori", "manager"))
    page.goto(f"/c/{name}/insight/annotators")
    expect(page.locator("h1")).to_have_text("Spring")
    assert violations(page) == []
