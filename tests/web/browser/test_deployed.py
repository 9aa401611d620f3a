"""A workbench as others run it: below a path of their host, with their own sign-in."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from lapsus.web.deployment import Deployment, OidcProvider
from tests.web.browser.house import Browsing, Workbench
from tests.web.browser.judging import ready, said, shows
from tests.web.browser.test_offline import is_kept
from tests.web.helpers import PASSWORD

BELOW = "/tools/lapsus"


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory, issuer: str) -> Iterator[Workbench]:
    """One that trusts the proxy on this machine, for which the browser speaks here."""
    provider = OidcProvider(issuer, "lapsus", "secret", "Campus")
    deployment = Deployment(("127.0.0.1",), "X-Remote-User", provider, BELOW)
    with Workbench(tmp_path_factory.mktemp("deployed"), deployment) as made:
        yield made


@pytest.fixture
def visit(chrome: Browser, deployed: Workbench) -> Iterator[Browsing]:
    """Windows on it. A request for anything that is not below the path fails the test."""
    browsing = Browsing(chrome, deployed)
    yield browsing
    browsing.close()
    assert browsing.complaints == []


def test_one_signs_in_judges_and_takes_the_judgments_home_below_a_path(
    deployed: Workbench, visit: Browsing
) -> None:
    mori = deployed.person("Mori", "manager", password=PASSWORD)
    name = deployed.campaign(people=[mori])
    page = visit()
    page.goto(f"{deployed.address}/c/{name}")
    expect(page).to_have_url(f"{deployed.address}/sign-in?next={BELOW}/c/{name}")
    page.get_by_label("Name").fill(mori.name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(f"{deployed.address}/c/{name}")
    page.get_by_role("link", name="Start judging").first.click()
    for unit in (1, 2):
        shows(ready(page), unit)
        page.keyboard.press("t")
    shows(page, 3)
    expect(page).to_have_url(f"{deployed.address}/c/{name}/u/3")
    assert sorted(said(deployed, name, mori)) == [1, 2]
    _is_kept_below_the_path(page, name)
    page.goto(f"{deployed.address}/c/{name}/insight")
    with page.expect_download() as begun:
        page.locator("form.take button").click()
    assert begun.value.suggested_filename.startswith(name)
    page.get_by_role("link", name="日本語").click()
    page.get_by_role("button", name="サインアウト").click()
    expect(page).to_have_url(f"{deployed.address}/sign-in")


def _is_kept_below_the_path(page: Page, name: str) -> None:
    """The page can be had without a network, and nothing in the browser's keeping can be taken for another's."""
    is_kept(page, f"{BELOW}/c/{name}/", f"{BELOW}/c/{name}/u/3.json")
    scope = page.evaluate("navigator.serviceWorker.ready.then((worker) => worker.scope)")
    assert scope.endswith(f"{BELOW}/")
    databases = page.evaluate("indexedDB.databases().then((all) => all.map((one) => one.name))")
    kept = [*databases, *page.evaluate("caches.keys()")]
    assert len(kept) >= 3
    assert all(one.startswith(BELOW) for one in kept), kept
    assert {cookie["path"] for cookie in page.context.cookies()} == {BELOW}


def test_one_signs_in_at_a_provider_and_comes_back_to_where_one_wanted(
    deployed: Workbench, visit: Browsing
) -> None:
    # Unwatched: the provider is at another address.
    page = visit(lang="ja", watched=False)
    page.goto(f"{deployed.address}/account")
    page.get_by_role("link", name="Campus でサインイン").click()
    page.locator("input[name=sub]").fill("hanako")
    page.get_by_role("button", name="Authorize").click()
    expect(page).to_have_url(f"{deployed.address}/account")
    expect(page.locator(".top-person")).to_have_text("hanako")
    assert deployed.store.people.named("hanako").role == "annotator"
    page.get_by_role("button", name="サインアウト").click()
    page.get_by_role("link", name="Campus でサインイン").click()
    page.get_by_role("button", name="Deny").click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator(".top-person")).to_have_count(0)


def test_whom_the_proxy_names_is_in_without_a_form(deployed: Workbench, visit: Browsing) -> None:
    page = visit(extra_http_headers={"X-Remote-User": "ren"})
    page.goto(f"{deployed.address}/account")
    expect(page).to_have_url(f"{deployed.address}/account")
    expect(page.locator(".top-person")).to_have_text("ren")
    # The proxy names somebody else: in the same browser nothing of the first is left.
    page.context.set_extra_http_headers({"X-Remote-User": "aoi"})
    page.goto(f"{deployed.address}/account")
    expect(page.locator(".top-person")).to_have_text("aoi")
