"""A database that takes nothing in: people and whatever watches the server are told, and it goes on afterwards."""

from __future__ import annotations

import json
import resource
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from lapsus.formats import read
from lapsus.samples import sample_path
from lapsus.store import Plan, open_store
from lapsus.web.demo import make_challenge
from tests.web.helpers import Bench, chat
from tests.web.server_process import Running


def asked(server: Running, path: str, token: str) -> tuple[int, str]:
    request = urllib.request.Request(  # noqa: S310
        f"{server.address}{path}", headers={"Authorization": f"Bearer {token}"}
    )
    try:
        with urllib.request.urlopen(request) as answer:  # noqa: S310
            return answer.status, ""
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)["reason"]


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="needs a limit on another process's files")
def test_a_full_disk_is_told_by_healthy_as_by_next(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with open_store(path) as store:
        ada = store.people.add("Ada", "annotator")
        store.campaigns.create(Plan(name="chats", scheme="breakdown"))
        store.campaigns.add_documents("chats", [chat("d0"), chat("d1")])
        token = store.access.add_token(ada.id, "test")
    everything = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    with Running("serve", "--db", f"sqlite:///{path}", "--port", "0") as server:
        for size, expected in (((1, everything[1]), (503, "store")), (everything, (200, ""))):
            resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, size)
            assert asked(server, "/healthy.json", token) == expected
            assert asked(server, "/api/v1/campaigns/chats/next", token) == expected
        assert asked(server, "/alive.json", token) == (200, "")


def test_a_database_that_became_read_only_is_told_and_shows_what_it_has(bench: Bench) -> None:
    name = bench.campaign()
    ada, mori = bench.person("Ada"), bench.person("Mori", "manager")
    unit = ada.next(name)["unit"]
    make_challenge(bench.store, [list(read(sample_path("dialogues-en")))])
    takes_nothing = True

    def set_mode(connection: Any, record: object, proxy: object) -> None:
        connection.execute(f"PRAGMA query_only={int(takes_nothing)}")

    event.listen(bench.store.database.engine, "checkout", set_mode)
    for path in (f"/c/{name}/u/{unit}", f"/c/{name}", "/", "/challenge/sample-challenge"):
        assert ada.get(path).status_code == 200
    assert mori.get(f"/c/{name}/insight").status_code == 200
    refused = [
        ada.save(name, unit, {"breakdown": "O"}),
        ada.get("/healthy.json"),
        mori.http.post(f"/c/{name}/manage", data={"do": "state", "state": "paused", "csrf": mori.csrf}),
    ]
    assert [answer.status_code for answer in refused] == [503, 503, 503]
    takes_nothing = False
    assert ada.save(name, unit, {"breakdown": "O"}).status_code == 201
    assert ada.get("/healthy.json").status_code == 200
    assert len(bench.store.judgments.history(name, unit)) == 1
