"""A reply is judged as `lapsus check` judges it; the proxy sends the best, and nothing is lost, changed or logged."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

import jsonschema
import pytest
from starlette.testclient import TestClient
from tests.http_server import Handler, listening

import lapsus
from lapsus.errors import InputError, UsageError
from lapsus.guard import Guard
from lapsus.guard.app import GuardServer
from lapsus.guard.guard import TO_LOAD_WITH
from lapsus.guard.metrics import Metrics
from lapsus.guard.recording import Recorder, Write, to_file, to_judgments
from lapsus.guard.recovery import read_ways, suggestions
from lapsus.guard.settings import Settings
from lapsus.model import Entry
from lapsus.schemes import load_scheme
from lapsus.watching.watch import Rules

ASKED = [{"role": "user", "content": "When does the library open on Sunday?"}]
GOOD, BAD = "The library opens at ten on Sunday.", "I like apples very much."
KEY = "sk-secret-of-mine"
CALL = {"id": "a", "type": "function", "function": {"name": "hours", "arguments": "{}"}}


@pytest.fixture(scope="module")
def guard() -> Guard:
    return Guard()


class Bot:
    """An OpenAI-compatible system with replies by rote."""

    def __init__(self, replies: list[dict[str, Any] | None], *, many: bool = True) -> None:
        self.replies, self.many = replies, many
        self.seen: list[tuple[dict[str, Any], str]] = []

    def answer(self, asked: dict[str, Any], key: str) -> tuple[int, bytes, str]:
        self.seen.append((asked, key))
        if not self.replies:
            return 500, b'{"error": {"message": "down"}}', "application/json"
        if asked.get("stream"):
            words = str((self.replies.pop(0) or {})["content"]).split(" ")
            parts = [{"choices": [{"index": 0, "delta": {"content": f"{one} "}}]} for one in words]
            lines = [f"data: {json.dumps(one)}\n\n" for one in parts]
            return 200, "".join([*lines, "data: [DONE]\n\n"]).encode(), "text/event-stream"
        many = asked.get("n", 1) if self.many else 1
        given = [self.replies.pop(0) for _ in range(min(many, len(self.replies)))]
        choices = [
            {"index": place, "message": {"role": "assistant", **(one or {})}, "finish_reason": "stop"}
            for place, one in enumerate(given)
        ]
        usage = {"completion_tokens": len(given)}
        return 200, json.dumps({"id": "c", "choices": choices, "usage": usage}).encode(), "application/json"


@contextmanager
def served(bot: Bot) -> Iterator[str]:
    class System(Handler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            status, content, kind = bot.answer(body, self.headers.get("authorization", ""))
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    with listening(System) as address:
        yield f"{address}/v1"


@contextmanager
def client(
    guard: Guard, writes: list[Write] | None = None, judged: list[Write] | None = None, **settings: Any
) -> Iterator[tuple[TestClient, Metrics]]:
    metrics = Metrics()
    server = GuardServer(guard, Settings(**settings), metrics, Recorder(writes or [], metrics, judged or []))
    with TestClient(server.app, headers={"authorization": f"Bearer {KEY}"}) as found:
        yield found, metrics


def complete(asking: TestClient, **more: Any) -> Any:
    return asking.post("/v1/chat/completions", json={"model": "m", "messages": ASKED, **more})


def said(response: Any) -> str:
    return str(response.json()["choices"][0]["message"]["content"])


@pytest.mark.parametrize("reply", [GOOD, BAD, "", "[Your Name]", "図書館は十時に開きます。"])
def test_agrees_with_check(guard: Guard, reply: str) -> None:
    talk = [
        *ASKED,
        {"role": "assistant", "content": "Which one?"},
        {"role": "user", "content": "The big one."},
    ]
    whole = [*talk, {"role": "assistant", "content": reply}]
    found = lapsus.check([{"messages": whole}], reader="small")
    data = next(one for one in found.as_data("en")["findings"] if one["segment"] == "3")
    verdict = guard.check(talk, [reply])
    assert verdict.risk == pytest.approx(data["risk"], abs=1e-3)
    assert [one.sign for one in verdict.evidence] == [one["sign"] for one in data["evidence"]]
    assert verdict == guard.check(whole)


def test_candidates_keep_their_order_and_tools_are_not_judged(guard: Guard) -> None:
    verdict = guard.check(ASKED, [BAD, {"content": None, "tool_calls": [CALL]}, GOOD])
    assert verdict.best == 2
    assert [one.flagged for one in verdict.candidates] == [True, False, False]
    assert verdict.candidates[1].risk is None
    assert verdict.candidates[0].types
    assert "answer-it" in [one.id for one in verdict.candidates[0].suggestions]


def test_what_it_loads_with_needs_every_model(guard: Guard) -> None:
    guard.load()
    for asked, said in TO_LOAD_WITH:
        assert guard.check([{"role": "user", "content": asked}], [said]).types


def test_suggestions_cover_every_type_in_both_languages() -> None:
    scheme = load_scheme("error-types")
    types = {label.id for label in scheme.labels_of(scheme.questions[0])}
    ways = read_ways()
    assert {type for way in ways for type in way.types} == types
    assert all(suggestions([type], "ja", ways) != suggestions([type], "en", ways) for type in types)


def test_ways_to_recover_of_ones_own(tmp_path: Path) -> None:
    own = tmp_path / "ways.yaml"
    own.write_text(
        "- {id: ask, types: [ignore-question], title: {en: Ask a colleague}, says: {en: Hand the talk over.}}\n"
    )
    (found,) = Guard(recovery=own).check(ASKED, [BAD]).candidates[0].suggestions
    assert (found.id, found.says) == ("ask", "Hand the talk over.")
    own.write_text("- {id: ask, types: [ignore-questions], title: {en: a}, says: {en: b}}\n")
    with pytest.raises(InputError, match="ignore-questions"):
        Guard(recovery=own)
    own.write_text("types: []\n")
    with pytest.raises(InputError, match="no file of ways"):
        Guard(recovery=own)
    with pytest.raises(InputError, match="No such file"):
        Guard(recovery=tmp_path / "gone.yaml")


def test_what_cannot_be_judged_is_told(guard: Guard) -> None:
    for messages, candidates in (([], None), (ASKED, None), (ASKED, [])):
        with pytest.raises(InputError):
            guard.check(messages, candidates)
    with pytest.raises(UsageError):
        Guard(most_risk=2)


def test_check_over_http(guard: Guard) -> None:
    with client(guard, largest=2_000) as (asking, metrics):
        answer = asking.post("/check", json={"messages": ASKED, "candidates": [BAD, GOOD]})
        assert answer.status_code == 200
        assert (answer.json()["best"], len(answer.json()["candidates"])) == (1, 2)
        assert asking.post("/check", content=b"{").status_code == 422
        assert asking.post("/check", json={"messages": ASKED}).status_code == 422
        assert asking.post("/check", json={"messages": [], "x": 1}).status_code == 422
        assert asking.post("/check", content=b"x" * 3_000).status_code == 413
        assert 'lapsus_guard_replies_total{result="flagged"} 1' in asking.get("/metrics").text
        metrics.under_way = 64
        busy = asking.post("/check", json={"messages": ASKED, "candidates": [GOOD]})
        assert (busy.status_code, busy.headers["retry-after"]) == (503, "1")


class _LateError(Exception):
    """The time for a request is over."""


async def _never_whole(_: Any) -> AsyncIterator[bytes]:
    yield b"{"
    raise _LateError


@pytest.mark.parametrize("upstream", ["", "http://127.0.0.1:1/v1"])
def test_its_description_is_right(guard: Guard, monkeypatch: pytest.MonkeyPatch, upstream: str) -> None:
    with client(guard, largest=2_000, upstream=upstream) as (asking, metrics):
        told = asking.get("/openapi.json").json()
        answers = [
            asking.post("/check", json={"messages": ASKED, "candidates": [BAD, {"tool_calls": [CALL]}]}),
            asking.post("/check", json={"messages": ASKED}),
            asking.post("/check", content=b"x" * 3_000),
        ]
        metrics.under_way = 64
        answers.append(asking.post("/check", json={"messages": ASKED, "candidates": [GOOD]}))
        monkeypatch.setattr("lapsus.guard.app.move_on_after", lambda _: suppress(_LateError))
        monkeypatch.setattr("lapsus.guard.app.Request.stream", _never_whole)
        answers.append(asking.post("/check"))
        routes = {
            (method.lower(), route.path.replace(":path", ""))
            for route in cast(Any, asking.app).routes
            for method in (route.methods or {"GET"}) - {"HEAD"}
        }
    assert told["openapi"] == "3.1.0"
    described = {
        (method, path) for path, one in told["paths"].items() for method in one if method != "parameters"
    }
    assert described == routes - {("get", "/openapi.json")}
    responses = told["paths"]["/check"]["post"]["responses"]
    assert {str(one.status_code) for one in answers} == responses.keys()
    for one in answers:
        schema = responses[str(one.status_code)]["content"]["application/json"]["schema"]
        jsonschema.validate(one.json(), {**schema, "components": told["components"]})
    asked = {"$ref": "#/components/schemas/CheckRequest", "components": told["components"]}
    jsonschema.validate({"messages": ASKED, "candidates": [BAD, {"tool_calls": [CALL]}]}, asked)
    for wrong in ({"messages": []}, {"messages": ASKED, "x": 1}, {"messages": ASKED, "candidates": [1]}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, asked)


def test_under_load_the_rest_is_told_to_come_again(guard: Guard, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, may_end, plain = threading.Semaphore(0), threading.Event(), guard.check

    def slow(*given: Any) -> Any:
        begun.release()
        may_end.wait(30)
        return plain(*given)

    monkeypatch.setattr(guard, "check", slow)
    body = {"messages": ASKED, "candidates": [GOOD]}
    with client(guard, at_once=3, threads=2) as (asking, metrics), ThreadPoolExecutor(3) as pool:
        taken = [pool.submit(asking.post, "/check", json=body) for _ in range(3)]
        begun.acquire(timeout=30), begun.acquire(timeout=30)
        while metrics.under_way < 3:
            time.sleep(0.01)
        refused = [asking.post("/check", json=body) for _ in range(20)]
        assert asking.get("/health").status_code == 200
        assert not begun.acquire(blocking=False)  # the third waits for one of the two threads
        may_end.set()
        assert [one.result().status_code for one in taken] == [200] * 3
        assert asking.post("/check", json=body).status_code == 200
    assert {(one.status_code, one.headers["retry-after"]) for one in refused} == {(503, "1")}


@pytest.mark.parametrize("many", [True, False])
def test_choose_sends_the_best(guard: Guard, many: bool) -> None:
    bot = Bot([{"content": BAD}, {"content": GOOD}, {"content": BAD}], many=many)
    with served(bot) as url, client(guard, upstream=url) as (asking, metrics):
        answer = complete(asking)
    assert said(answer) == GOOD
    assert answer.headers["x-lapsus-guard"] == "sound"
    assert answer.json()["usage"] == {"completion_tokens": 3}
    assert {key for _, key in bot.seen} == {f"Bearer {KEY}"}
    assert metrics.count("decisions", result="other") == 1


def test_regenerate_asks_again_only_while_flagged(guard: Guard) -> None:
    bot = Bot([{"content": BAD}, {"content": GOOD}, {"content": GOOD}])
    with served(bot) as url, client(guard, upstream=url, then="regenerate") as (asking, _):
        assert said(complete(asking)) == GOOD
        assert len(bot.seen) == 2


def test_flagged_replies_are_kept_without_keys(guard: Guard, tmp_path: Path) -> None:
    path = tmp_path / "flagged.jsonl"
    bot = Bot([{"content": BAD}, {"content": GOOD}])
    with served(bot) as url, client(guard, [to_file(path)], upstream=url, then="flag") as (asking, metrics):
        answer = complete(asking)
        assert (said(answer), answer.headers["x-lapsus-guard"]) == (BAD, "flagged")
        assert complete(asking).headers["x-lapsus-guard"] == "sound"
    (entry,) = lapsus.read(path)
    assert entry.document is not None
    assert entry.document.segments[-1].text == BAD
    assert KEY not in path.read_text() + metrics.text()
    assert metrics.count("recorded", result="kept") == 1


def test_what_is_asked_about_is_kept_too(guard: Guard, tmp_path: Path) -> None:
    flagged, judged = tmp_path / "flagged.jsonl", tmp_path / "judged.jsonl"
    with client(guard, [to_file(flagged)], [to_judgments(judged)]) as (asking, _):
        asking.post("/check", json={"messages": ASKED, "candidates": [BAD, GOOD]})
        asking.post("/check", json={"messages": [*ASKED, {"role": "assistant", "content": BAD}]})
    assert [_last(entry) for entry in lapsus.read(flagged)] == [BAD, BAD]
    assert [_last(entry) for entry in lapsus.read(judged)] == [GOOD, BAD]


def test_what_was_sent_is_watched(guard: Guard, tmp_path: Path) -> None:
    path = tmp_path / "judged.jsonl"
    for _ in range(2):  # a guard that is started again adds to its file
        bot = Bot(
            [{"content": BAD}, {"content": GOOD}, {"content": BAD}, {"content": GOOD}, {"tool_calls": [CALL]}]
        )
        with (
            served(bot) as url,
            client(guard, None, [to_judgments(path)], upstream=url, then="flag") as (asking, _),
        ):
            for _ in range(5):
                complete(asking)
    found = lapsus.watch(path, tmp_path / "w.state", rules=Rules(sample=1.0))
    assert (found.new, found.errors) == (8, 4)
    assert lapsus.watch(path, tmp_path / "w.state", rules=Rules(sample=1.0)).new == 0


def _last(entry: Entry) -> str:
    assert entry.document is not None
    return entry.document.segments[-1].text


@pytest.mark.parametrize(("then", "stream"), [("choose", "hold"), ("choose", "pass"), ("pass", "hold")])
def test_streams_are_held_or_passed(guard: Guard, tmp_path: Path, then: str, stream: str) -> None:
    is_held = (then, stream) == ("choose", "hold")
    bot = Bot([{"content": BAD}, {"content": GOOD}, {"content": BAD}])
    path = tmp_path / "flagged.jsonl"
    with (
        served(bot) as url,
        client(guard, [to_file(path)], upstream=url, then=then, stream=stream) as (asking, _),
    ):
        text = complete(asking, stream=True).text
    events = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]
    words = "".join(one["choices"][0]["delta"].get("content", "") for one in events)
    assert words.strip() == (GOOD if is_held else BAD)
    assert text.endswith("data: [DONE]\n\n")
    assert bool(bot.seen[0][0].get("stream")) is not is_held
    assert BAD in path.read_text()


def test_tools_json_and_several_replies_are_untouched(guard: Guard) -> None:
    call = {"content": None, "tool_calls": [CALL]}
    bot = Bot(
        [
            call,
            {"content": GOOD},
            {"content": GOOD},
            {"content": '{"a": 1}'},
            {"content": BAD},
            {"content": GOOD},
        ]
    )
    with served(bot) as url, client(guard, upstream=url) as (asking, _):
        assert complete(asking).json()["choices"][0]["message"]["tool_calls"] == [CALL]
        assert said(complete(asking, response_format={"type": "json_object"})) == '{"a": 1}'
        assert said(complete(asking, n=2)) == BAD


def test_upstream_that_is_dead_or_ill(guard: Guard) -> None:
    with served(Bot([])) as url, client(guard, upstream=url) as (asking, _):
        ill = complete(asking)
        assert (ill.status_code, ill.json()["error"]["message"]) == (500, "down")
    with client(guard, upstream=url, timeout=2) as (asking, metrics):
        assert complete(asking).status_code == 502
        assert complete(asking, stream=True).status_code == 502
        assert asking.get("/v1/models").status_code == 502
        assert asking.get("/health").status_code == 200
        assert metrics.count("upstream_errors") == 3


@pytest.mark.parametrize(("fail", "status"), [("open", 200), ("closed", 503)])
def test_fails_open_or_closed(guard: Guard, monkeypatch: pytest.MonkeyPatch, fail: str, status: int) -> None:
    def broken(*args: Any) -> None:
        raise RuntimeError("no model")

    monkeypatch.setattr(guard, "check", broken)
    with (
        served(Bot([{"content": GOOD}])) as url,
        client(guard, upstream=url, then="flag", fail=fail) as (asking, _),
    ):
        answer = complete(asking)
    assert answer.status_code == status
    if fail == "open":
        assert (said(answer), answer.headers["x-lapsus-guard"]) == (GOOD, "unjudged")


def test_many_threads_say_the_same(guard: Guard) -> None:
    alone = guard.check(ASKED, [GOOD, BAD])
    with client(guard, threads=4) as (asking, _):
        found: list[Any] = []
        body = {"messages": ASKED, "candidates": [GOOD, BAD]}
        work = [
            threading.Thread(target=lambda: found.append(asking.post("/check", json=body).json()))
            for _ in range(12)
        ]
        for one in work:
            one.start()
        for one in work:
            one.join()
    assert [one["risk"] for one in found] == [alone.risk] * 12
