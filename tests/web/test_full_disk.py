"""A server whose disk is full says so, to people and to whatever watches it, and goes on when there is room again."""

from __future__ import annotations

import json
import resource
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from lapsus.store import Plan, open_store
from tests.web.helpers import chat
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
