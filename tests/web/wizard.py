"""The wizard for new campaigns as forms are sent to it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from lapsus.formats import convert
from lapsus.model import Entry
from tests.web.helpers import Browser, chat


def post(browser: Browser, path: str, files: Any = None, **fields: str) -> Any:
    """Send a form as a page would, and follow where it leads."""
    return browser.http.post(path, data={"csrf": browser.csrf, **fields}, files=files)


def sample(*names: str, turns: int = 3) -> bytes:
    """Documents as our own format has them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "d.jsonl"
        convert((Entry(name, chat(name, turns)) for name in names), path)
        return path.read_bytes()


def begun(browser: Browser, name: str = "spring", **fields: str) -> str:
    """A draft; the address of its steps."""
    file = {"file": ("chats.jsonl", sample("d0", "d1", "d2", "d3"))}
    answer = post(browser, "/new", file, name=name, title_en="Spring chats", **fields)
    assert answer.status_code == 200, answer.text
    assert answer.url.path.endswith("/guideline")
    return str(answer.url.path).removesuffix("/guideline")


def add_known(
    browser: Browser, base: str, block: str, document: str, answers: str, segment: str = "0", **more: str
) -> Any:
    given = {"block": block, "document": document, "segment": segment, "answers": answers, **more}
    answer = post(browser, f"{base}/checks", go="add", **given)
    assert answer.status_code == 200, answer.text
    return answer
