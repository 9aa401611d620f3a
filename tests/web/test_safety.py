"""The workbench against those who mean harm: what outsiders learn, what is shown too early, what connections cost."""

from __future__ import annotations

import asyncio
import http.client
import socket
import threading
import time
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from lapsus.errors import LapsusError
from lapsus.store import Store, open_store
from lapsus.web import app as workbench
from lapsus.web import connection, security
from lapsus.web.app import create_app
from lapsus.web.server import listen, serve
from tests.web.helpers import ANSWERS, Bench, Browser, chat, pair


def run_apart(work: Coroutine[Any, Any, None]) -> None:
    """In a thread of its own: a browser's test in the same process leaves a loop running in this one."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, work).result()


def refusal(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["reason"]


def test_outsiders_learn_nothing_by_saving(bench: Bench) -> None:
    """Neither texts, which broken rules quote, nor which campaigns and units there are."""
    bench.campaign("semantic-errors", [pair("d0")], name="secret", who="named")
    eve, mori = bench.person("Eve"), bench.person("Mori", "manager")
    cut = {"errors": [{"segment": "text", "start": 1, "end": 7, "label": "addition"}]}
    bench.store.saves.cache_rules("secret", [1])
    answers = [
        eve.save(name, unit, said)
        for name in ("secret", "nothing")
        for unit in (1, 2, 999_999)
        for said in (cut, ANSWERS["semantic-errors"], {"no": "question"}, {})
    ]
    assert {refusal(answer) for answer in answers} == {(404, "no-campaign")}
    assert len({answer.text for answer in answers}) == 1
    assert "Vale" not in answers[0].text
    stranger = bench.stranger()
    path = "/api/v1/campaigns/{}/units/1/judgments"
    said = [
        stranger.post(path.format(name), json={"key": "k", "answers": cut}) for name in ("secret", "nothing")
    ]
    assert said[0].status_code == said[1].status_code
    assert said[0].json() == said[1].json()
    # Whoever sees everything is told what is wrong.
    assert refusal(mori.save("secret", 1, cut)) == (403, "not-yours")


def test_flags_and_other_pages_tell_outsiders_nothing_either(bench: Bench) -> None:
    bench.campaign("semantic-errors", [pair("d0")], name="secret", who="named")
    eve = bench.person("Eve")
    for path in ("/c/{}.json", "/c/{}/u/1.json", "/c/{}/judge.json", "/c/{}/guideline.json", "/c/{}/begin.json",
                 "/api/v1/campaigns/{}", "/api/v1/campaigns/{}/next", "/api/v1/campaigns/{}/units/1",
                 "/api/v1/campaigns/{}/judgments", "/c/{}/insight.json"):  # fmt: skip
        there, nowhere = eve.get(path.format("secret")), eve.get(path.format("nothing"))
        assert there.status_code == nowhere.status_code, path
        assert there.text.replace("secret", "") == nowhere.text.replace("nothing", ""), path
    flag = {"key": "k", "text": "why"}
    for name in ("secret", "nothing"):
        assert eve.post(f"/api/v1/campaigns/{name}/units/1/flags", flag).status_code == 404


def texts(browser: Browser, name: str, unit: int) -> str:
    """Everything that is shown of a campaign to an annotator, but for the pages of earlier units."""
    pages = [f"/c/{name}", f"/c/{name}.json", f"/api/v1/campaigns/{name}/judgments"]
    pages += [f"/c/{name}/u/{unit}", f"/c/{name}/u/{unit}.json", f"/api/v1/campaigns/{name}/units/{unit}"]
    return "\n".join(browser.get(path).text for path in pages)


@pytest.mark.parametrize("how", ["reserved", "released", "drafts", "out of order"])
def test_nothing_of_a_later_turn_is_shown_before_the_earlier_one_is_judged(bench: Bench, how: str) -> None:
    name = bench.campaign(documents=[chat("d0")])
    ada = bench.person("Ada")
    first, second, third = ada.next(name)["units"]
    if how == "drafts":
        for unit in (first, second, third):
            assert ada.save(name, unit, {"breakdown": "O"}, submitted=False).status_code == 201
    if how == "out of order":
        assert ada.save(name, third, {"breakdown": "O"}).status_code == 201
    if how == "released":
        bench.store.assignment.give_back(ada.id, name)
    for unit in (second, third):
        shown = texts(ada, name, unit)
        assert "turn 4 of d0" not in shown
        assert "turn 2 of d0" not in shown
    ada.save(name, first, {"breakdown": "O"})
    shown = texts(ada, name, second)
    assert "turn 2 of d0" in shown
    assert "turn 4 of d0" not in texts(ada, name, third)
    ada.save(name, second, {"breakdown": "O"})
    assert "turn 4 of d0" in texts(ada, name, third)


MARKS = """
scheme: odd-words
version: "1"
title: {en: Odd words}
summary: {en: What is odd in a turn}
unit: {role: system, context: before}
questions:
  - id: marks
    kind: spans
    name: {en: Marks}
    ask: {en: What is odd?}
    labels:
      - {id: odd, name: {en: Odd}, definition: {en: Not to be expected}, on: system, covers: token}
