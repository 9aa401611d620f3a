"""A workbench and people with real browsers, for the tests of the pages."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

import uvicorn
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, BrowserContext, Page, Request, Response, expect

from lapsus.model import Document
from lapsus.store import Plan, Role, open_store
from lapsus.store.people import new_secret
from lapsus.web.app import create_app
from lapsus.web.deployment import PLAIN, Deployment
from lapsus.web.server import address, listen
from tests.patience import LONG
from tests.web.helpers import chat, pair

ROOT = Path(__file__).parents[3]
LOCALES = {"en": "en-GB", "ja": "ja-JP"}
WIDE, TABLET, NARROW = 1280, 768, 360
PATIENCE = 120_000
"""Milliseconds that a page has for whatever it does, on a machine that does much else."""
expect.set_options(timeout=PATIENCE)
_numbers = count(1)


def chromium() -> str:
    """Where Chromium is; installed if it is not there. The tests fail where neither can be had."""
    command = [sys.executable, str(ROOT / "tools" / "chromium.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


class Someone(NamedTuple):
    """Who can sign in, by a link or a password."""

    id: int
    name: str
    link: str


class WaysIn(dict[str, int]):
    """Links by which tests enter as somebody. A workbench that has some is a demonstration: here only where asked."""

    is_demo = False

    def __bool__(self) -> bool:
        return self.is_demo


class Workbench:
    """A workbench on a free port and a new database. It can be stopped and started again at the same address."""

    def __init__(self, folder: Path, deployment: Deployment = PLAIN) -> None:
        self._database = folder / "store.sqlite"
        self._deployment = deployment
        self.ways_in = WaysIn()
        self._port = 0
        self.start()

    def start(self) -> None:
        """Open the database and serve."""
        self.store = open_store(self._database)
        self._socket = listen("127.0.0.1", self._port)
        self._port = self._socket.getsockname()[1]
        self.address = address(self._socket) + self._deployment.path
        self.app = create_app(self.store, deployment=self._deployment)
        self.app.state.web.links = self.ways_in
        config = uvicorn.Config(self.app, log_level="warning", lifespan="on", timeout_graceful_shutdown=2)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]})
        self._thread.start()
        while not self._server.started:
            assert self._thread.is_alive()
            time.sleep(0.005)

    def stop(self) -> None:
        """Stop serving, as if somebody had pulled the plug politely."""
        self._server.should_exit = True
        self._thread.join(LONG)
        self._socket.close()
        assert not self._thread.is_alive()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def person(
        self,
        name: str = "Ada",
        role: Role = "annotator",
        *,
        language: str | None = None,
        password: str | None = None,
    ) -> Someone:
        """Somebody new. The number behind the name tells people of different tests apart."""
        made = self.store.people.add(f"{name} {next(_numbers)}", role, language=language, password=password)
        token = new_secret()
        self.ways_in[token] = made.id
        return Someone(made.id, made.name, f"{self.address}/enter/{token}")

    def campaign(
        self,
        scheme: str = "breakdown",
        people: Sequence[Someone] = (),
        documents: Sequence[Document] | None = None,
        **plan: Any,
    ) -> str:
        """A campaign of two small documents for these people and nobody else."""
        name = plan.pop("name", None) or f"{scheme}-{next(_numbers)}"
        plan = {"who": "named", "people": tuple(person.name for person in people), "order": "given", **plan}
        self.store.campaigns.create(Plan(name=name, scheme=scheme, **plan))
        if plan.get("chain") is None:
            make = pair if scheme == "semantic-errors" else chat
            self.store.campaigns.add_documents(name, documents or [make("d0"), make("d1")])
        return str(name)


class Browsing:
    """Opens browser windows on a workbench and remembers what no page of ours may do."""

    def __init__(self, browser: Browser, bench: Workbench) -> None:
        self._browser, self.bench = browser, bench
        self._contexts: list[BrowserContext] = []
        self.complaints: list[str] = []

    def __call__(
        self,
        person: Someone | None = None,
        *,
        lang: str = "en",
        dark: bool = False,
        width: int = WIDE,
        height: int = 800,
        watched: bool = True,
        **more: Any,
    ) -> Page:
        """A window of its own, signed in if a person is given. Only a test of faults leaves it unwatched."""
        context = self._browser.new_context(
            base_url=self.bench.address,
            locale=LOCALES[lang],
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
            viewport={"width": width, "height": height},
            **more,
        )
        context.set_default_timeout(PATIENCE)
        self._contexts.append(context)
        page = context.new_page()
        if watched:
            self._watch(page)
        if person is not None:
            entered = page.goto(person.link)
            assert entered is not None
            assert entered.ok, entered.status
        return page

    def close(self) -> None:
        """Close all windows."""
        for context in self._contexts:
            context.close()

    def _watch(self, page: Page) -> None:
        def on_response(response: Response) -> None:
            # A page may be an error page, and is tested as such; what a page fetches has to be there.
            if response.status >= 400 and not response.request.is_navigation_request():
                self.complaints.append(f"{response.status} {response.url}")

        def on_request(request: Request) -> None:
            if not request.url.startswith((self.bench.address + "/", "data:", "blob:")):
                self.complaints.append(f"another host: {urlsplit(request.url).netloc}")

        def on_console(message: Any) -> None:
            # Chromium repeats the status of every answer here; see above for those.
            if message.type in ("error", "warning") and not message.text.startswith(
                "Failed to load resource"
            ):
                self.complaints.append(f"console: {message.text}")

        page.on("response", on_response)
        page.on("request", on_request)
        page.on("console", on_console)
        page.on("pageerror", lambda error: self.complaints.append(f"script: {error}"))
        page.on("dialog", lambda dialog: (self.complaints.append("a dialog"), dialog.dismiss()))


def violations(page: Page) -> list[str]:
    """What axe finds that keeps somebody from using the page, including best practice."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found = page.evaluate("axe.run({ resultTypes: ['violations'] }).then((results) => results.violations)")
    return [
        f"{rule['id']}: {rule['help']}: {node['html'][:200]} {node.get('failureSummary', '')}"
        for rule in found
        for node in rule["nodes"]
    ]


def tables_scroll(page: Page) -> bool:
    """Whether a table is wider than its place on the page."""
    return bool(
        page.evaluate(
            "[...document.querySelectorAll('.scroll')].some(one => one.scrollWidth > one.clientWidth + 1)"
        )
    )


def scrolls_sideways(page: Page) -> bool:
    """Whether the page is wider than the window."""
    return bool(page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"))
