"""No answer is ever lost: no network, a server that is down, a page that is closed, two tabs, a session that ended."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, Request, Route, expect

from tests.web.browser.house import Browsing, Someone, Workbench
from tests.web.browser.judging import begin, documents, ready, said, shows

SAVES = "**/judgments"


def saved(page: Page) -> None:
    expect(page.locator("#saved")).to_have_text("saved ✓")


def waiting(page: Page, count: int) -> None:
    expect(page.locator("#saved")).to_have_text(f"waiting to send {count}")


def revisions(house: Workbench, name: str, person: Someone) -> dict[int, tuple[int, bool]]:
    found = house.store.judgments.of_person(name, person.id, limit=100)
    return {one.unit: (one.revision, one.submitted) for one in found}


def test_offline_and_back(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    name = house.campaign(people=[ada], documents=documents("breakdown", "en"))
    page = begin(browse(ada, watched=False), name)
    page.context.set_offline(True)
    page.keyboard.press("3")
    waiting(page, 1)
    assert said(house, name, ada) == {}
    page.context.set_offline(False)
    shows(page, 2)
    saved(page)
    assert said(house, name, ada) == {1: {"breakdown": "X"}}


def test_saved_is_said_only_once_it_is(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    name = house.campaign("error-types", [ada], documents("error-types", "en"))
    page = begin(browse(ada), name)
    held: list[Route] = []
    page.route(SAVES, lambda route: held.append(route))
    with page.expect_request(SAVES):
        page.keyboard.press("5")
        expect(page.locator("#saved")).to_have_text("saving …")
    page.wait_for_timeout(100)
    expect(page.locator("#saved")).to_have_text("saving …")
    assert len(held) == 1
    held[0].continue_()
    saved(page)
    assert revisions(house, name, ada) == {1: (1, False)}


def test_answers_outlive_the_page(house: Workbench, browse: Browsing) -> None:
    """A reload with waiting answers shows them, and they are sent from whichever page is there."""
    ada = house.person()
    name = house.campaign("error-types", [ada], documents("error-types", "en"))
    page = begin(browse(ada, watched=False), name)
    page.route(SAVES, lambda route: route.abort())
    page.keyboard.press("5")
    page.keyboard.press("6")
    page.keyboard.press("Enter")
    # One, or two where the keys came so slowly that a draft was tried in between.
    expect(page.locator("#saved")).to_contain_text("waiting to send")
    ready_again = page.reload()
    assert ready_again is not None
    ready(page)
    expect(page.locator('[data-label="ignore-question"]')).to_have_attribute("aria-checked", "true")
    expect(page.locator("#saved")).to_contain_text("waiting to send")
    page.goto("/")
    expect(page.locator(".top")).to_contain_text("waiting to send")
    page.unroute(SAVES)
    page.evaluate("dispatchEvent(new Event('online'))")  # else the next try is a while away
    expect(page.locator(".top")).to_contain_text("saved ✓")
    assert said(house, name, ada) == {1: {"types": ["ignore-question", "ignore-request"]}}
    assert revisions(house, name, ada)[1][1] is True


def test_an_answer_sent_twice_is_kept_once(house: Workbench, browse: Browsing) -> None:
    """The server has it, but its word never arrives: sent again with the same key, it is the same answer."""
    ada = house.person()
    name = house.campaign(people=[ada], documents=documents("breakdown", "en"))
    page = begin(browse(ada, watched=False), name)
    keys: list[str] = []

    def lose_the_first(route: Route, request: Request) -> None:
        keys.append(str(request.post_data_json["key"]))  # type: ignore[index]
        if len(keys) > 1:
            return route.continue_()
        route.fetch()
        return route.abort()

    page.route(SAVES, lose_the_first)
    page.keyboard.press("1")
    shows(page, 2)
    assert len(keys) == 2
    assert keys[0] == keys[1]
    assert revisions(house, name, ada) == {1: (1, True)}


def test_networks_that_answer_in_the_servers_place_lose_nothing(house: Workbench, browse: Browsing) -> None:
    """Pages of hotels and proxies, sound JSON of somebody else, slow ways: the answer waits, and is sent once."""
    ada = house.person()
    name = house.campaign(people=[ada], documents=documents("breakdown", "en"))
    page = begin(browse(ada, watched=False), name)
    strange = [
        (200, "<html>Welcome to the hotel</html>"),
        (201, "{}"),
        (201, "null"),
        (403, '{"error": "blocked"}'),
        (408, '{"reason": "too-slow", "message": "slow"}'),
    ]

    def answer(route: Route) -> None:
        if not strange:
            return route.continue_()
        status, body = strange.pop(0)
        return route.fulfill(status=status, body=body, content_type="application/json")

    page.route(SAVES, answer)
    page.keyboard.press("1")
    while strange:
        left = len(strange)
        page.evaluate("dispatchEvent(new Event('online'))")
        page.wait_for_timeout(50 if len(strange) < left else 200)
        expect(page.locator('[data-notice="refused"]')).to_have_count(0)
    page.evaluate("dispatchEvent(new Event('online'))")
    shows(page, 2)
    saved(page)
    assert revisions(house, name, ada) == {1: (1, True)}


def test_the_server_goes_and_comes_back(own: tuple[Workbench, Browsing]) -> None:
    bench, browse = own
    ada = bench.person()
    name = bench.campaign("error-types", [ada], documents("error-types", "en"))
    page = begin(browse(ada, watched=False), name)
    page.keyboard.press("5")
    saved(page)
    bench.stop()
    page.keyboard.press("6")
    waiting(page, 1)
    page.keyboard.press("8")
    page.keyboard.press("Enter")
    page.wait_for_timeout(300)
    bench.start()
    page.evaluate("dispatchEvent(new Event('online'))")
    shows(page, 2)
    saved(page)
    assert said(bench, name, ada) == {1: {"types": ["ignore-question", "ignore-request", "ignore-greeting"]}}


def test_two_tabs_the_newer_answer_counts_and_both_say_so(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    name = house.campaign("error-types", [ada], documents("error-types", "en"))
    first = begin(browse(ada), name)
    second = first.context.new_page()
    second.goto(first.url)
    ready(second)
    first.keyboard.press("5")
    saved(first)
    expect(second.locator('[data-notice="elsewhere"]')).to_be_visible()
    second.keyboard.press("6")
    expect(second.locator('[data-notice="replaced"]')).to_contain_text("revision 1")
    expect(first.locator('[data-notice="elsewhere"]')).to_be_visible()
    first.locator('[data-notice="elsewhere"] button').click()
    expect(first.locator('[data-label="ignore-request"]')).to_have_attribute("aria-checked", "true")
    expect(first.locator('[data-label="ignore-question"]')).to_have_attribute("aria-checked", "false")
    assert revisions(house, name, ada) == {1: (2, False)}


def test_own_answers_never_count_as_somebody_elses(house: Workbench, browse: Browsing) -> None:
    """Drafts and the final answer of one page build on each other, however fast they come."""
    ada = house.person()
    name = house.campaign("error-types", [ada], documents("error-types", "en"))
    page = begin(browse(ada), name)
    for key in ("5", "6", "8", "Enter"):
        with page.expect_response(lambda one: one.status == 201) as answer:
            page.keyboard.press(key)
        assert answer.value.json()["replaced"] is None
    shows(page, 2)


def test_a_session_that_ended_costs_nothing(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    name = house.campaign(people=[ada], documents=documents("breakdown", "en"))
    page = begin(browse(ada, watched=False), name)
    page.context.clear_cookies()
    page.keyboard.press("2")
    notice = page.locator('[data-notice="sign-in"]')
    expect(notice).to_be_visible()
    waiting(page, 1)
    # Signed in again in another tab: this one goes on by itself, with a new token.
    other = page.context.new_page()
    other.goto(ada.link)
    page.evaluate("dispatchEvent(new Event('online'))")
    shows(page, 2)
    expect(notice).to_be_hidden()
    assert said(house, name, ada) == {1: {"breakdown": "T"}}


def test_somebody_elses_answers_are_not_sent_in_my_name(house: Workbench, browse: Browsing) -> None:
    ada, bob = house.person("Ada"), house.person("Bob")
    name = house.campaign(people=[ada, bob], documents=documents("breakdown", "en"), per_unit=2)
    page = begin(browse(ada, watched=False), name)
    page.route(SAVES, lambda route: route.abort())
    page.keyboard.press("2")
    waiting(page, 1)
    # Another page of the same browser: what the first one tried last must not go out in between.
    adas, page = page, page.context.new_page()
    adas.close()
    page.context.clear_cookies()
    page.goto(bob.link)
    begin(page, name)
    page.wait_for_timeout(200)
    assert said(house, name, bob) == {}
    expect(page.locator("#saved")).to_have_text("")
    page.goto(ada.link)
    expect(page.locator(".top")).to_contain_text("saved ✓")
    assert said(house, name, ada) == {1: {"breakdown": "T"}}


def test_what_the_server_cannot_accept_is_kept_and_said(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    name = house.campaign(people=[ada], documents=documents("breakdown", "en"))
    page = begin(browse(ada, watched=False), name)
    house.store.campaigns.set_state(name, "closed")
    page.keyboard.press("1")
    notice = page.locator('[data-notice="refused"]')
    expect(notice).to_contain_text("The campaign is closed")
    page.reload()
    ready(page)
    expect(notice).to_contain_text("It is kept here.")
    notice.get_by_role("button").click()
    expect(notice).to_have_count(0)


def test_undo_redo_and_the_way_back(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    name = house.campaign("error-types", [ada], documents("error-types", "en"))
    page = begin(browse(ada), name)
    five, six = page.locator('[data-label="ignore-question"]'), page.locator('[data-label="ignore-request"]')
    page.keyboard.press("5")
    page.keyboard.press("6")
    page.keyboard.press("u")
    expect(six).to_have_attribute("aria-checked", "false")
    page.keyboard.press("u")
    expect(five).to_have_attribute("aria-checked", "false")
    page.keyboard.press("r")
    page.keyboard.press("r")
    expect(six).to_have_attribute("aria-checked", "true")
    saved(page)
    page.reload()
    ready(page)
    expect(six).to_have_attribute("aria-checked", "true")
    assert revisions(house, name, ada)[1][1] is False


def test_what_was_ticked_as_the_page_closes_is_there_again(house: Workbench, browse: Browsing) -> None:
    """Saved is not said of what has just changed, and a page that goes at once takes nothing with it."""
    ada = house.person()
    name = house.campaign("error-types", [ada], documents("error-types", "en"))
    page = begin(browse(ada, watched=False), name)
    five, six = page.locator('[data-label="ignore-question"]'), page.locator('[data-label="ignore-request"]')
    page.keyboard.press("5")
    saved(page)
    said_and_gone = """() => {
      document.dispatchEvent(new KeyboardEvent("keydown", { key: "6", code: "Digit6", bubbles: true }));
      const said = document.getElementById("saved").textContent;
      // As if the storage had no time: the browser ends what it was about to do when the page goes.
      IDBDatabase.prototype.transaction = () => { throw new Error("the page is gone"); };
      dispatchEvent(new Event("pagehide"));
      return said;
    }"""
    assert page.evaluate(said_and_gone) == "saving …"
    page.goto("about:blank")
    page.go_back()
    ready(page)
    expect(five).to_have_attribute("aria-checked", "true")
    expect(six).to_have_attribute("aria-checked", "true")
    saved(page)
    assert revisions(house, name, ada) == {1: (2, False)}
    assert page.evaluate("Object.keys(localStorage).filter((name) => name.includes('aside'))") == []


def test_a_mis_hit_is_one_key_away(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    name = house.campaign(people=[ada], documents=documents("breakdown", "en"))
    page = begin(browse(ada), name)
    page.keyboard.press("3")
    shows(page, 2)
    page.keyboard.press("u")
    shows(page, 1)
    expect(page.locator('[data-label="X"]')).to_have_attribute("aria-checked", "true")
    expect(page.locator("[data-notice=undo]")).to_contain_text("a draft again")
    expect(page.locator("#progress")).to_contain_text("0 ")
    saved(page)
    assert said(house, name, ada) == {}
    assert house.store.progress.of_campaign(name).done == 0
    page.keyboard.press("1")
    shows(page, 2)
    expect(page.locator(".mark")).to_have_text("○")
    assert said(house, name, ada) == {1: {"breakdown": "O"}}
    assert revisions(house, name, ada)[1] == (3, True)


def test_time_is_recorded_without_pauses(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    name = house.campaign(people=[ada], documents=documents("breakdown", "en"))
    page = browse(ada)
    page.clock.install()
    begin(page, name)
    sent: list[float] = []

    def note(request: Request) -> None:
        if request.method == "POST":
            sent.append(json.loads(request.post_data or "")["seconds"])

    page.on("request", note)
    page.clock.fast_forward(20_000)
    page.mouse.move(100, 100)
    page.clock.fast_forward(3_600_000)
    page.keyboard.press("1")
    shows(page, 2)
    assert len(sent) == 1
    assert 80 <= sent[0] < 140


def test_a_flag_goes_to_the_discussion(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    name = house.campaign(people=[ada], documents=documents("breakdown", "en"))
    page = begin(browse(ada), name)
    page.keyboard.press("f")
    page.keyboard.type("Who speaks first?")
    page.keyboard.press("Control+Enter")
    expect(page.locator('[data-notice="flag"]')).to_be_visible()
    saved(page)
    assert [(flag.unit, flag.text) for flag in house.store.flags.all(name)] == [(1, "Who speaks first?")]


@pytest.mark.parametrize(
    "fault",
    [
        """async () => { for (const { name } of await indexedDB.databases()) await new Promise((done) => {
             const request = indexedDB.deleteDatabase(name); request.onsuccess = request.onerror = done; }); }""",
        "() => { IDBObjectStore.prototype.put = function () { this.transaction.abort(); }; }",
    ],
    ids=["cleared", "full"],
)
def test_answers_arrive_though_the_browser_keeps_nothing(
    house: Workbench, browse: Browsing, fault: str
) -> None:
    """Somebody clears what sites keep, or the disk is full, while the page is open."""
    ada = house.person()
    name = house.campaign(people=[ada], documents=documents("breakdown", "en"))
    page = begin(browse(ada), name)
    page.evaluate(fault)
    for unit, key in ((1, "3"), (2, "1")):
        shows(page, unit)
        page.keyboard.press(key)
    shows(page, 3)
    saved(page)
    assert said(house, name, ada) == {1: {"breakdown": "X"}, 2: {"breakdown": "O"}}