"""


def test_marks_on_a_later_turn_are_refused_and_quote_nothing_of_it(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "odd-words.yaml"
    path.write_text(MARKS, encoding="utf-8")
    name = bench.campaign(str(path), [chat("d0")], name="odd")
    ada = bench.person("Ada")
    first = ada.next(name)["unit"]
    for start, end in ((0, 4), (1, 9), (0, 999)):
        mark = {"segment": "4", "start": start, "end": end, "label": "odd"}
        for given in ([mark], [mark, mark]):
            answer = ada.save(name, first, {"marks": given})
            assert refusal(answer) == (422, "rules")
            assert answer.json()["broken"][-1]["rule"] == "unknown-segment"
            assert "urn 4 of" not in answer.text
    assert (
        ada.save(name, first, {"marks": [{"segment": "0", "start": 0, "end": 4, "label": "odd"}]}).status_code
        == 201
    )


def test_a_database_that_is_gone_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    with open_store(path) as store, Bench(store) as bench:
        name = bench.campaign()
        ada = bench.person("Ada")
        unit = ada.next(name)["unit"]
        assert ada.get("/healthy.json").json() == {"healthy": True}
        path.unlink()
        assert refusal(ada.get("/healthy.json")) == (503, "store")
        assert refusal(ada.save(name, unit, {"breakdown": "O"})) == (503, "store")


def test_answers_that_are_too_large_are_refused(bench: Bench) -> None:
    name = bench.campaign()
    ada = bench.person("Ada")
    unit = ada.next(name)["unit"]
    assert refusal(ada.save(name, unit, {"breakdown": "O", "comment": "x" * 200_000})) == (413, "too-large")


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    """A real server that is in a hurry."""
    monkeypatch.setattr(connection, "HEAD_SECONDS", 1.0)
    monkeypatch.setattr(security, "PAUSE_SECONDS", 1.0)
    listening, ready = listen("127.0.0.1", 0), threading.Event()
    store = open_store(tmp_path / "served.sqlite")
    loops: list[asyncio.AbstractEventLoop] = []
    servers: list[Any] = []
    import uvicorn

    started = uvicorn.Server.startup

    async def startup(self: Any, sockets: Any = None) -> None:
        servers.append(self)
        loops.append(asyncio.get_running_loop())
        await started(self, sockets)

    monkeypatch.setattr(uvicorn.Server, "startup", startup)
    thread = threading.Thread(target=serve, args=(store, listening), kwargs={"ready": ready.set})
    thread.start()
    assert ready.wait(60)
    yield listening.getsockname()[:2]
    servers[0].should_exit = True
    thread.join(60)
    assert not thread.is_alive()


def received(conn: socket.socket) -> bytes:
    found = b""
    conn.settimeout(60)
    try:
        while part := conn.recv(65536):
            found += part
    except ConnectionError:
        pass
    return found


_FORM = b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 100"
_CHUNKED = b"POST /sign-in HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


def test_a_request_without_end_costs_little(address: tuple[str, int]) -> None:
    """Headers, headers after a body, and sizes of chunks: all of it ends soon."""
    for begin, more in (
        (b"GET / HTTP/1.1\r\nHost: x\r\n", b"X-A: " + b"a" * 8000 + b"\r\n"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nX-A: ", b"a" * 8000),
        (b"GET /", b"a" * 8000),
        (_CHUNKED + b"0\r\n", b"X-A: " + b"a" * 8000 + b"\r\n"),
    ):
        with socket.create_connection(address) as conn:
            conn.sendall(begin)
            # More than the system's own buffers hold (up to 40 MB in places): only a server that hangs up ends it.
            with pytest.raises(ConnectionError):
                conn.sendall(more * (80_000_000 // len(more)))


def test_half_sent_requests_do_not_stay(address: tuple[str, int]) -> None:
    begun = time.monotonic()
    halves = (
        b"",
        b"\r\n",
        b"GET / HT",
        b"GET / HTTP/1.1\r\nHost: x\r\n",
        b"POST /sign-in HTTP/1.1\r\nHost: x\r\n" + _FORM + b"\r\n\r\nname=",
    )
    open_ones = [socket.create_connection(address) for _ in range(40)]
    for place, conn in enumerate(open_ones):
        conn.sendall(halves[place % len(halves)])
    answers = [received(conn) for conn in open_ones]
    for conn in open_ones:
        conn.close()
    assert time.monotonic() - begun < 120
    assert all(answer.startswith(b"HTTP/1.1 408") for answer in answers)
    # Whoever asks as one does is answered, also twice on one connection with a while between.
    with closing(http.client.HTTPConnection(*address, timeout=60)) as asking:
        for rest in (1.2, 0.0):
            asking.request("GET", "/healthy.json")
            answer = asking.getresponse()
            assert (answer.status, answer.read()) == (200, b'{"healthy":true}')
            time.sleep(rest)


def test_a_task_beside_survives_what_goes_wrong(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def fails() -> None:
        seen.append(1)
        raise (ValueError("a mistake of ours"), LapsusError("trouble"))[len(seen) % 2]

    async def some_rounds() -> None:
        task = asyncio.create_task(workbench.refresh_stats(store))
        while len(seen) < 3:
            await asyncio.sleep(0.01)
            assert not task.done()
        task.cancel()

    monkeypatch.setattr(workbench, "REFRESH_EVERY", 0.01)
    monkeypatch.setattr(workbench, "precompute_stats", lambda store: 1 / 0)
    monkeypatch.setattr(store.stats, "refresh", fails)
    run_apart(asyncio.wait_for(some_rounds(), 60))


def test_the_store_is_closed_whatever_goes_wrong(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[int] = []
    monkeypatch.setattr(store, "close", lambda: closed.append(1))

    async def broken(store: Store) -> None:
        raise ValueError("a mistake of ours")

    monkeypatch.setattr("lapsus.web.app.refresh_stats", broken)

    async def live() -> None:
        app = create_app(store)
        async with app.router.lifespan_context(app):
            await asyncio.sleep(0.01)

    run_apart(live())
    assert closed == [1]


def test_reports_are_of_now(bench: Bench) -> None:
    name = bench.campaign()
    ada, mori = bench.person("Ada"), bench.person("Mori", "manager")
    ada.save(name, ada.next(name)["unit"], {"breakdown": "O"})
    first = mori.get(f"/c/{name}/report.html").text
    assert mori.get(f"/c/{name}/report.html").text == first
    bench.store.campaigns.add_documents(name, [chat(f"more{number}") for number in range(40)])
    second = mori.get(f"/c/{name}/report.html").text
    assert second != first
    bench.store.campaigns.set_state(name, "paused")
    assert mori.get(f"/c/{name}/report.html").text


def test_the_japanese_tokenizer_is_used_by_one_thread_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    from concurrent.futures import ThreadPoolExecutor

    from lapsus.language import tokenizer

    inside: list[int] = []

    class Tokenizer:
        def tokenize(self, text: str) -> list[Any]:
            inside.append(1)
            time.sleep(0.005)
            assert len(inside) == 1
            inside.pop()
            return []

    monkeypatch.setattr(tokenizer, "_sudachi", lambda: Tokenizer())
    with ThreadPoolExecutor(8) as pool:
        for one in [pool.submit(tokenizer.tokens, "日本語です", "ja") for _ in range(30)]:
            one.result()
