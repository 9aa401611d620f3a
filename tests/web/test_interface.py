"""The interface's description and its client."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
import regex
from starlette.routing import Route

from lapsus.client import Client, ServerError
from lapsus.errors import LapsusError, UsageError
from lapsus.store import Plan, Store
from lapsus.store.collect_plan import Collect
from lapsus.web.api import OPERATIONS, ROOT
from tests.web.helpers import Bench, chat


def refs(tree: Any) -> Iterator[str]:
    if isinstance(tree, dict):
        for key, value in tree.items():
            if key == "$ref":
                yield value
            yield from refs(value)
    elif isinstance(tree, list):
        for item in tree:
            yield from refs(item)


def test_the_description_is_whole(bench: Bench) -> None:
    answer = bench.stranger().get(f"{ROOT}/openapi.json")
    document = json.loads(answer.text)
    assert document["openapi"] == "3.1.0"
    for ref in refs(document):
        place = document
        for step in ref.removeprefix("#/").split("/"):
            place = place[step]
    for path, operations in document["paths"].items():
        names = set(regex.findall(r"\{(\w+)\}", path))
        for operation in operations.values():
            assert {p["name"] for p in operation["parameters"] if p["in"] == "path"} == names
            assert operation["summary"]
            assert "401" in operation["responses"]


def test_every_route_is_described(bench: Bench) -> None:
    document = bench.stranger().get(f"{ROOT}/openapi.json").json()
    described = {(m.upper(), p) for p, operations in document["paths"].items() for m in operations}
    served = {
        (method, regex.sub(r"\{(\w+):\w+\}", r"{\1}", route.path.removeprefix(ROOT)))
        for route in bench.app.routes
        if isinstance(route, Route)
        and route.path.startswith(ROOT)
        and not route.path.endswith("openapi.json")
        for method in (route.methods or set()) - {"HEAD"}
    }
    assert described == served
    assert len(served) == len(OPERATIONS)


def test_answers_are_what_the_description_says(bench: Bench) -> None:
    name, ada = bench.campaign(), bench.person("Ada")
    unit = ada.next(name)["unit"]
    bench.store.campaigns.set_up(Plan(name="talk", scheme="breakdown", collect=Collect(("bot",))))
    talk = ada.post(f"{ROOT}/campaigns/talk/talks", {}).json()["talk"]
    for operation in OPERATIONS:
        if operation.method == "GET":
            where, number = ("talk", talk) if "/talks/" in operation.path else (name, unit)
            path = operation.path.replace("{campaign:slug}", where).replace("{number:number}", str(number))
            answer = ada.get(ROOT + path)
            assert answer.status_code == 200
            fields = {field.encode_name for field in msgspec.structs.fields(operation.answer)}
            assert set(answer.json()) <= fields
            msgspec.json.decode(answer.content, type=operation.answer)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/none", 404),
        ("GET", "/campaigns/none", 404),
        ("GET", "/campaigns/NONE", 404),
        ("GET", "/campaigns/%00", 404),
        ("GET", "/campaigns/x/units/99999999999999999999", 404),
        ("GET", "/campaigns/x/units/0", 404),
        ("DELETE", "/campaigns", 405),
        ("POST", "/campaigns", 405),
        ("PUT", "/campaigns/x/units/1/judgments", 405),
    ],
)
def test_what_is_not_there(bench: Bench, method: str, path: str, status: int) -> None:
    bench.campaign(name="x")
    ada = bench.person("Ada")
    answer = ada.http.request(method, ROOT + path, headers={"X-CSRF-Token": ada.csrf})
    assert answer.status_code == status
    assert set(answer.json()) >= {"reason", "message"}


@pytest.fixture
def address(store: Store) -> Iterator[str]:
    """The workbench on a real socket."""
    import uvicorn

    from lapsus.web.app import create_app

    server = uvicorn.Server(uvicorn.Config(create_app(store), log_level="error"))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        thread.join()


def test_a_client_judges_a_campaign(store: Store, address: str) -> None:
    bench = Bench.__new__(Bench)
    bench.store = store
    name = bench.campaign(documents=[chat("d0"), chat("d1")])
    client = Client(address, store.access.add_token(store.people.add("Ada").id, "test"))
    assert [campaign["name"] for campaign in client.campaigns()] == [name]
    while (unit := client.next(name)["unit"]) is not None:
        page = client.unit(name, unit)
        assert page["target"]["role"] == "system"
        assert client.save(name, unit, {"breakdown": "O"}, seconds=1.0)["revision"] == 1
    client.flag(name, 1, "is this one fine?")
    assert [said["unit"] for said in client.judgments(name)] == [6, 5, 4, 3, 2, 1]
    assert client.campaign(name)["progress"]["done"] == 6


def test_a_client_is_told_why_not(store: Store, address: str) -> None:
    bench = Bench.__new__(Bench)
    bench.store = store
    name = bench.campaign()
    token = store.access.add_token(store.people.add("Ada").id, "test")
    client = Client(address, token, language="ja")
    unit = client.next(name)["unit"]
    with pytest.raises(ServerError, match="選択肢にありません") as refused:
        client.save(name, unit, {"breakdown": "Q"})
    assert (refused.value.status, refused.value.reason) == (422, "rules")
    assert refused.value.answer["broken"][0]["rule"] == "unknown-label"
    with pytest.raises(LapsusError, match="sign in"):
        Client(address, "lapsus_wrong").campaigns()
    with pytest.raises(ServerError, match="no answer"):
        Client("http://127.0.0.1:9", token, timeout=2).campaigns()
    with pytest.raises(UsageError):
        Client("file:///etc/passwd", token)
