"""One server and one browser for all tests of a process, a new window for each test.

Everything that a test opens is watched: an error in the console, a script that fails, a request to another host or
something missing fails the test, whatever else it looks at.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.web.browser.house import Browsing, Workbench, chromium


@pytest.fixture(scope="session")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    """The server that tests share. Who and what they make in it is theirs alone."""
    with Workbench(tmp_path_factory.mktemp("house")) as made:
        yield made


@pytest.fixture(scope="session")
def chrome() -> Iterator[Browser]:
    path = chromium()
    with sync_playwright() as playwright:
        # Without its sandbox, for root in a container has none; the pages are our own.
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def browse(chrome: Browser, house: Workbench) -> Iterator[Browsing]:
    browsing = Browsing(chrome, house)
    yield browsing
    browsing.close()
    assert browsing.complaints == []


@pytest.fixture
def own(tmp_path: Path, chrome: Browser) -> Iterator[tuple[Workbench, Browsing]]:
    """A workbench of the test's own, to be stopped and started. Its pages complain of what is cut, and may."""
    with Workbench(tmp_path) as bench:
        browsing = Browsing(chrome, bench)
        yield bench, browsing
        browsing.close()
