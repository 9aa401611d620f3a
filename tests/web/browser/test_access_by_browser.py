"""Getting in and out in a real browser, and what neither names nor documents nor other sites can do there."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from lapsus.model import Document, Segment
from lapsus.store import SaveRequest
from lapsus.web.security import RateLimit
from tests.web.browser.house import Browsing, Workbench
from tests.web.helpers import PASSWORD, new_key

HOSTILE = (
    "</script></textarea><script>window.hacked=1</script><img src=x onerror=window.hacked=1>{{ 7*7 }}&lt;"
)


def sign_in(page: Page, name: str, password: str, words: tuple[str, str, str]) -> None:
    label_name, label_password, button = words
    page.get_by_label(label_name).fill(name)
    page.get_by_label(label_password).fill(password)
    page.get_by_role("main").get_by_role("button", name=button).click()


ENGLISH = ("Name", "Password", "Sign in")
JAPANESE = ("名前", "パスワード", "サインイン")


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
@pytest.mark.parametrize(
    ("lang", "words", "wrong"),
    [
        ("en", ENGLISH, "do not go together"),
        ("ja", JAPANESE, "名前とパスワードの組み合わせが違うようです"),
    ],
)
def test_sign_in_wrong_then_right_leads_where_one_wanted(
    house: Workbench, browse: Browsing, lang: str, words: tuple[str, str, str], wrong: str, scripts: bool
) -> None:
    ada = house.person(password=PASSWORD)
    name = house.campaign(people=[ada])
    page = browse(lang=lang, java_script_enabled=scripts)
    page.goto(f"/c/{name}")
    expect(page).to_have_url(f"{house.address}/sign-in?next=/c/{name}")
    sign_in(page, ada.name, "not it", words)
    expect(page.get_by_role("alert")).to_contain_text(wrong)
    expect(page.get_by_label(words[0])).to_have_value(ada.name)
    expect(page.get_by_label(words[1])).to_have_value("")
    sign_in(page, ada.name, PASSWORD, words)
    expect(page).to_have_url(f"{house.address}/c/{name}")


def test_after_signing_out_nothing_is_left_on_the_way_back(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    page = browse(ada)
    expect(page.get_by_role("heading", name="Nothing for you yet")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_url(f"{house.address}/sign-in")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    expect(page.locator("body")).not_to_contain_text(ada.name)


def test_guessing_is_slowed_down_in_words(
    house: Workbench, browse: Browsing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(house.app.state.web, "by_name", RateLimit("name", 2, 300))
    ada = house.person(password=PASSWORD)
    page = browse()
    page.goto("/sign-in")
    for _ in range(2):
        sign_in(page, ada.name, "a guess", ENGLISH)
        expect(page.get_by_role("alert")).to_contain_text("do not go together")
    sign_in(page, ada.name, PASSWORD, ENGLISH)
    expect(page.get_by_role("alert")).to_contain_text("wait five minutes")
    page.get_by_role("link", name="日本語").click()
    sign_in(page, ada.name, PASSWORD, JAPANESE)
    expect(page.get_by_role("alert")).to_contain_text("5分ほど待ってから")


def test_the_first_manager_comes_by_a_link_that_works_once(tmp_path: Path, chrome: Browser) -> None:
    with Workbench(tmp_path) as house:
        browse = Browsing(chrome, house)
        link = f"/join/{house.store.access.invite('manager')}"
        page = browse()
        page.goto(link)
        expect(page.locator("main")).to_contain_text("your account as a manager")
        page.get_by_label("Your name").fill("Mori")
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_label("Password once more").fill("something else")
        page.get_by_role("button", name="Make my account").click()
        expect(page.get_by_role("alert")).to_have_text("The two passwords differ.")
        expect(page.get_by_label("Your name")).to_have_value("Mori")
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_label("Password once more").fill(PASSWORD)
        page.get_by_role("button", name="Make my account").click()
        expect(page).to_have_url(f"{house.address}/")
        expect(page.locator("main")).to_contain_text("Your first campaign")
        page = browse(lang="ja")
        page.goto(link)
        expect(page.get_by_role("heading", level=1)).to_have_text("このリンクは使えません")
        browse.close()
        assert browse.complaints == []


def test_joining_a_campaign_with_the_account_one_has(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    name = house.campaign(title={"en": "Spring", "ja": "春"})
    page = browse(ada)
    page.goto(f"/join/{house.store.access.invite(campaign=name)}")
    expect(page.locator("main")).to_contain_text("You are invited to “Spring”.")
    page.get_by_role("button", name=f"Join as {ada.name}").click()
    expect(page).to_have_url(f"{house.address}/c/{name}")
    expect(page.get_by_role("link", name="Start judging")).to_be_visible()


def test_a_name_is_enough_where_a_campaign_is_open_to_all(house: Workbench, browse: Browsing) -> None:
    name = house.campaign(who="open")
    page = browse(lang="ja")
    page.goto(f"/join/{house.store.access.invite(campaign=name, uses=None)}")
    page.get_by_label("お名前").fill(f"通りすがり {name}")
    page.get_by_role("button", name="アカウントを作成").click()
    expect(page).to_have_url(f"{house.address}/c/{name}")
    assert house.store.people.named(f"通りすがり {name}").language == "ja"


def test_the_language_is_changed_and_stays(house: Workbench, browse: Browsing) -> None:
    ada = house.person(language="en")
    name = house.campaign(people=[ada])
    page = browse(ada, lang="ja")
    expect(page.get_by_role("heading", level=1)).to_have_text("Your campaigns")
    page.get_by_role("link", name="日本語").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("キャンペーン")
    page.goto(f"/c/{name}")
    expect(page.get_by_role("link", name="判断を始める")).to_be_visible()
    page.goto("/sign-in?next=/c/x")
    page.goto("/")
    expect(page.locator("html")).to_have_attribute("lang", "ja")


def test_changing_the_language_forgets_not_where_one_wanted_to_go(browse: Browsing, house: Workbench) -> None:
    page = browse()
    page.goto("/c/some-where")
    page.get_by_role("link", name="日本語").click()
    expect(page.locator("input[name=next]")).to_have_value("/c/some-where")


def test_hostile_names_and_texts_are_only_text(house: Workbench, browse: Browsing) -> None:
    eve, mori = house.person(HOSTILE[:80]), house.person("Mori", "manager")
    segments = (
        Segment("0", "system", HOSTILE),
        Segment("1", "user", HOSTILE),
        Segment("2", "system", HOSTILE),
    )
    name = house.campaign(
        people=[eve], documents=[Document(HOSTILE, segments, "en")], title={"en": HOSTILE[:100]}
    )
    answers = {"breakdown": "O", "comment": HOSTILE}
    house.store.assignment.next_units(eve.id, name)
    house.store.saves.save(SaveRequest(new_key(), name, 1, eve.id, answers))
    house.store.flags.add(new_key(), name, 1, eve.id, HOSTILE)
    for person in (eve, mori):
        page = browse(person)
        for path in ("/", f"/c/{name}", f"/c/{name}/u/1", f"/c/{name}/u/2"):
            page.goto(path)
            page.wait_for_load_state("networkidle")
            assert page.evaluate("window.hacked") is None, path
            assert page.locator("img:not(.brand > img)").count() == 0
            expect(page.locator("body")).to_contain_text("<script>window.hacked=1</script>")
            expect(page.locator("body")).not_to_contain_text("49&lt;")


def test_the_policy_holds_in_the_browser(house: Workbench, browse: Browsing) -> None:
    """Even if something got into a page, it would not run, and could tell nobody."""
    page = browse(house.person(), watched=False)
    blocked: list[str] = []
    page.on("console", lambda message: blocked.append(message.text))
    page.evaluate(
        """() => {
          for (const [name, value] of [["textContent", "window.hacked = 1"], ["src", "https://example.org/x.js"]]) {
            const script = document.createElement("script");
            script[name] = value;
            document.body.append(script);
          }
          document.body.insertAdjacentHTML("beforeend", '<b onclick="window.hacked=1" style="color:red">x</b>');
          document.querySelector("b").click();
        }"""
    )
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("fetch('https://example.org/').then(() => 'sent', () => 'blocked')") == "blocked"
    assert page.evaluate("getComputedStyle(document.querySelector('b')).color") != "rgb(255, 0, 0)"
    assert sum("Content Security Policy" in text for text in blocked) >= 4


def test_no_other_site_can_frame_it_or_post_to_it(house: Workbench, browse: Browsing, tmp_path: Path) -> None:
    ada = house.person()
    page = browse(ada, watched=False)
    elsewhere = tmp_path / "elsewhere.html"
    elsewhere.write_text(
        f'<iframe src="{house.address}/"></iframe>'
        f'<form method="post" action="{house.address}/sign-out"><button>win a prize</button></form>'
    )
    page.goto(elsewhere.as_uri())
    # A frame that is refused has no event to wait for: it becomes an error page some time after it was asked for.
    while page.frames[1].url != "chrome-error://chromewebdata/":
        page.wait_for_timeout(100)
    page.get_by_role("button", name="win a prize").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Not possible")
    page.goto("/")
    expect(page.locator("body")).to_contain_text(ada.name)


def test_the_first_page_is_light(house: Workbench, browse: Browsing) -> None:
    ada = house.person()
    house.campaign(people=[ada])
    page = browse(ada)
    sizes: list[int] = []
    wire = page.context.new_cdp_session(page)
    wire.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    wire.send("Network.enable")
    wire.send("Network.setCacheDisabled", {"cacheDisabled": True})
    page.goto("/")
    page.wait_for_load_state("networkidle")
    assert 2000 < sum(sizes) < 50_000
