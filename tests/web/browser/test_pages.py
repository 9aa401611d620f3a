"""Every page: usable by everybody, in both languages, light and dark, on a phone and on a computer."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from playwright.sync_api import Page, expect

from lapsus.model import Answer
from lapsus.store import SaveRequest
from lapsus.store.plan import Completion
from tests.web.browser.house import NARROW, WIDE, Browsing, Someone, Workbench, scrolls_sideways, violations
from tests.web.helpers import ANSWERS, PASSWORD, chat, new_key

Place = tuple[Someone | None, str]

LOOKS = [("en", False, WIDE), ("ja", True, NARROW)]
"""Both languages, light and dark, on both widths."""


def judge_all(house: Workbench, person: Someone, campaign: str, *, submitted: bool = True) -> None:
    answers = msgspec.convert(ANSWERS[house.store.campaigns.get(campaign).scheme], dict[str, Answer])
    while getattr(given := house.store.assignment.next_units(person.id, campaign), "units", ()):
        for unit in given.units:
            house.store.saves.save(
                SaveRequest(new_key(), campaign, unit.number, person.id, answers, submitted=submitted)
            )
        if not submitted:
            return


def sign_in(house: Workbench) -> Place:
    return None, "/sign-in?next=/c/x"


def join(house: Workbench) -> Place:
    return None, f"/join/{house.store.access.invite('manager')}"


def join_open(house: Workbench) -> Place:
    name = house.campaign(who="open")
    return None, f"/join/{house.store.access.invite(campaign=name, uses=None)}"


def join_with_account(house: Workbench) -> Place:
    return house.person(), f"/join/{house.store.access.invite(campaign=house.campaign())}"


def join_again(house: Workbench) -> Place:
    return house.person(), f"/join/{house.store.access.invite()}"


def home_empty(house: Workbench) -> Place:
    return house.person(), "/"


def home(house: Workbench) -> Place:
    ada = house.person()
    for scheme in ("breakdown", "semantic-errors", "response-quality"):
        name = house.campaign(scheme, [ada], title={"en": "A fine title", "ja": "すてきな題名"})
        if scheme != "breakdown":
            judge_all(house, ada, name, submitted=scheme == "semantic-errors")
    house.store.campaigns.set_state(house.campaign("breakdown", [ada]), "paused")
    return ada, "/"


def home_finished(house: Workbench) -> Place:
    ada = house.person()
    judge_all(house, ada, house.campaign(people=[ada]))
    return ada, "/"


def campaign_new(house: Workbench) -> Place:
    ada = house.person()
    return ada, f"/c/{house.campaign(people=[ada])}"


def campaign(house: Workbench) -> Place:
    ada = house.person()
    name = house.campaign("response-quality", [ada])
    judge_all(house, ada, name)
    for unit in (1, 2):
        house.store.flags.add(new_key(), name, unit, ada.id, "What is meant here?\nI cannot tell.")
    waiting, over = house.store.flags.all(name)
    house.store.flags.reply(new_key(), name, waiting.id, house.person("Mori", "manager").id, "A joke.")
    house.store.flags.set_settled(name, over.id, True)
    return ada, f"/c/{name}"


def search(house: Workbench) -> Place:
    ada = house.person()
    judge_all(house, ada, house.campaign(people=[ada]))
    return ada, "/judgments?q=turn"


def account(house: Workbench) -> Place:
    return house.person(password=PASSWORD), "/account"


def campaign_older(house: Workbench) -> Place:
    ada = house.person()
    name = house.campaign(people=[ada], documents=[chat(f"d{n}", turns=20) for n in range(3)])
    judge_all(house, ada, name)
    return ada, f"/c/{name}?before=55"


def campaign_managed(house: Workbench) -> Place:
    ada, mori = house.person(), house.person("Mori", "manager")
    name = house.campaign(people=[ada, house.person("A long name that goes on and on " * 3)])
    judge_all(house, ada, name)
    house.store.flags.add(new_key(), name, 1, ada.id, "What is meant here?")
    return mori, f"/c/{name}"


def state_done(house: Workbench) -> Place:
    ada = house.person()
    name = house.campaign(people=[ada])
    judge_all(house, ada, name)
    return ada, f"/c/{name}/judge"


def state_wait(house: Workbench) -> Place:
    ada, bob = house.person(), house.person("Bob")
    name = house.campaign(people=[ada, bob], documents=[chat("d")])
    house.store.assignment.next_units(bob.id, name)
    return ada, f"/c/{name}/judge"


def state_paused(house: Workbench) -> Place:
    ada = house.person()
    name = house.campaign(people=[ada])
    house.store.campaigns.set_state(name, "paused")
    return ada, f"/c/{name}/judge"


def state_closed(house: Workbench) -> Place:
    ada = house.person()
    name = house.campaign(people=[ada])
    house.store.campaigns.set_state(name, "closed")
    return ada, f"/c/{name}/judge"


def guideline(house: Workbench) -> Place:
    ada = house.person()
    return ada, f"/c/{house.campaign('error-types', [ada])}/guideline"


def missing(house: Workbench) -> Place:
    return None, "/none"


def used_link(house: Workbench) -> Place:
    return None, "/join/aaaaaaaaaaaaaaaaaaaa"


def _judging(scheme: str) -> Callable[[Workbench], Place]:
    def judging(house: Workbench) -> Place:
        ada = house.person()
        return ada, f"/c/{house.campaign(scheme, [ada])}/judge"

    return judging


PLACES: dict[str, Callable[[Workbench], Place]] = {
    place.__name__: place
    for place in (
        *(sign_in, join, join_open, join_with_account, join_again, home_empty, home, home_finished),
        *(campaign_new, campaign, campaign_older, campaign_managed, guideline, missing, used_link),
        *(search, account),
        *(state_done, state_wait, state_paused, state_closed),
    )
} | {scheme: _judging(scheme) for scheme in ANSWERS}


def ready(page: Page, name: str) -> None:
    """Judging pages are there when their scripts say so, all others at once."""
    if name in ANSWERS:
        page.wait_for_selector("html[data-ready]", state="attached")


@pytest.mark.parametrize("name", PLACES)
def test_everybody_can_use_it_however_it_is_shown(house: Workbench, browse: Browsing, name: str) -> None:
    person, path = PLACES[name](house)
    page = browse(person)
    cookie = house.app.state.web.cookies.name("lang")
    for lang, dark, width in LOOKS:
        page.context.add_cookies([{"name": cookie, "value": lang, "url": house.address}])
        page.emulate_media(color_scheme="dark" if dark else "light")
        page.set_viewport_size({"width": width, "height": 800})
        page.goto(path)
        ready(page, name)
        assert page.locator("html").get_attribute("lang") == lang
        assert page.locator("h1").count() == 1
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
        assert (max(paper[:3]) < 80) == dark
        assert not scrolls_sideways(page), (lang, width)
        assert violations(page) == [], (lang, dark, width)
    # English is the longer of the two. A window of 640 pixels at 200% is as wide as one of 320 in pixels of the page.
    page.context.add_cookies([{"name": cookie, "value": "en", "url": house.address}])
    page.set_viewport_size({"width": 320, "height": 400})
    page.goto(path)
    ready(page, name)
    assert not scrolls_sideways(page)


@pytest.mark.parametrize(
    "make", [home, campaign, campaign_managed, state_done, state_wait, guideline, used_link]
)
def test_every_link_leads_somewhere(
    house: Workbench, browse: Browsing, make: Callable[[Workbench], Place]
) -> None:
    person, path = make(house)
    page = browse(person)
    page.goto(path)
    links = page.locator("a[href]").evaluate_all("links => links.map(link => link.href.split('#')[0])")
    # An invitation that is used up says so in each language.
    wrong = {
        link: status for link in set(links) if (status := page.request.get(link).status) not in (200, 410)
    }
    assert len(links) > 1
    assert wrong == {}


def test_the_first_page_leads_on(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    new = house.campaign(people=[ada], title={"en": "New one"})
    done = house.campaign("semantic-errors", [ada], title={"en": "Done one"})
    judge_all(house, ada, done)
    page = browse(ada)
    # Others may have opened a campaign to everybody in the meantime.
    rows = page.locator(".campaign").filter(has_text=" one")
    expect(rows).to_have_count(2)
    expect(rows.nth(0)).to_contain_text("0 of 6 judged")
    expect(page.get_by_role("heading", name="Finished or resting")).to_be_visible()
    expect(rows.nth(1)).to_contain_text("2 of 2 judged")
    page.get_by_role("link", name="Start: New one").click()
    expect(page).to_have_url(f"{house.address}/c/{new}/u/1")
    page.goto("/")
    page.get_by_role("link", name="Continue: New one").click()
    expect(page).to_have_url(f"{house.address}/c/{new}/u/1")


def test_what_one_said_is_listed_in_words_to_be_revised(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    name = house.campaign(people=[ada], documents=[chat("d", said="said {place}")])
    judge_all(house, ada, name)
    page = browse(ada)
    page.goto(f"/c/{name}")
    items = page.locator(".judgments > li")
    expect(items).to_have_count(3)
    expect(items.nth(0)).to_contain_text("said 4")
    expect(items.nth(0)).to_contain_text("Possible breakdown")
    page.goto(f"/c/{name}?lang=ja")
    expect(items.nth(0)).to_contain_text("違和感あり")
    page.get_by_role("link", name="said 2").click()
    expect(page).to_have_url(f"{house.address}/c/{name}/u/2")


def test_older_judgments_are_a_page_away(house: Workbench, browse: Browsing) -> None:
    person, path = campaign_older(house)
    page = browse(person)
    page.goto(path.partition("?")[0])
    expect(page.locator(".judgments > li")).to_have_count(50)
    page.get_by_role("link", name="Older ones").click()
    expect(page.locator(".judgments > li")).to_have_count(10)
    expect(page.get_by_role("link", name="Older ones")).to_have_count(0)
    page.get_by_role("link", name="The newest").click()
    expect(page.locator(".judgments > li")).to_have_count(50)


def test_managers_see_everybody_and_annotators_only_themselves(house: Workbench, browse: Browsing) -> None:
    ada, bob, mori = house.person(), house.person("Bob"), house.person("Mori", "manager")
    name = house.campaign(people=[ada, bob])
    judge_all(house, ada, name)
    house.store.flags.add(new_key(), name, 1, ada.id, "ada wonders")
    page = browse(mori)
    page.goto(f"/c/{name}")
    row = page.get_by_role("row", name=ada.name)
    expect(row.get_by_role("cell").nth(0)).to_have_text("6")
    expect(page.locator("#main")).to_contain_text("ada wonders")
    page = browse(bob)
    page.goto(f"/c/{name}")
    expect(page.locator("#main")).not_to_contain_text(ada.name)
    expect(page.locator("#main")).not_to_contain_text("ada wonders")


@pytest.mark.parametrize(
    ("make", "english", "japanese"),
    [
        (state_done, "All done. Thank you!", "すべて終わりました"),
        (state_wait, "Nothing free just now", "今お渡しできるものがありません"),
        (state_paused, "A pause", "休止中です"),
        (state_closed, "This campaign is closed", "このキャンペーンは終了しました"),
    ],
)
def test_states_say_what_happens_next(
    house: Workbench, browse: Browsing, make: Callable[[Workbench], Place], english: str, japanese: str
) -> None:
    person, path = make(house)
    page = browse(person)
    page.goto(path)
    expect(page.get_by_role("heading", level=1)).to_have_text(english)
    page.get_by_role("link", name="日本語").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(japanese)
    page.get_by_role("link", name="自分の判断を見る").click()
    expect(page).to_have_url(f"{house.address}{path.removesuffix('/judge')}")


def test_a_pause_lets_one_finish_what_is_in_hand(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    name = house.campaign(people=[ada])
    house.store.assignment.next_units(ada.id, name)
    house.store.campaigns.set_state(name, "paused")
    page = browse(ada)
    page.goto(f"/c/{name}")
    expect(page.locator(".notice")).to_contain_text("paused")
    page.get_by_role("link", name="Continue judging").click()
    expect(page).to_have_url(f"{house.address}/c/{name}/u/1")


def test_a_message_stays_until_it_is_read(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    name = house.campaign(people=[ada])
    house.store.messages.send(name, "Please look at <b>unit 3</b> again.")
    page = browse(ada)
    for path in ("/", f"/c/{name}"):
        page.goto(path)
        expect(page.locator("main")).to_contain_text("Please look at <b>unit 3</b> again.")
        assert violations(page) == []
    page.locator(".message").get_by_role("button").click()
    expect(page).to_have_url(f"{house.address}/c/{name}")
    expect(page.locator(".message")).to_have_count(0)


def test_who_is_done_gets_the_code_for_the_platform(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    name = house.campaign(people=[ada], completion=Completion("C-123", "https://platform.example/done"))
    judge_all(house, ada, name)
    page = browse(ada)
    page.goto(f"/c/{name}/judge")
    expect(page.locator(".code")).to_have_text("C-123")
    way = page.get_by_role("link", name="Back to the platform")
    expect(way).to_have_attribute("href", "https://platform.example/done")
    assert violations(page) == []
