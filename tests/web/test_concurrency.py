"""What a server keeps in mind to be quick never lets anybody save who may not any more: it is refused at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from lapsus.store import Store
from tests.patience import LONG
from tests.web.helpers import Bench, chat


@pytest.mark.parametrize(
    ("change", "status", "reason"),
    [
        (lambda store, name, person: store.people.set_password(person, "another one"), 401, "sign-in"),
        (lambda store, name, person: store.people.set_disabled(person, True), 401, "sign-in"),
        (lambda store, name, person: store.campaigns.set_state(name, "closed"), 409, "closed"),
    ],
    ids=["password", "disabled", "closed"],
)
def test_a_session(bench: Bench, change: Callable[[Store, str, int], None], status: int, reason: str) -> None:
    name, ada = bench.campaign(), bench.person("Ada")
    unit = ada.next(name)["unit"]
    assert ada.save(name, unit, {"breakdown": "O"}).status_code == 201
    change(bench.store, name, ada.id)
    refused = ada.save(name, unit, {"breakdown": "X"})
    assert (refused.status_code, refused.json()["reason"]) == (status, reason)
    assert len(bench.store.judgments.history(name, unit, ada.id)) == 1


@pytest.mark.parametrize("how", ["revoked", "disabled", "unknown"])
def test_a_token(bench: Bench, how: str) -> None:
    name = bench.campaign()
    ada, bob = bench.store.people.add("Ada").id, bench.store.people.add("Bob").id
    token, other = bench.store.access.add_token(ada, "a"), bench.store.access.add_token(bob, "b")
    unit = bench.store.assignment.next_units(ada, name).units[0].number  # type: ignore[union-attr]
    http = bench.stranger()

    def save(key: str, token: str) -> Any:
        path = f"/api/v1/campaigns/{name}/units/{unit}/judgments"
        body = {"key": key, "answers": {"breakdown": "O"}}
        return http.post(path, json=body, headers={"Authorization": f"Bearer {token}"})

    assert save("k1", token).status_code == save("k2", token).status_code == 201
    assert save("k3", other).status_code == 403
    if how == "revoked":
        bench.store.access.revoke_token(ada, bench.store.access.tokens(ada)[0].id)
    elif how == "disabled":
        bench.store.people.set_disabled(ada, True)
    wrong = "lapsus_wrong" if how == "unknown" else token
    for key in ("k1", "k4"):
        assert (save(key, wrong).status_code, save(key, wrong).json()["reason"]) == (401, "sign-in")
    assert len(bench.store.judgments.history(name, unit)) == 2


@pytest.mark.parametrize("unit", [1, 2, 999])
@pytest.mark.parametrize("name", ["breakdown", "none"])
def test_whoever_is_shut_out_learns_nothing(bench: Bench, name: str, unit: int) -> None:
    """Neither which campaigns and units there are nor which answers would do."""
    bench.campaign()
    ada = bench.person("Ada")
    ada.next("breakdown")
    bench.store.people.set_disabled(ada.id, True)
    for answers in ({"breakdown": "O"}, {"breakdown": "Q"}, {"none": 1}):
        refused = ada.save(name, unit, answers)
        assert (refused.status_code, refused.json()["reason"]) == (401, "sign-in")


def test_the_next_unit_is_told_with_the_answer(bench: Bench) -> None:
    """The next one held, over the end of a document; from the beginning again after the last; then none."""
    name = bench.campaign(documents=[chat("d0", turns=2), chat("d1", turns=2)], batch=2)
    ada = bench.person("Ada")
    assert ada.next(name)["units"] == [1, 2, 3, 4]
    told = [ada.save(name, unit, {"breakdown": "O"}).json()["next"] for unit in (2, 3, 4, 1)]
    assert told == [3, 4, 1, None]
    assert ada.save(name, 4, {"breakdown": "T"}).json()["next"] is None


def test_units_that_nobody_looked_at_are_saved_by_the_same_rules(bench: Bench) -> None:
    name, ada = bench.campaign(), bench.person("Ada")
    units = ada.next(name)["units"]
    bench.store.saves._rules.clear()
    assert ada.save(name, units[0], {"breakdown": "Q"}).json()["reason"] == "rules"
    bench.store.saves._rules.clear()
    assert ada.save(name, units[1], {"breakdown": "O"}).status_code == 201


def test_nobody_waits_until_it_is_known_who_another_is(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    people, find = [bench.person("Ada"), bench.person("Ben")], bench.store.access.person_in_session
    both_ask = threading.Barrier(2, timeout=LONG)

    def found(person: int, stamp: str) -> Any:
        both_ask.wait()
        return find(person, stamp)

    monkeypatch.setattr(bench.store.access, "person_in_session", found)
    with ThreadPoolExecutor(2) as two:
        asked = list(two.map(lambda one: one.get("/session.json"), people))
    assert [answer.json()["person"]["name"] for answer in asked] == ["Ada", "Ben"]
