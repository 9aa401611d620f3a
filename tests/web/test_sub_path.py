"""A workbench below a path of its host: whatever a page, a script, an answer or a cookie names stays below it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import unescape
from importlib.resources import files
from typing import Any

import pytest
import regex
from starlette.routing import Route
from starlette.testclient import TestClient

from lapsus.errors import UsageError
from lapsus.formats import read
from lapsus.samples import sample_path
from lapsus.store import Plan, Store
from lapsus.web.app import create_app
from lapsus.web.demo import make_challenge
from lapsus.web.deployment import Deployment, check_deployment
from tests.web.helpers import PASSWORD

BELOW = "/tools/lapsus"
_ATTRIBUTE = regex.compile(r'\s(href|src|action|formaction|data-[a-z-]+)="(/[^"]*)"')
_SENT_BACK = regex.compile(r'name="(?:next|back)" value="([^"]*)"')
_ADDRESS = regex.compile(r"/[a-z][\w/.?=&%#-]*")


class Crawl:
    """Follows every link, one address for each pattern of addresses, and notes what leads out."""

    def __init__(self, client: TestClient) -> None:
        self.client = client
        self.seen: set[str] = set()
        self.escaped: set[str] = set()

    def follow(self, address: str) -> None:
        waiting = [address]
        while waiting:
            address = waiting.pop().partition("#")[0]
            if (shape := self.shape(address)) in self.seen:
                continue
            self.seen.add(shape)
            for found in self.addresses(address):
                if found.startswith(f"{BELOW}/") or found == BELOW:
                    waiting.append(found)
                else:
                    self.escaped.add(f"{address}: {found}")

    def shape(self, address: str) -> str:
        """The route that answers; of our own files and a campaign in the making, which."""
        path = address.partition("?")[0]
        scope = {"type": "http", "method": "GET", "path": path, "root_path": BELOW, "headers": []}
        routes = [one for one in self.client.app.routes if isinstance(one, Route)]  # type: ignore[attr-defined]
        known = next((one.path for one in routes if one.matches(scope)[0].value == 2), path)
        return known + (path.rpartition("/")[2] if known.startswith(("/static", "/new/")) else "")

    def addresses(self, address: str) -> Iterator[str]:
        """Whatever an answer names; also where a form would go, whose page is asked for instead."""
        answer = self.client.get(address, follow_redirects=False)
        assert answer.status_code < 500, address
        if "location" in answer.headers:
            yield answer.headers["location"]
        kind = answer.headers.get("content-type", "")
        if kind.startswith("text/html"):
            text = answer.text
            yield from (unescape(value) for _, value in _ATTRIBUTE.findall(text))
            yield from (unescape(value) for value in _SENT_BACK.findall(text))
            for block in regex.findall(r'<script type="application/json"[^>]*>(.*?)</script>', text):
                yield from _named(json.loads(block))
            if not address.partition("?")[0].endswith((".html", "/")):
                yield address.replace("?", ".json?", 1) if "?" in address else f"{address}.json"
        elif kind == "application/json" and "/schemes/" not in address and "/words/" not in address:
            yield from _named(answer.json())


def _named(value: Any) -> Iterator[str]:
    """The strings in some JSON that are addresses."""
    if isinstance(value, dict):
        for part in value.values():
            yield from _named(part)
    elif isinstance(value, list):
        for part in value:
            yield from _named(part)
    elif isinstance(value, str) and _ADDRESS.fullmatch(value):
        yield value


def below(store: Store, **more: Any) -> TestClient:
    return TestClient(create_app(store, deployment=Deployment(path=BELOW), **more))


@pytest.fixture
def filled(store: Store) -> Store:
    """A campaign with judgments, a mark and a message, and a challenge with a run."""
    entries = list(read(sample_path("dialogues-en"), "jsonl"))
    store.campaigns.create(Plan(name="chats", scheme="breakdown", order="given", per_unit=40))
    store.imports.add_judgments("chats", entries[:4])
    store.people.add("Mori", "manager", password=PASSWORD)
    ada = store.people.add("Ada", password=PASSWORD)
    store.flags.add("flag", "chats", 1, ada.id, "Is this one right?")
    store.messages.send("chats", "Thank you!", by=store.people.named("Mori").id)
    make_challenge(store, [entries])
    return store


def signed_in(store: Store, name: str) -> TestClient:
    client = below(store)
    form = {"name": name, "password": PASSWORD, "csrf": client.get(f"{BELOW}/session.json").json()["csrf"]}
    came = client.post(f"{BELOW}/sign-in", data=form, follow_redirects=False)
    assert came.headers["location"] == f"{BELOW}/"
    assert f"Path={BELOW};" in came.headers["set-cookie"]
    return client


def test_nothing_that_a_page_or_its_json_names_leads_out(filled: Store) -> None:
    mori, ada = signed_in(filled, "Mori"), signed_in(filled, "Ada")
    csrf = {"csrf": mori.get(f"{BELOW}/session.json").json()["csrf"]}
    copied = mori.post(f"{BELOW}/c/chats/copy", data=csrf, follow_redirects=False).headers["location"]
    asked = {**csrf, "do": "invite", "uses": "one"}
    invited = mori.post(f"{BELOW}/c/chats/manage.json", data=asked).json()["link"]
    assert invited.startswith(f"http://testserver{BELOW}/join/")
    joining = invited.removeprefix("http://testserver")
    seen: set[str] = set()
    for client, *ways in (
        (mori, "/", "/c/chats/units?page=2", copied.removeprefix(BELOW), "/api/v1/openapi.json"),
        (ada, "/", "/c/chats/judge", "/c/chats/judge.json", "/judgments?q=a", "/messages.json"),
        (below(filled), "/", "/nowhere", "/offline", joining.removeprefix(BELOW), "/challenges"),
    ):
        crawl = Crawl(client)
        for way in ways:
            crawl.follow(BELOW + way)
        assert crawl.escaped == set()
        seen |= crawl.seen
    assert len(seen) > 120, sorted(seen)


def test_scripts_ask_only_below_the_path(store: Store) -> None:
    folder = files("lapsus.web") / "static" / "js"
    for script in [*folder.iterdir(), *(folder / "widgets").iterdir()]:
        if script.name.endswith(".js"):
            # An address in a script is the argument of `at`, or stands behind what the server says.
            bare = regex.findall(r"(?<!at\()[\"'`]/[a-z$][^\"'`]*", script.read_text("utf-8"))
            assert [
                one for one in bare if one[1:] not in ("/static/", "/words/", "/schemes/", "/u/")
            ] == [], script.name
    worker = below(store).get(f"{BELOW}/service-worker.js").text
    assert f'self.BELOW = "{BELOW}"' in worker
    assert f'self.STATIC = "{BELOW}/static/' in worker


def test_signing_in_leads_back_below_the_path_and_nowhere_else(store: Store) -> None:
    store.people.add("Ada", password=PASSWORD)
    ada = signed_in(store, "Ada")
    for wanted, led in (
        (f"{BELOW}/account", f"{BELOW}/account"),
        ("/account", f"{BELOW}/"),
        ("/tools/lapsus-other/", f"{BELOW}/"),
        (f"{BELOW}//evil.example/", f"{BELOW}/"),
        ("https://evil.example/", f"{BELOW}/"),
        (f"{BELOW}/../other", f"{BELOW}/"),
        (f"{BELOW}/c/%2E./.%2e/..?x", f"{BELOW}/"),
        (f"{BELOW}/./..\\other", f"{BELOW}/"),
        (f"{BELOW}/account?next=...", f"{BELOW}/account?next=..."),
    ):
        came = ada.get(f"{BELOW}/sign-in", params={"next": wanted}, follow_redirects=False)
        assert (came.status_code, came.headers["location"]) == (303, led)


def test_a_proxy_may_pass_the_path_on_or_take_it_off(store: Store) -> None:
    client = below(store)
    pages = [client.get(path) for path in ("/sign-in", f"{BELOW}/sign-in")]
    csrf = regex.compile(r'name="csrf" value="[^"]+"')
    one, other = (csrf.sub("", page.text) for page in pages)
    assert one == other
    assert client.get("/alive.json").json() == {"alive": True}
    assert client.get(BELOW, follow_redirects=False).headers["location"] == f"{BELOW}/sign-in?next={BELOW}/"
    assert client.get("/tools/lapsus-other").status_code == 404


@pytest.mark.parametrize(
    "wrong", ["tools", "/tools/", "//evil.example", "/a b", "/../x", '/"', "https://a.example"]
)
def test_what_is_no_path_is_refused(wrong: str) -> None:
    with pytest.raises(UsageError, match="no path to be at"):
        check_deployment(Deployment(path=wrong))
