"""Without a network: what may be seen goes on, what is answered is kept and sent once, and a reload works."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from lapsus.web.assets import Asset
from tests.patience import until
from tests.web.browser.house import Browsing, Workbench
from tests.web.browser.judging import begin, documents, ready, said, shows
from tests.web.helpers import chat, pair

KEPT = """async () => {
  const found = [];
  for (const name of await caches.keys())
    for (const one of await (await caches.open(name)).keys()) found.push([name, new URL(one.url).pathname]);
  return [navigator.serviceWorker.controller?.state, found];
}"""


def own_paths(page: Page) -> list[str]:
    """What the browser keeps of somebody's own."""
    return [path for name, path in page.evaluate(KEPT)[1] if name.startswith("lapsus-own-")]


def is_kept(page: Page, *paths: str) -> None:
    """Wait until these are on the device, with somebody there to hand them out."""

    def is_there() -> bool:
        state, found = page.evaluate(KEPT)
        return state == "activated" and set(paths) <= {path for _, path in found}

    until(is_there)


def test_marks_on_texts_go_on_without_a_network_and_arrive_once(own: tuple[Workbench, Browsing]) -> None:
    """Texts whose guideline hides nothing are there beforehand: ten are judged with the server gone."""
    bench, browse = own
    ada = bench.person()
    name = bench.campaign("semantic-errors", [ada], [pair(f"p{n}") for n in range(13)], batch=1)
    page = begin(browse(ada, watched=False), name)
    expect(page.locator("#place")).to_have_text("1 of your 10")
    is_kept(page, *(f"/c/{name}/u/{n}.json" for n in range(1, 11)), f"/c/{name}/", "/offline")
    bench.stop()
    for unit in range(1, 10):
        shows(page, unit)
        page.keyboard.press("n")
        page.keyboard.press("Enter")
    shows(page, 10)
    page.reload()
    ready(page)
    shows(page, 10)
    expect(page.locator("#saved")).to_have_text("waiting to send 9")
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    expect(page.locator('[data-notice="travel"]')).to_contain_text(
        "Kept on this device; the next unit needs the network"
    )
    expect(page.locator("#judged-state")).to_have_text("Kept on this device, not sent yet.")
    bench.start()
    page.evaluate("dispatchEvent(new Event('online'))")
    shows(page, 11)
    expect(page.locator("#saved")).to_have_text("saved ✓")
    assert said(bench, name, ada) == {unit: {"errors": []} for unit in range(1, 11)}
    assert [len(bench.store.judgments.history(name, unit)) for unit in range(1, 11)] == [1] * 10


def test_later_turns_are_nowhere_on_the_device(own: tuple[Workbench, Browsing]) -> None:
    bench, browse = own
    ada = bench.person()
    name = bench.campaign(people=[ada], documents=[chat("d0"), chat("d1")])
    page = begin(browse(ada, watched=False, lang="ja"), name)
    page.keyboard.press("1")
    shows(page, 2)
    is_kept(page, f"/c/{name}/u/1.json", f"/c/{name}/u/2.json", f"/c/{name}/")
    texts = page.evaluate(
        "async () => { let all = ''; for (const name of await caches.keys()) { const cache = await caches.open(name);"
        " for (const one of await cache.keys()) all += await (await cache.match(one)).text(); } return all; }"
    )
    assert "turn 2 of d0" in texts
    assert "turn 4 of d0" not in texts
    bench.stop()
    page.keyboard.press("2")
    expect(page.locator('[data-notice="travel"]')).to_contain_text("次の箇所へ進むにはネットワークが必要です")
    page.reload()
    ready(page)
    shows(page, 2)
    expect(page.locator('[data-label="T"]')).to_have_attribute("aria-checked", "true")
    expect(page.locator(".turn.target")).to_contain_text("turn 2 of d0")
    expect(page.locator("#judged-state")).not_to_contain_text("確定しました")
    page.goto("/", wait_until="load")
    expect(page.get_by_role("heading", level=1)).to_have_text("ネットワークにつながっていません")
    bench.start()
    page.goto("/")
    expect(page.locator(".top")).to_contain_text("保存しました")
    assert said(bench, name, ada) == {1: {"breakdown": "O"}, 2: {"breakdown": "T"}}


