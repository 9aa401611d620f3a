"""What a judging page shows and what it never does; usable by everybody, small, and safe from documents."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from lapsus.model import Document, Segment
from lapsus.store import Chain, SaveRequest
from tests.web.browser.house import NARROW, WIDE, Browsing, Workbench, scrolls_sideways, violations
from tests.web.browser.judging import begin, documents, ready, said, shows, type_at_once
from tests.web.helpers import ANSWERS, chat, new_key

SCHEMES = ["breakdown", "error-types", "response-quality", "semantic-errors"]
LOOKS = [("en", False, WIDE), ("ja", True, NARROW)]
SMALL_PAGE = 100_000
HOSTILE = (
    "</script><script>window.hit=1</script><img src=x onerror=window.hit=1>{{7*7}}"
    "<b style='color:red'>\u2028\"'&lt;"
)


def work(page: Page, scheme: str) -> None:
    """Answer something, so that the page is seen in use."""
    keys = {
        "breakdown": ["c"],
        "error-types": ["7", "4", "w"],
        "response-quality": ["4", "/"],
        "semantic-errors": ["n"],
    }
    for key in keys[scheme]:
        page.keyboard.press(key)
    if scheme == "semantic-errors":
        page.locator(".tokens").first.focus()
        page.keyboard.press("o")
        page.locator("p.tokens").focus()
        page.keyboard.press("a")
        page.keyboard.press("r")
        page.keyboard.press("t")


@pytest.mark.parametrize(("language", "dark", "width"), LOOKS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_for_everybody(
    house: Workbench, browse: Browsing, scheme: str, language: str, dark: bool, width: int
) -> None:
    """No violation that axe can find and no scrolling sideways, before and while one works."""
    ada = house.person(language=language)
    name = house.campaign(scheme, [ada], documents(scheme, language))
    page = begin(browse(ada, lang=language, dark=dark, width=width), name)
    assert not scrolls_sideways(page)
    work(page, scheme)
    assert violations(page) == []
    assert not scrolls_sideways(page)
    page.set_viewport_size({"width": 320, "height": 256})
    assert not scrolls_sideways(page)


def test_the_windows_over_the_page_are_for_everybody(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    page = begin(browse(ada, width=NARROW), house.campaign("error-types", [ada], documents("x", "en")))
    for key in ("?", "g", "f"):
        page.locator("main").focus()
        page.keyboard.press(key)
        expect(page.locator("dialog")).to_be_visible()
        assert violations(page) == []
        assert not scrolls_sideways(page)
        page.keyboard.press("Escape")
        expect(page.locator("dialog")).to_have_count(0)


def test_later_turns_are_nowhere(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    name = house.campaign(people=[ada], documents=[chat("d0", 3, "said-{place}-here")])
    page = browse(ada)
    bodies: list[str] = []
    page.on(
        "response", lambda answer: bodies.append(answer.text()) if "/c/" in answer.url and answer.ok else None
    )
    begin(page, name)
    for place in range(0, 5, 2):
        everything = (
            page.content() + page.evaluate("JSON.stringify(performance.getEntries())") + "".join(bodies)
        )
        assert f"said-{place}-here" in everything
        for later in range(place + 1, 5):
            assert f"said-{later}-here" not in everything
        page.keyboard.press("1")
        if place < 4:
            shows(page, place // 2 + 2)
    page.wait_for_url("**/judge")


def test_nothing_in_a_document_can_run(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    turns = (Segment("0", "system", HOSTILE), Segment("1", "user", HOSTILE), Segment("2", "system", HOSTILE))
    name = house.campaign(people=[ada], documents=[Document(HOSTILE[:50], turns, "en")])
    page = begin(browse(ada), name)
    page.keyboard.press("1")
    shows(page, 2)
    assert page.locator(".said").all_text_contents() == [HOSTILE] * 3
    assert page.locator("#document img, #document script, #document b").count() == 0
    assert page.evaluate("window.hit") is None


def test_nothing_in_marked_texts_can_run(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    triple = Segment.triple('"]<i>', HOSTILE, "<b>p</b>", "{{7*7}}")
    name = house.campaign(
        "semantic-errors", [ada], [Document("d", (triple, Segment("x", "text", HOSTILE)), "en")]
    )
    page = begin(browse(ada), name)
    page.locator(".tokens").first.focus()
    page.keyboard.press("Shift+O")
    page.locator("p.tokens").focus()
    page.keyboard.press("a")
    expect(page.locator(".marks li")).to_have_count(4)
    assert page.locator("main img, main i, main script").count() == 0
    assert page.evaluate("window.hit") is None


@pytest.mark.parametrize(
    ("scheme", "language"),
    [("breakdown", "en"), ("error-types", "ja"), ("response-quality", "ja"), ("semantic-errors", "en")],
)
def test_a_page_is_small(house: Workbench, browse: Browsing, scheme: str, language: str) -> None:
    """Everything that the first visit fetches, as it goes over the wire."""
    ada = house.person(language=language)
    name = house.campaign(scheme, [ada], documents(scheme, language))
    page = browse(ada, lang=language)
    page.goto("about:blank")
    wire = page.context.new_cdp_session(page)
    wire.send("Network.enable")
    wire.send("Network.setCacheDisabled", {"cacheDisabled": True})
    sizes: list[float] = []
    wire.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    begin(page, name)
    page.wait_for_load_state("networkidle")
    assert len(sizes) > 15
    assert sum(sizes) < SMALL_PAGE, sum(sizes)


def test_it_can_be_read_without_script(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    name = house.campaign("semantic-errors", [ada], documents("semantic-errors", "en"))
    page = browse(ada, java_script_enabled=False)
    page.goto(f"/c/{name}/judge")
    assert page.locator(".triple .cell").all_inner_texts() == ["Ida Vale", "birthPlace", "Orsk"] * 2
    assert page.locator(".said").inner_text() == "ida vale was born long ago"
    assert "needs JavaScript" in page.content()


def test_drawn_alike_by_server_and_script(house: Workbench, browse: Browsing) -> None:
    """The page does not move when its script takes over."""
    ada = house.person()
    name = house.campaign(people=[ada], documents=[chat("d0")])
    house.store.assignment.next_units(ada.id, name)
    plain, live = browse(ada, java_script_enabled=False), browse(ada)
    for page in (plain, live):
        page.goto(f"/c/{name}/u/1")
    ready(live)
    boxes = [page.locator(".turn.target").bounding_box() for page in (plain, live)]
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert boxes[0]["y"] == boxes[1]["y"]


def test_moving_about(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    docs = [Document(f"d{n}", (Segment("0", "system", f"hello {n}"),), "en") for n in range(4)]
    name = house.campaign("error-types", [ada], docs, batch=4)
    page = begin(browse(ada), name)
    page.keyboard.press("j")
    shows(page, 2)
    page.keyboard.press("ArrowRight")
    shows(page, 3)
    page.keyboard.press("k")
    shows(page, 2)
    page.keyboard.press("5")
    page.keyboard.press("Enter")
    shows(page, 3)
    page.click("#previous")
    shows(page, 2)
    page.click("#previous")
    shows(page, 1)
    page.locator("#only-open input").check()
    page.click("#next")
    shows(page, 3)
    page.go_back()
    shows(page, 1)
    page.keyboard.press("/")
    page.keyboard.type("4")
    page.keyboard.press("Enter")
    shows(page, 4)
    assert page.url.endswith("/u/4")
    page.click("a.language")
    ready(page)
    assert page.url.endswith("/u/4?lang=ja")


def test_a_unit_that_is_not_there(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    name = house.campaign("error-types", [ada], documents("x", "en"))
    page = begin(browse(ada, watched=False), name)
    page.locator("#jump-to").fill("99")
    page.keyboard.press("Enter")
    expect(page.locator('[data-notice="travel"]')).to_have_text("The campaign has no such unit.")
    shows(page, 1)


def test_what_a_choice_rules_out_is_said(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    name = house.campaign("error-types", [ada], documents("x", "en"))
    page = begin(browse(ada), name)
    reason, four = page.locator(".reason"), page.locator('[data-label="wrong-information"]')
    page.keyboard.press("4")
    expect(reason).to_have_text("4 Wrong information stands alone: it rules out all others.")
    expect(page.locator(".choice.ruled")).to_have_count(16)
    page.keyboard.press("7")
    expect(reason).to_contain_text("choose it or the others (7 Ignore proposal). Choose 7 again")
    expect(four).to_have_attribute("aria-checked", "true")
    page.keyboard.press("7")
    expect(four).to_have_attribute("aria-checked", "false")
    type_at_once(page, "10")
    expect(reason).to_have_text(
        "Ruled out: 1, 2, 3, 4, for each of these stands alone. "
        "10 Unclear intention rules out 11 Topic transition error, 12 Lack of information."
    )
    expect(page.locator("#guide h3").first).to_have_text("10 Unclear intention")
    page.keyboard.press("Enter")
    shows(page, 2)
    assert said(house, name, ada) == {1: {"types": ["ignore-proposal", "unclear-intention"]}}


def test_one_alone_after_a_moment(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    page = begin(browse(ada), house.campaign("error-types", [ada], documents("x", "en")))
    page.keyboard.press("1")
    expect(page.locator(".typed:visible")).to_have_text("1…")
    expect(page.locator('[data-label="uninterpretable"]')).to_have_attribute("aria-checked", "true")


def test_step_by_step(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    page = begin(browse(ada), house.campaign("error-types", [ada], documents("x", "en")))
    page.keyboard.press("w")
    expect(page.locator(".walk-asked")).to_have_text("1 Uninterpretable: does it fit?")
    for _ in range(4):
        page.keyboard.press("n")
    page.keyboard.press("y")
    expect(page.locator(".walk-asked")).to_have_text("6 Ignore request: does it fit?")
    expect(page.locator('[data-label="ignore-question"]')).to_have_attribute("aria-checked", "true")
    for _ in range(12):
        page.keyboard.press("n")
    expect(page.locator(".walk-asked")).to_have_text("These were all.")


def test_the_calculator_fills_in_and_stays_open_to_correction(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    page = begin(browse(ada), house.campaign("response-quality", [ada], documents("x", "en")))
    row = page.locator('[data-question="completeness"]')
    row.locator("summary").click()
    row.locator("input").nth(0).fill("3")
    row.locator("input").nth(1).fill("2")
    expect(row.locator("output")).to_have_text("2 / 3 × 5 = 3.33 → 3")
    expect(row.locator("[aria-checked=true]")).to_have_text("3")
    row.locator(".level").nth(3).click()
    expect(row.locator("[aria-checked=true]")).to_have_text("4")
    row.locator(".level").nth(0).hover()
    expect(row.locator(".meaning")).to_contain_text("1: Less than 30 %")


@pytest.mark.parametrize(
    ("lang", "votes"),
    [("en", "Votes: Not a breakdown 1 · Breakdown 1"), ("ja", "投票: 破綻ではない 1 · 明らかな破綻 1")],
)
def test_votes_are_shown_by_name_where_the_plan_says_so(
    house: Workbench, browse: Browsing, lang: str, votes: str
) -> None:
    ada, bob, eve = house.person(), house.person("Bob"), house.person("Eve")
    first = house.campaign(people=[bob, eve], documents=[chat("d0", 1)], per_unit=2)
    for person, label in ((bob, "X"), (eve, "O")):
        house.store.assignment.next_units(person.id, first)
        house.store.saves.save(SaveRequest(new_key(), first, 1, person.id, {"breakdown": label}))
    name = house.campaign("error-types", [ada], chain=Chain(first), show_votes=True)
    page = begin(browse(ada, lang=lang), name)
    expect(page.locator(".votes")).to_have_text(votes)
    plain = browse(ada, lang=lang, java_script_enabled=False)
    plain.goto(page.url)
    expect(plain.locator(".votes")).to_have_text(votes)


def test_a_turn_without_scripts_has_the_same_mark(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    name = house.campaign(people=[ada], documents=[chat("d0", 2)])
    page = begin(browse(ada), name)
    page.keyboard.press("2")
    shows(page, 2)
    expect(page.locator("a.mark")).to_have_text("△")
    plain = browse(ada, java_script_enabled=False)
    plain.goto(f"/c/{name}/u/2")
    expect(plain.locator("a.mark")).to_have_text("△")


def test_earlier_turns_say_which_question_was_answered(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    name = house.campaign("response-quality", [ada], [chat("d0", 2)])
    house.store.assignment.next_units(ada.id, name)
    house.store.saves.save(SaveRequest(new_key(), name, 1, ada.id, ANSWERS["response-quality"]))
    page = browse(ada)
    page.goto(f"/c/{name}/u/2")
    ready(page)
    expect(page.locator("a.mark")).to_have_text("Dialogue act Yes")
    expect(page.locator("a.mark")).to_have_attribute("title", "You judged: Dialogue act: Yes")
    plain = browse(ada, java_script_enabled=False)
    plain.goto(f"/c/{name}/u/2")
    expect(plain.locator("a.mark")).to_have_text("Dialogue act Yes")


def test_a_manager_looks_and_changes_nothing(house: Workbench, browse: Browsing) -> None:
    ada, mori = house.person(), house.person("Mori", "manager")
    name = house.campaign("error-types", [ada], documents("x", "en"))
    page = browse(mori)
    page.goto(f"/c/{name}/u/1")
    ready(page)
    expect(page.locator('[data-notice="state"]')).to_contain_text("not yours")
    page.keyboard.press("5")
    page.keyboard.press("Enter")
    expect(page.locator(".choice[aria-checked=true]")).to_have_count(0)
    expect(page.locator(".foot .primary")).to_be_disabled()
