"""Whoever judges cannot tell attention checks from other documents: not by JSON, not by pages, not by headers."""

from __future__ import annotations

import re
from typing import Any

import pytest

from lapsus.store import Checks, KnownUnit, Plan
from tests.web.helpers import Bench, Browser, chat

CHECKS = {"d10", "d14"}
ANSWERS = {"breakdown": "T"}
_VARIES = re.compile(rb"([A-Za-z0-9_-]{20,}|[0-9]+)+")
"""Numbers, and what is drawn anew for every page."""


def set_up(bench: Bench, **plan: Any) -> str:
    known = tuple(KnownUnit(name, ANSWERS, "0") for name in sorted(CHECKS))
    documents = [chat(f"d{number}", turns=2, said="turn {place}") for number in range(10, 18)]
    made, _ = bench.store.campaigns.set_up(
        Plan("chat", "breakdown", checks=Checks(known, every=2), **plan), documents
    )
    return made.name


def looks(browser: Browser, name: str, unit: int) -> dict[str, Any]:
    """Everything that somebody gets to see around one unit, with what differs from unit to unit left out."""
    paths = [
        f"/c/{name}/u/{unit}",
        f"/c/{name}/u/{unit}.json",
        f"/c/{name}",
        f"/c/{name}.json",
        "/",
        "/.json",
    ]
    answers = {path: browser.get(path) for path in paths}
    saved = browser.save(name, unit, ANSWERS, seconds=2)
    found: dict[str, Any] = {"saved": (saved.status_code, sorted(saved.json()), saved.json()["extra"])}
    for path, answer in answers.items():
        kind = path.replace(str(unit), "N")
        headers = sorted(name for name in answer.headers if name != "set-cookie")
        content = answer.json() if path.endswith(".json") else None
        found[kind] = (answer.status_code, headers)
        found[f"content of {kind}"] = _shape(content) if content else _page(answer.content)
    return found


def _shape(content: Any) -> Any:
    """JSON without its numbers and texts; lists only by what is in them."""
    if isinstance(content, dict):
        return {key: _shape(value) for key, value in content.items()}
    if isinstance(content, list):
        return sorted({repr(_shape(value)) for value in content})
    return "number or null" if content is None or type(content) is int else type(content).__name__


def _page(content: bytes) -> set[bytes]:
    """The lines of a page, with every number and every list of numbers alike."""
    lines = _VARIES.sub(b"#", content).replace(b": null", b": #").split(b"\n")
    return {re.sub(rb"#(, #)+", b"#", line).replace(b"[#]", b"[]") for line in lines}


@pytest.mark.parametrize("batch", [1, 2])
def test_pages_answers_and_headers_are_the_same_for_checks(bench: Bench, batch: int) -> None:
    name, ada = set_up(bench, batch=batch, seed=3), bench.person("Ada")
    seen: dict[bool, list[dict[str, Any]]] = {True: [], False: []}
    done = 0
    while "number" in (page := ada.get(f"/c/{name}/judge.json").json()):
        assert (page["done"], page["total"]) == (done, 16)
        assert page["position"] <= page["own"] <= page["total"]
        html = ada.get(f"/c/{name}/u/{page['number']}").text
        counter = re.search(r'id="progress"[^>]*>([^<]*)<', html)
        assert counter is not None
        assert re.findall(r"\d+", counter.group(1)) == [str(done), "16"]
        seen[page["document"] in CHECKS].append(looks(ada, name, page["number"]))
        done += 1
        own = ada.get(f"/c/{name}.json").json()["progress"]
        home = ada.get("/.json").json()["campaigns"][0]
        assert (own["done"], own["total"]) == (home["done"], home["total"]) == (done, 16)
    assert (len(seen[True]), len(seen[False]), done) == (4, 12, 16)
    for look in seen[True]:
        for kind, shape in look.items():
            others = [other[kind] for other in seen[False]]
            strange = shape - set().union(*others) if isinstance(shape, set) else shape not in others
            assert not strange, kind


def test_the_page_of_a_campaign_says_when_one_is_through(bench: Bench) -> None:
    """Checks are among what there is to do: with the last of them, and not before, one is through."""
    name, ada = set_up(bench, seed=3), bench.person("Ada")
    while "number" in (page := ada.get(f"/c/{name}/judge.json").json()):
        assert ada.get("/.json").json()["resume"] == (name if page["done"] else None)
        assert ada.save(name, page["number"], ANSWERS).status_code == 201
    assert page["reason"] == "done"
    assert ada.get("/.json").json()["resume"] is None
