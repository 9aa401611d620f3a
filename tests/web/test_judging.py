"""Judging from signing in to the last unit, under every guideline, and what nobody may see on the way.

On SQLite and on PostgreSQL: what a page needs to know is asked of the database in the room's own words.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from sqlalchemy import event

from lapsus.schemes import load_scheme
from lapsus.store import Chain, Store
from tests.store.conftest import postgres as postgres
from tests.store.conftest import url as url
from tests.web.helpers import ANSWERS, Bench, Browser, chat, pair


@pytest.fixture(autouse=True)
def nothing_beside(monkeypatch: pytest.MonkeyPatch) -> None:
    """No figures are worked out here: a server that ends leaves that work alone, and the tables go at once."""

    async def rest(store: Store) -> None:
        await asyncio.sleep(3600)

    monkeypatch.setattr("lapsus.web.app.refresh_stats", rest)


def judge_all(browser: Browser, name: str, answers: Any) -> list[int]:
    """As the page does it: follow `next` after each save, ask for more when there is none."""
    seen: list[int] = []
    page = browser.get(f"/c/{name}/judge.json").json()
    while "number" in page:
        seen.append(page["number"])
        saved = browser.save(name, page["number"], answers, base_revision=page["revision"], seconds=2.5)
        assert saved.status_code == 201, saved.text
        following = saved.json()["next"]
        path = f"/c/{name}/judge.json" if following is None else f"/c/{name}/u/{following}.json"
        page = browser.get(path).json()
    assert page["reason"] == "done"
    return seen


@pytest.mark.parametrize("scheme", ["breakdown", "response-quality", "semantic-errors"])
def test_from_sign_in_to_the_last_unit(bench: Bench, scheme: str) -> None:
    documents = [pair("p0"), pair("p1")] if scheme == "semantic-errors" else [chat("d0"), chat("d1")]
    name = bench.campaign(scheme, documents)
    ada = bench.person("Ada")
    seen = judge_all(ada, name, ANSWERS[scheme])
    assert seen == list(range(1, len(seen) + 1))
    assert len(seen) == (2 if scheme == "semantic-errors" else 6)
    page = ada.get(f"/c/{name}.json").json()
    assert page["progress"] == {
        "done": len(seen),
        "drafts": 0,
        "held": 0,
        "total": len(seen),
        "stopped": False,
    }
    assert [said["unit"] for said in page["judgments"]] == seen[::-1]
    stored = bench.store.judgments.get(name, seen[0], ada.id)
    assert stored is not None
    assert stored.seconds == 2.5


def test_the_units_that_wait_are_listed_with_whether_they_were_begun(bench: Bench) -> None:
    name = bench.campaign(documents=[chat("d0")])
    ada = bench.person("Ada")
    first, *others = ada.next(name)["units"]
    ada.save(name, first, {"breakdown": "O"}, submitted=False)
    page = ada.get(f"/c/{name}")
    assert f'href="/c/{name}/u/{others[-1]}"' in page.text
    waiting = ada.get(f"/c/{name}.json").json()["waiting"]
    assert waiting == [{"number": n, "document": "d0", "draft": n == first} for n in (first, *others)]


def test_error_types_of_what_the_votes_chose(bench: Bench) -> None:
    bench.campaign("breakdown")
    name = bench.campaign("error-types", chain=Chain("breakdown"), show_votes=True)
    ada, bob = bench.person("Ada"), bench.person("Bob")
    assert ada.next(name)["reason"] == "wait"
    for answer in ("O", "X", "T", "O", "O", "X"):
        unit = bob.next("breakdown")["unit"]
        assert bob.save("breakdown", unit, {"breakdown": answer}).status_code == 201
    unit = ada.get(f"/c/{name}/judge.json").json()
    assert unit["votes"] == {"X": 1}
    assert unit["vote_names"]["X"] == "Breakdown"
    assert unit["scheme"] == {
        "id": "error-types",
        "version": "1.2.1",
        "url": "/schemes/error-types/1.2.1.json",
    }
    assert judge_all(ada, name, ANSWERS["error-types"]) == [2, 3, 6]


def test_a_judged_turn_carries_ones_mark(bench: Bench) -> None:
    name, ada = bench.campaign(), bench.person("Ada")
    first = ada.next(name)["unit"]
    ada.save(name, first, {"breakdown": "X"})
    second = ada.get(f"/c/{name}/u/{first + 1}.json").json()
    assert [(s["text"], s.get("mark"), s.get("unit")) for s in second["context"]] == [
        ("turn 0 of d0", "X", first),
        ("turn 1 of d0", None, None),
    ]
    assert second["context"][0]["asked"] == "breakdown"
    assert (second["position"], second["previous"], second["next"]) == (2, first, None)
    assert second["unjudged"] == [first + 1, first + 2]


def test_a_unit_is_read_in_one_transaction(bench: Bench) -> None:
    name, ada = bench.campaign(), bench.person("Ada")
    first = ada.next(name)["unit"]
    begun: list[Any] = []
    event.listen(bench.store.database.engine, "begin", begun.append)
    assert ada.get(f"/c/{name}/u/{first}.json").status_code == 200
    assert len(begun) == 1


def test_later_turns_are_nowhere_until_the_turn_is_judged(bench: Bench) -> None:
    name, ada = bench.campaign(), bench.person("Ada")
    first = ada.next(name)["unit"]
    for path in (
        f"/c/{name}/u/{first}.json",
        f"/api/v1/campaigns/{name}/units/{first}",
        f"/c/{name}.json",
        "/.json",
    ):
        text = ada.get(path).text
        assert "turn 1 of" not in text
        assert "turn 2 of" not in text
    ahead = ada.get(f"/c/{name}/u/{first + 2}.json", follow_redirects=False)
    assert (ahead.status_code, ahead.headers["location"]) == (303, f"/c/{name}/u/{first}.json")
    refused = ada.get(f"/api/v1/campaigns/{name}/units/{first + 2}")
    assert (refused.status_code, refused.json()["reason"], refused.json()["unit"]) == (409, "earlier", first)
    ada.save(name, first, {"breakdown": "O"}, submitted=False)
    assert ada.get(f"/api/v1/campaigns/{name}/units/{first + 1}").status_code == 409
    ada.save(name, first, {"breakdown": "O"})
    shown = ada.get(f"/api/v1/campaigns/{name}/units/{first + 1}").text
    assert "turn 2 of" in shown
    assert "turn 3 of" not in shown


def test_going_back_to_revise(bench: Bench) -> None:
    name, ada = bench.campaign(), bench.person("Ada")
    first = ada.next(name)["unit"]
    ada.save(name, first, {"breakdown": "X"})
    page = ada.get(f"/c/{name}/u/{first}.json").json()
    assert (page["answers"], page["revision"], page["submitted"]) == ({"breakdown": "X"}, 1, True)
    assert page["next"] == first + 1
    assert "turn 1 of" not in str(page)
    again = ada.save(name, first, {"breakdown": "T"}, base_revision=1).json()
    assert (again["revision"], again["replaced"]) == (2, None)
    stale = ada.save(name, first, {"breakdown": "O"}, base_revision=1).json()
    assert (stale["revision"], stale["replaced"]) == (3, 2)


def test_neighbours_across_documents(bench: Bench) -> None:
    name = bench.campaign(documents=[chat(f"d{n}", turns=1) for n in range(4)], batch=4)
    ada = bench.person("Ada")
    assert ada.next(name)["units"] == [1, 2, 3, 4]
    pages = [ada.get(f"/c/{name}/u/{n}.json").json() for n in (1, 2, 3, 4)]
    assert [(p["previous"], p["next"]) for p in pages] == [(None, 2), (1, 3), (2, 4), (3, None)]
    assert [p["position"] for p in pages] == [1, 2, 3, 4]
    assert ada.save(name, 4, {"breakdown": "O"}).json()["next"] == 1


def test_tokens_for_spans_are_in_code_points(bench: Bench) -> None:
    name, ada = bench.campaign("semantic-errors", [pair("p0")]), bench.person("Ada")
    page = ada.get(f"/c/{name}/judge.json").json()
    text = next(s["text"] for s in page["context"] if s["id"] == "text")
    assert [text[a:b] for a, b in page["tokens"]["text"]] == text.split()
    triple = next(s for s in page["context"] if s["id"] == "t1")
    assert [triple["text"][a:b] for a, b in page["tokens"]["t1"]] == triple["parts"]
    assert page["target"] is None


def test_the_guideline_as_page_and_as_data(bench: Bench) -> None:
    name, ada = bench.campaign(), bench.person("Ada")
    page = ada.get(f"/c/{name}/guideline?lang=ja")
    assert '<html lang="ja">' in page.text
    assert "'sha256-" in page.headers["content-security-policy"]
    assert "unsafe-inline" not in page.headers["content-security-policy"]
    data = ada.get("/schemes/breakdown/1.0.json")
    assert "immutable" in data.headers["cache-control"]
    assert data.json()["title"] == dict(load_scheme("breakdown").title)
    assert ada.get("/schemes/breakdown/0.9.json").status_code == 404


def test_paused_and_closed(bench: Bench) -> None:
    name, ada = bench.campaign(), bench.person("Ada")
    unit = ada.next(name)["unit"]
    bench.store.campaigns.set_state(name, "paused")
    assert bench.person("Bob").get(f"/c/{name}/judge.json").json()["reason"] == "paused"
    # What is in hand may be finished.
    assert ada.get(f"/c/{name}/judge.json").json()["number"] == unit
    assert ada.save(name, unit, {"breakdown": "O"}).status_code == 201
    bench.store.campaigns.set_state(name, "closed")
    refused = ada.save(name, unit, {"breakdown": "X"})
    assert (refused.status_code, refused.json()["reason"]) == (409, "closed")
