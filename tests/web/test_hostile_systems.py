"""Systems that answer nonsense, far too much or never: the talk waits and goes on, and what they say is text."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any

import pytest

from lapsus.store import Plan, talks
from lapsus.store.collect_plan import Collect, System
from lapsus.web import talk_work
from tests.http_server import Handler, listening
from tests.patience import LONG
from tests.web.helpers import Bench, Browser

API = "/api/v1/campaigns/talk/talks"
SCRIPT = "</script><img src=x onerror=alert(1)>"


@pytest.fixture(autouse=True)
def _soon_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(talk_work, "PAUSE", 0.01)
    monkeypatch.setattr(talk_work, "LOOK", 0.05)
    # It is asked again when a test says so: a test that stands still for a while would miss that it failed.
    monkeypatch.setattr(talks, "FIRST_WAIT", LONG)
    monkeypatch.setattr(talks, "LONGEST_WAIT", LONG)


@contextmanager
def answering(answers: list[bytes]) -> Iterator[str]:
    """A system that gives these answers in turn, the last one for ever."""

    class System(Handler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            content = answers.pop(0) if len(answers) > 1 else answers[0]
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            with suppress(OSError):
                self.wfile.write(content)

    with listening(System) as address:
        yield address


def begun(bench: Bench, use: str, **more: Any) -> tuple[Browser, dict[str, Any]]:
    plan = Collect(systems=(System(use, "ours"),), exchanges=1, **more)
    bench.store.campaigns.set_up(Plan(name="talk", scheme="breakdown", collect=plan))
    ann = bench.person("ann")
    return ann, ann.post(API, {}).json()


def after(browser: Browser, talk: dict[str, Any]) -> dict[str, Any]:
    """The talk when there is something new."""
    answer = browser.get(f"{API}/{talk['talk']}?after={len(talk['turns'])}")
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


@pytest.mark.parametrize(
    "answer",
    [
        b"<html>",
        b"[" * 100_000,
        b'{"reply": ' + b"[" * 100_000,
        b'{"reply": 5}',
        b'{"reply": " \\n "}',
        json.dumps({"reply": "a" * 20_001}).encode(),
        b'{"reply": "' + b"a" * 5_000_000 + b'"}',
        b'{"reply": "ok", "usage": {"prompt_tokens": 1e999}} trailing',
    ],
    ids=["page", "deep", "deep reply", "number", "blank", "long", "huge", "torn"],
)
def test_a_talk_waits_for_a_system_that_answers_nonsense(
    bench: Bench, answer: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each system is asked twice before the person is told.
    with answering([answer, answer, b'{"reply": "Good day."}']) as url:
        ann, talk = begun(bench, url)
        talk = after(ann, talk)
        assert (talk["failing"], talk["turns"]) == (True, [])
        now = bench.store.talks.clock
        monkeypatch.setattr(bench.store.talks, "clock", lambda: now() + timedelta(seconds=LONG))
        while not talk["turns"]:
            talk = after(ann, talk)
    assert [turn["text"] for turn in talk["turns"]] == ["Good day."]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (SCRIPT, SCRIPT),
        ("half \ud800 a sign\0", "half \ufffd a sign\ufffd"),
        ("\x1b[31mred\x07", "\ufffd[31mred\ufffd"),
        ("שלום \u2068Ann\u2069", "שלום \u2068Ann\u2069"),
    ],
    ids=["script", "half a sign", "control signs", "both directions"],
)
def test_what_a_system_says_is_text(bench: Bench, said: str, kept: str) -> None:
    usage = {"prompt_tokens": -1, "completion_tokens": 10**30}
    with answering([json.dumps({"reply": said, "usage": usage}).encode()]) as url:
        ann, talk = begun(bench, url)
        while not talk["turns"]:
            talk = after(ann, talk)
        assert [turn["text"] for turn in talk["turns"]] == [kept]
        page = ann.get("/c/talk/talk").text
        assert "<img src=x" not in page
        ann.post(f"{API}/{talk['talk']}/turns", {"key": "k", "position": 1, "text": SCRIPT})
        while talk["state"] != "done":
            talk = after(ann, talk)
    assert bench.store.progress.of_campaign("talk").documents == 1
    assert "<img src=x" not in ann.get("/c/talk/talk").text


def test_a_system_that_never_answers_is_not_waited_for(bench: Bench) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        ann, talk = begun(bench, f"http://127.0.0.1:{server.getsockname()[1]}", seconds=1)
        talk = after(ann, talk)
    assert (talk["failing"], talk["state"]) == (True, "open")


def test_nobody_reads_or_goes_on_with_the_talk_of_another(bench: Bench) -> None:
    ann, talk = begun(bench, "bot")
    address = f"{API}/{talk['talk']}"
    ben = bench.person("ben")
    posts = {
        "turns": {"key": "k", "position": len(talk["turns"]), "text": "mine"},
        "answers": {"key": "k", "answers": {"breakdown": "O"}, "segment": "0"},
        "end": {},
    }
    for who in (ben, bench.person("mo", "manager")):
        answers = [who.get(address), *(who.post(f"{address}/{name}", body) for name, body in posts.items())]
        assert {one.status_code for one in answers} == {403}
        missing = who.get(f"{API}/999")
        assert (missing.status_code, missing.json()["reason"]) == (403, answers[0].json()["reason"])
    assert not any(turn["text"] == "mine" for turn in ann.get(address).json()["turns"])
