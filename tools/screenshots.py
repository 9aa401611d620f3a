"""Take the pictures of the documentation from a running workbench: `make screenshots`."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

import lapsus
from chromium import chromium
from lapsus.samples import sample_path

FOLDER = Path(__file__).parents[1] / "docs" / "images"
LARGEST = 80_000
"""Bytes of a picture."""
COLOURS = 96
PEOPLE = ("manager", "en", "ja")
"""Whom the demonstration prints a link for, in order."""


class Picture(NamedTuple):
    """A page as somebody sees it."""

    name: str
    person: str | None
    path: str
    language: str = "en"
    dark: bool = False
    width: int = 1200
    height: int = 760
    before: Callable[[Page], None] = lambda page: None
    """What the person does first."""


def press(*keys: str) -> Callable[[Page], None]:
    """Work with the keyboard, at a pace at which answers count."""

    def work(page: Page) -> None:
        for key in keys:
            page.keyboard.press(key)
            page.wait_for_timeout(2000)

    return work


def say(*texts: str) -> Callable[[Page], None]:
    """Talk to the system, waiting for its word each time."""

    def work(page: Page) -> None:
        for text in texts:
            page.wait_for_selector("#say button.primary:enabled")
            page.fill("#text", text)
            page.click("#say button.primary")
        page.wait_for_selector("#say button.primary:enabled")

    return work


def worked_out(page: Page) -> None:
    """Wait until the figures are there."""
    while page.locator("[data-age]").count():
        page.wait_for_timeout(2000)
        page.reload()


def mark(words: str, key: str) -> Callable[[Page], None]:
    """Click words of the document, and label them by a key."""

    def work(page: Page) -> None:
        page.locator("#document").get_by_text(words, exact=True).first.click()
        press(key)(page)

    return work


def pictures(report: Path) -> Iterator[Picture]:
    """All of them; `report` is a page that `lapsus check` wrote."""
    yield Picture("sign-in", None, "/sign-in", height=520)
    yield Picture("breakdown-en", "en", "/c/breakdown-en/judge", before=press("1", "1", "2"))
    yield Picture("breakdown-ja", "ja", "/c/breakdown-ja/judge", "ja", dark=True, before=press("1", "1", "3"))
    yield Picture("error-types-en", "en", "/c/error-types-en/judge", height=900, before=press("8"))
    yield Picture(
        "error-types-ja", "ja", "/c/error-types-ja/judge", "ja", True, height=900, before=press("4")
    )
    yield Picture(
        "response-quality-en",
        "en",
        "/c/response-quality-en/judge",
        dark=True,
        height=900,
        before=press("5", "4", "4"),
    )
    yield Picture(
        "response-quality-ja",
        "ja",
        "/c/response-quality-ja/judge",
        "ja",
        height=900,
        before=press("5", "4"),
    )
    yield Picture("semantic-errors-en", "en", "/c/semantic-errors-en/judge", before=mark("launched", "o"))
    yield Picture(
        "semantic-errors-ja",
        "ja",
        "/c/semantic-errors-ja/judge",
        "ja",
        dark=True,
        before=mark("所属山脈", "o"),
    )
    yield Picture("phone-en", "en", "/c/breakdown-en/judge", dark=True, width=360, height=720)
    yield Picture("talk-en", "en", "/c/talk-en/talk", before=say("I like trains.", "Why do you ask?"))
    yield Picture("home-en", "en", "/")
    yield Picture("home-ja", "ja", "/", "ja", dark=True)
    yield Picture("campaign-en", "en", "/c/breakdown-en")
    yield Picture("campaign-manager", "manager", "/c/breakdown-en")
    yield Picture("insight-en", "manager", "/c/finished-en/insight", height=900, before=worked_out)
    yield Picture("judges-en", "manager", "/c/finished-en/judges", height=900, before=worked_out)
    yield Picture("judges-ja", "manager", "/c/finished-ja/judges", "ja", True, height=900, before=worked_out)
    yield Picture("board-en", "manager", "/challenge/sample-challenge")
    yield Picture("board-ja", "manager", "/challenge/sample-challenge?track=ja", "ja", dark=True)
    yield Picture("check-en", None, report.as_uri())


@contextmanager
def demo() -> Iterator[tuple[str, dict[str, str]]]:
    """The demonstration, running: its address, and the link of each person."""
    command = [str(Path(sys.executable).parent / "lapsus"), "demo", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            lines = [process.stdout.readline() for _ in range(1 + len(PEOPLE))] if process.stdout else []
            links = [line.split()[-1] for line in lines[1:]]
            yield links[0].partition("/enter/")[0], dict(zip(PEOPLE, links, strict=True))
        finally:
            process.send_signal(signal.SIGINT)


def take(browser: Browser, address: str, links: dict[str, str], picture: Picture) -> bytes:
    """One picture, as a PNG of few colours: pages of text need no more."""
    context = browser.new_context(
        base_url=address,
        locale=picture.language,
        color_scheme="dark" if picture.dark else "light",
        reduced_motion="reduce",
        viewport={"width": picture.width, "height": picture.height},
    )
    page = context.new_page()
    if picture.person is not None:
        page.goto(links[picture.person])
    page.goto(f"{picture.path}{'&' if '?' in picture.path else '?'}lang={picture.language}")
    page.wait_for_load_state("networkidle")
    picture.before(page)
    page.wait_for_timeout(500)
    taken = Image.open(BytesIO(page.screenshot())).convert("RGB")
    context.close()
    small = BytesIO()
    taken.quantize(COLOURS, dither=Image.Dither.NONE).save(small, "PNG", optimize=True)
    return small.getvalue()


def main(wanted: list[str]) -> None:
    """Take all pictures, or those named."""
    FOLDER.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder, demo() as (address, links), sync_playwright() as playwright:
        report = Path(folder) / "report.html"
        report.write_text(lapsus.check(sample_path("helpdesk-en"), top=10).to_html(), encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        for picture in pictures(report):
            if wanted and picture.name not in wanted:
                continue
            content = take(browser, address, links, picture)
            if len(content) > LARGEST:
                sys.exit(f"{picture.name} has {len(content):,} bytes, more than {LARGEST:,}")
            (FOLDER / f"{picture.name}.png").write_bytes(content)
            print(f"{picture.name}.png  {len(content):,} bytes")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
