"""Several workbenches on one host: a browser keeps one jar for all its ports, and nobody is signed out by another."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from lapsus.store import Store, open_store
from lapsus.web.app import create_app
from lapsus.web.deployment import Deployment
from lapsus.web.sessions import DAY, KNOWN, LANGUAGE, SESSION, Sessions, new_session
from tests.patience import LONG
from tests.web.helpers import PASSWORD
from tests.web.server_process import Running


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[list[Store]]:
    with ExitStack() as opened:
        found = [opened.enter_context(open_store(tmp_path / f"{name}.sqlite")) for name in ("one", "two")]
        for place, store in enumerate(found):
            store.people.add(f"Ada of {place}", password=PASSWORD)
        yield found


def sign_in(http: TestClient, name: str, below: str = "") -> None:
    csrf = http.get(f"{below}/session.json").json()["csrf"]
    form = {"name": name, "password": PASSWORD, "csrf": csrf}
    assert http.post(f"{below}/sign-in.json", data=form).status_code == 200


def who(http: TestClient, below: str = "") -> str | None:
    person = http.get(f"{below}/session.json").json()["person"]
    return None if person is None else str(person["name"])


def named(http: TestClient, what: str) -> str:
    return str(http.app.state.web.cookies.name(what))  # type: ignore[attr-defined]


def test_two_servers_on_two_ports_in_one_browser(tmp_path: Path, stores: list[Store]) -> None:
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))

    def asked(address: str, **form: str) -> Any:
        body = urlencode(form).encode() if form else None
        with browser.open(address, body, timeout=LONG) as answer:
            return json.load(answer)

    with ExitStack() as running:
        servers = [
            running.enter_context(Running("serve", "--db", str(tmp_path / f"{name}.sqlite"), "--port", "0"))
            for name in ("one", "two")
        ]
        for place, server in enumerate(servers):
            csrf = asked(f"{server.address}/session.json")["csrf"]
            form = {"name": f"Ada of {place}", "password": PASSWORD, "csrf": csrf}
            asked(f"{server.address}/sign-in.json", **form)
        found = [asked(f"{server.address}/session.json")["person"]["name"] for server in servers]
    assert found == ["Ada of 0", "Ada of 1"]


def test_one_below_a_path_of_the_others_host(stores: list[Store]) -> None:
    jar = CookieJar()
    root = TestClient(create_app(stores[0]), cookies=jar)
    below = TestClient(create_app(stores[1], deployment=Deployment(path="/two")), cookies=jar)
    sign_in(root, "Ada of 0")
    sign_in(below, "Ada of 1", "/two")
    assert (who(root), who(below, "/two")) == ("Ada of 0", "Ada of 1")


def test_all_servers_on_a_database_know_its_cookies(stores: list[Store]) -> None:
    jar = CookieJar()
    first, second = (TestClient(create_app(stores[0]), cookies=jar) for _ in range(2))
    sign_in(first, "Ada of 0")
    assert who(second) == "Ada of 0"


def test_however_many_browsers_come_few_of_their_cookies_are_in_memory() -> None:
    sessions = Sessions("secret")
    cookies = [sessions.write(new_session(person)) for person in range(KNOWN + 50)]
    assert [found.person for cookie in cookies if (found := sessions.read(cookie))] == [*range(KNOWN + 50)]
    assert len(sessions._known) == KNOWN
    assert sessions.read(cookies[0]) is not None


def test_a_cookie_without_our_mark_counts_for_nothing(stores: list[Store]) -> None:
    first = TestClient(create_app(stores[0]))
    sign_in(first, "Ada of 0")
    other = TestClient(create_app(stores[0]))
    other.cookies.set(SESSION, first.cookies[named(first, SESSION)])
    assert who(other) is None


def test_looks_belong_to_a_workbench_too(stores: list[Store]) -> None:
    jar = CookieJar()
    browsers = [TestClient(create_app(store), cookies=jar) for store in stores]
    for place, browser in enumerate(browsers):
        sign_in(browser, f"Ada of {place}")

    def choose(language: str, theme: str) -> None:
        csrf = browsers[0].get("/session.json").json()["csrf"]
        form = {"do": "looks", "language": language, "theme": theme, "csrf": csrf}
        assert browsers[0].post("/account.json", data=form).status_code == 200

    for chosen in ("light", ""):
        choose("ja", chosen)
        assert [browser.get("/account.json").json()["theme"] for browser in browsers] == [chosen, ""]
    assert [browser.get("/account.json").json()["language"] for browser in browsers] == ["ja", "en"]
    assert browsers[0].cookies[named(browsers[0], LANGUAGE)] == "ja"


def test_a_demonstration_leaves_nothing_for_long(stores: list[Store]) -> None:
    (person,) = stores[0].people.all()
    http = TestClient(create_app(stores[0], links={"x" * 43: person.id}))
    http.get(f"/enter/{'x' * 43}?lang=ja")
    names = {named(http, SESSION), named(http, LANGUAGE)}
    kept = {cookie.name: cookie.expires or 0 for cookie in http.cookies.jar}
    assert kept.keys() == names
    assert all(ends <= time.time() + DAY for ends in kept.values())
