"""People who talk to systems, over HTTP: acknowledged, blind, and with a system that fails."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from lapsus.store import Plan, Store
from lapsus.store.collect_plan import Collect, System
from tests.http_server import Handler, listening
from tests.web.helpers import Bench, Browser

API = "/api/v1/campaigns/talk/talks"


class _System(Handler):
    seen: list[Any] = []  # noqa: RUF012  one server a test
    failing = 0

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        type(self).seen.append((self.path, dict(self.headers), body))
        if type(self).failing > 0:
            type(self).failing -= 1
            self.send_error(500)
            return
        if self.path.endswith("/webhook"):
            said: Any = [{"text": "one"}, {"image": "x"}, {"text": "two"}]
        elif self.path.endswith("/chat/completions"):
            usage = {"prompt_tokens": 30, "completion_tokens": 4}
            said = {"choices": [{"message": {"content": "from the model"}}], "usage": usage}
        else:
            said = {"reply": f"after {len(body['messages'])}"}
        content = json.dumps(said).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@pytest.fixture
def system() -> Iterator[tuple[str, type[_System]]]:
    """A system on this machine, and what it was sent."""
    handler = type("Handler", (_System,), {"seen": [], "failing": 0})
    with listening(handler) as address:
        yield address, handler


def collecting(bench: Bench, **more: Any) -> None:
    more.setdefault("systems", ("bot",))
    bench.store.campaigns.set_up(Plan(name="talk", scheme="breakdown", collect=Collect(**more)))


def talked(browser: Browser, texts: list[str]) -> dict[str, Any]:
    """A talk as a browser has it: say, then wait for the other side."""
    talk = browser.post(API, {}).json()
    address = f"{API}/{talk['talk']}"
    for text in texts:
        while talk["awaits"] == "other":
            talk = browser.get(f"{address}?after={len(talk['turns'])}").json()
        position = len(talk["turns"])
        answer = browser.post(f"{address}/turns", {"key": f"k{position}", "position": position, "text": text})
        assert answer.status_code == 201, answer.text
        talk = browser.get(f"{address}?after={position + 1}").json()
    return dict(talk)


def test_whoever_manages_a_draft_tries_it_before_people_come(bench: Bench) -> None:
    plan = Plan(name="talk", scheme="breakdown", collect=Collect(("bot",)))
    bench.store.campaigns.set_up(plan, draft=True)
    mori, ada = bench.person("mori", role="manager"), bench.person("ada")
    assert mori.get("/c/talk/talk.json").json()["talk"]["awaits"] in ("me", "other")
    assert ada.get("/c/talk/talk.json").status_code == 404
    assert ada.post(API, {}).status_code == 404


def test_twenty_one_turns_with_the_bot(bench: Bench) -> None:
    collecting(bench)
    talk = talked(bench.person("ann"), ["I like music"] * 10)
    assert (talk["state"], len(talk["turns"])) == ("done", 21)
    assert bench.store.progress.of_campaign("talk").documents == 1


def test_nobody_learns_which_system_it_is(bench: Bench, system: tuple[str, type[_System]]) -> None:
    collecting(bench, systems=(System(system[0], "secret-name", prompt="secret-prompt"),))
    ann = bench.person("ann")
    talk = talked(ann, ["hello"])
    pages = [ann.get("/c/talk/talk").text, ann.get("/c/talk/talk.json").text, json.dumps(talk)]
    assert all("secret" not in page and system[0] not in page for page in pages)
    assert ann.get("/c/talk/talks").status_code == 403
    assert "secret-name" in bench.person("mo", "manager").get("/c/talk/talks").text


def test_nothing_is_sent_to_a_system_but_the_talk(bench: Bench, system: tuple[str, type[_System]]) -> None:
    collecting(bench, systems=(System(system[0], "ours"),), mask=("email",))
    talked(bench.person("ann-whose-name-is-hers"), ["I am a@b.example"])
    sent = [json.dumps(one) for one in system[1].seen]
    assert len(sent) == 2
    assert not any("ann-whose" in one or "a@b" in one for one in sent)
    assert system[1].seen[-1][2] == {
        "talk": "talk-1", "language": "en",
        "messages": [{"role": "assistant", "content": "after 0"}, {"role": "user", "content": "I am [email]"}],
    }  # fmt: skip


def test_a_system_that_fails_in_the_middle_is_asked_again(
    bench: Bench, system: tuple[str, type[_System]]
) -> None:
    collecting(bench, systems=(System(system[0], "ours"),), exchanges=2)
    ann = bench.person("ann")
    talked(ann, ["one"])
    system[1].failing = 3
    talk = talked(ann, ["two"])
    while talk["state"] != "done":
        assert talk["failing"]
        talk = ann.get(f"{API}/{talk['talk']}?after={len(talk['turns'])}").json()
    assert [turn["text"] for turn in talk["turns"]] == ["after 0", "one", "after 2", "two", "after 4"]


def test_rasa_and_language_models(
    bench: Bench, system: tuple[str, type[_System]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAPSUS_API_KEY", "the-key")
    rasa = System(f"rasa:{system[0]}", "rasa", opening={"en": "Hi from Rasa"})
    model = System("openai:m", "model", prompt="Be kind.", endpoint=f"{system[0]}/v1", price=(1.0, 2.0))
    collecting(bench, systems=(rasa, model), exchanges=1)
    talks = [talked(bench.person(name), ["hello"]) for name in ("ann", "ben")]
    said = sorted([turn["text"] for turn in talk["turns"]] for talk in talks)
    assert said == [["Hi from Rasa", "hello", "one\ntwo"], ["from the model", "hello", "from the model"]]
    asked = next(one for one in system[1].seen if one[0] == "/v1/chat/completions")
    assert asked[2]["messages"][0] == {"role": "system", "content": "Be kind."}
    assert asked[1]["Authorization"] == "Bearer the-key"
    figures = {one.system: one for one in bench.store.talk_figures.of_campaign("talk")}
    assert figures["model"].tokens_read == 60
    assert figures["model"].cost == pytest.approx((60 * 1.0 + 8 * 2.0) / 1e6)


def test_two_tabs_and_double_sends(bench: Bench) -> None:
    collecting(bench)
    ann = bench.person("ann")
    talk = talked(ann, [])
    while talk["awaits"] == "other":
        talk = ann.get(f"{API}/{talk['talk']}?after=0").json()
    address = f"{API}/{talk['talk']}/turns"
    body = {"key": "k", "position": 1, "text": "hello"}
    first, second = (ann.post(address, body) for _ in range(2))
    assert first.json() == second.json()
    other = ann.post(address, {"key": "l", "position": 1, "text": "from the other tab"})
    assert (other.status_code, other.json()["reason"]) == (409, "turn-taken")
    ben = bench.person("ben")
    assert ben.post(address, {"key": "m", "position": 1, "text": "I am ann"}).status_code == 403
    assert ben.get(address.removesuffix("/turns")).status_code == 403


def test_people_are_led_to_the_talk_and_on(bench: Bench) -> None:
    store = bench.store
    collect = Collect(("bot",), exchanges=1)
    code = {"code": "DONE-1"}
    from lapsus.store import Completion

    store.campaigns.set_up(
        Plan(name="talk", scheme="breakdown", consent={"en": "Agree?"}, completion=Completion(**code),
             per_person=1, collect=collect)
    )  # fmt: skip
    ann = bench.person("ann")
    assert ann.get("/c/talk/judge").url.path == "/c/talk/begin"
    page = ann.post("/c/talk/begin", data={"agree": "yes", "csrf": ann.csrf})
    assert page.url.path == "/c/talk/talk"
    talked(ann, ["hello"])
    assert "DONE-1" in ann.get("/c/talk/talk").text
    assert "DONE-1" in ann.get("/c/talk/talk?new").text


def test_kept_over_a_restart(url: str) -> None:
    from lapsus.store import open_store

    with Bench(open_store(url)) as bench:
        collecting(bench, systems=("http://127.0.0.1:9/nobody",), opens="user")
        ann = bench.person("ann")
        talk = ann.post(API, {}).json()
        ann.post(f"{API}/{talk['talk']}/turns", {"key": "k", "position": 0, "text": "hello"})
    with open_store(url) as store:
        assert_kept(store, talk["talk"])


def assert_kept(store: Store, talk: int) -> None:
    assert [turn.text for turn in store.talks.get(talk).turns] == ["hello"]
