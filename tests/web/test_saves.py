"""Saves over the interface: once, by the rules, and told in the reader's language."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.web.helpers import ANSWERS, Bench, chat


def test_the_same_key_again_is_kept_once(bench: Bench) -> None:
    name, ada = bench.campaign(), bench.person("Ada")
    unit = ada.next(name)["unit"]
    path, body = (
        f"/api/v1/campaigns/{name}/units/{unit}/judgments",
        {"key": "k1", "answers": {"breakdown": "O"}},
    )
    first, second = ada.post(path, body), ada.post(path, body)
    assert first.status_code == second.status_code == 201
    assert first.json() == second.json()
    assert len(bench.store.judgments.history(name, unit, ada.id)) == 1
    other = ada.post(path, {"key": "k1", "answers": {"breakdown": "X"}})
    assert (other.status_code, other.json()["reason"]) == (409, "key-reused")


def test_one_key_sent_many_times_at_once(bench: Bench) -> None:
    name, ada = bench.campaign(), bench.person("Ada")
    unit = ada.next(name)["unit"]
    path, body = (
        f"/api/v1/campaigns/{name}/units/{unit}/judgments",
        {"key": "k1", "answers": {"breakdown": "O"}},
    )
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: ada.post(path, body).json()["revision"], range(16)))
    assert answers == [1] * 16
    assert len(bench.store.judgments.history(name, unit, ada.id)) == 1


@pytest.mark.parametrize(("lang", "words"), [("en", "stands alone"), ("ja", "単独で付けます")])
def test_broken_rules_in_the_readers_language(bench: Bench, lang: str, words: str) -> None:
    name, ada = bench.campaign("error-types"), bench.person("Ada")
    unit = ada.next(name)["unit"]
    both = {"types": ["wrong-information", "repetition"]}
    refused = ada.save(name, unit, both, lang=lang)
    assert refused.status_code == 422
    said = refused.json()
    assert said["reason"] == "rules"
    assert words in said["message"]
    assert said["messages"] == [rule["message"] for rule in said["broken"]]
    assert (said["broken"][0]["rule"], said["broken"][0]["question"]) == ("alone", "types")
    assert bench.store.judgments.history(name, unit, ada.id) == []


def test_a_draft_may_be_incomplete(bench: Bench) -> None:
    name, ada = bench.campaign("response-quality"), bench.person("Ada")
    unit = ada.next(name)["unit"]
    some = {"soundness": 3}
    assert ada.save(name, unit, some).status_code == 422
    draft = ada.save(name, unit, some, submitted=False)
    assert draft.status_code == 201
    assert draft.json()["next"] == unit + 1
    page = ada.get(f"/c/{name}/u/{unit}.json").json()
    assert (page["answers"], page["revision"], page["submitted"]) == (some, 1, False)


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        (b"{", 400, "not-json"),
        (b"\xff\xfe", 400, "not-json"),
        (b'{"key":"k","answers":' + b"[" * 100_000, 422, "shape"),
        (b"[]", 422, "shape"),
        (b"{}", 422, "shape"),
        (b'{"key":"","answers":{}}', 422, "shape"),
        (b'{"key":"k","answers":{},"extra":1}', 422, "shape"),
        (b'{"key":"k","answers":{"breakdown":{"a":1}}}', 422, "shape"),
        (b'{"key":"k","answers":{"breakdown":"O"},"seconds":-1}', 422, "shape"),
        (b'{"key":"k","answers":{"breakdown":"O"},"base_revision":99999999999}', 422, "shape"),
        (b'{"key":"k\\u0000","answers":{"breakdown":"O"}}', 422, "shape"),
        (b'{"key":"k","answers":{"errors":[{"segment":"t","start":3,"end":1,"label":"x"}]}}', 422, "shape"),
        (b'{"key":"k","answers":{"breakdown":1e999}}', 422, "shape"),
        (b'{"key":"k","answers":{"breakdown":null}}', 422, "rules"),
    ],
)
def test_bodies_that_do_not_hold_together(bench: Bench, body: bytes, status: int, reason: str) -> None:
    name, ada = bench.campaign(), bench.person("Ada")
    unit = ada.next(name)["unit"]
    path = f"/api/v1/campaigns/{name}/units/{unit}/judgments"
    answer = ada.http.post(path, content=body, headers={"X-CSRF-Token": ada.csrf})
    assert (answer.status_code, answer.json()["reason"]) == (status, reason)
    assert answer.json()["message"]
    assert bench.store.judgments.history(name, unit, ada.id) == []


@pytest.mark.parametrize(
    "more",
    [
        {"given_at": "0001-01-01T00:00:00+14:00"},
        {"given_at": "2026-01-01T00:00:00"},
        {"given_at": "1970-01-01T00:00:00Z"},
        {"given_at": None, "seconds": None, "base_revision": None},
        {"seconds": 1e300},
        {"client": "😀 browser"},
    ],
)
def test_a_wrong_clock_costs_nobody_an_answer(bench: Bench, more: dict[str, Any]) -> None:
    name, ada = bench.campaign(), bench.person("Ada")
    unit = ada.next(name)["unit"]
    assert ada.save(name, unit, {"breakdown": "O"}, **more).status_code == 201
    stored = bench.store.judgments.get(name, unit, ada.id)
    assert stored is not None
    assert stored.given_at is not None
    assert stored.given_at.year >= 2020
    assert (stored.seconds or 0) <= 86_400


def test_a_body_too_large(bench: Bench) -> None:
    name, ada = bench.campaign(), bench.person("Ada")
    unit = ada.next(name)["unit"]
    refused = ada.save(name, unit, {"breakdown": "O", "comment": "x" * 1_000_001})
    assert (refused.status_code, refused.json()["reason"]) == (413, "too-large")
    assert ada.save(name, unit, {"breakdown": "O", "comment": "x" * 10_000}).status_code == 201


def test_a_flag_is_kept_once_and_seen_by_its_owner_and_managers(bench: Bench) -> None:
    name = bench.campaign(per_unit=2)
    ada, bob, manager = bench.person("Ada"), bench.person("Bob"), bench.person("Mori", "manager")
    unit = ada.next(name)["unit"]
    path, body = f"/api/v1/campaigns/{name}/units/{unit}/flags", {"key": "f", "text": "what is this?"}
    assert ada.post(path, body).status_code == ada.post(path, body).status_code == 201
    assert bob.post(path, body).status_code == 403
    assert [flag["text"] for flag in ada.get(f"/c/{name}.json").json()["flags"]] == ["what is this?"]
    assert bob.get(f"/c/{name}.json").json()["flags"] == []
    assert len(manager.get(f"/c/{name}.json").json()["flags"]) == 1
    assert ada.post(path, {"key": "g", "text": "\u202e"}).status_code == 422


def test_own_judgments_page_by_page(bench: Bench) -> None:
    name = bench.campaign(documents=[chat(f"d{n}", turns=6) for n in range(10)])
    ada = bench.person("Ada")
    while (unit := ada.next(name)["unit"]) is not None:
        assert ada.save(name, unit, ANSWERS["breakdown"]).status_code == 201
    path = f"/api/v1/campaigns/{name}/judgments"
    first = ada.get(path).json()
    second = ada.get(f"{path}?before={first['before']}").json()
    units = [said["unit"] for page in (first, second) for said in page["judgments"]]
    assert units == list(range(60, 0, -1))
    assert second["before"] is None
    assert ada.get(f"{path}?before=x").status_code == 422
    assert "seconds" not in first["judgments"][0]