@pytest.mark.parametrize(
    ("lang", "kept", "progress"),
    [
        ("en", "The page goes on by itself", "2 of 6 judged"),
        ("ja", "つながると自動で先へ進みます", "6件中2件 判断済み"),
    ],
)
def test_after_a_reload_the_page_still_goes_on_by_itself(
    own: tuple[Workbench, Browsing], lang: str, kept: str, progress: str
) -> None:
    bench, browse = own
    ada = bench.person()
    name = bench.campaign(people=[ada], documents=[chat("d0"), chat("d1")])
    page = begin(browse(ada, watched=False, lang=lang), name)
    page.keyboard.press("1")
    shows(page, 2)
    is_kept(page, f"/c/{name}/u/2.json", f"/c/{name}/")
    bench.stop()
    page.keyboard.press("2")
    expect(page.locator('[data-notice="travel"]')).to_contain_text(kept)
    page.reload()
    ready(page)
    shows(page, 2)
    expect(page.locator('[data-notice="travel"]')).to_contain_text(kept)
    bench.start()
    page.evaluate("dispatchEvent(new Event('online'))")
    shows(page, 3)
    expect(page.locator("#progress")).to_have_text(progress)
    expect(page.locator('[data-notice="travel"]')).to_have_count(0)
    assert said(bench, name, ada) == {1: {"breakdown": "O"}, 2: {"breakdown": "T"}}
    assert [len(bench.store.judgments.history(name, unit)) for unit in (1, 2)] == [1, 1]


def test_signing_out_and_others_leave_nothing_behind(house: Workbench, browse: Browsing) -> None:
    ada, bob = house.person(), house.person("Bob")
    name = house.campaign(people=[ada, bob], documents=documents("breakdown", "en"), per_unit=2)
    page = begin(browse(ada), name)
    is_kept(page, f"/c/{name}/u/1.json", f"/c/{name}/")
    page.goto("/")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    until(lambda: own_paths(page) == [])
    # Somebody whose session ended without a word: the next person's pages take the place of theirs.
    page.goto(ada.link)
    begin(page, name)
    is_kept(page, f"/c/{name}/u/1.json", f"/c/{name}/")
    page.goto(bob.link)
    until(lambda: own_paths(page) == [])


def test_a_new_version_takes_the_place_of_the_old(
    house: Workbench, browse: Browsing, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = house.person()
    name = house.campaign(people=[ada], documents=documents("breakdown", "en"))
    page = begin(browse(ada), name)
    is_kept(page, f"/c/{name}/", "/offline")
    (old,) = {found for found, _ in page.evaluate(KEPT)[1] if found.startswith("lapsus-shell-")}
    monkeypatch.setattr(house.app.state.web.assets, "digest", "abcdefabcdef")
    page.evaluate("navigator.serviceWorker.ready.then((one) => one.update()).then(() => null)")
    until(lambda: old not in {found for found, _ in page.evaluate(KEPT)[1]})
    assert own_paths(page) == []


def test_what_a_network_says_in_the_servers_place_is_not_kept(
    own: tuple[Workbench, Browsing], monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, browse = own
    ada = bench.person()
    name = bench.campaign(people=[ada], documents=documents("breakdown", "en"))
    assets = bench.app.state.web.assets
    style = assets.url("css/judge.css")
    monkeypatch.setitem(assets._files, "css/judge.css", Asset(b"<p>Sign in here.", "text/html", ""))
    page = begin(browse(ada, watched=False), name)
    is_kept(page, f"/c/{name}/", "/offline")
    assert style not in {path for _, path in page.evaluate(KEPT)[1]}
    monkeypatch.undo()
    # Our server lets browsers keep a file for good; such a network does not.
    page.context.new_cdp_session(page).send("Network.clearBrowserCache")
    page.reload()
    is_kept(page, style)
    assert "<p>" not in page.evaluate("path => fetch(path).then((answer) => answer.text())", style)
