"""Batches of every provider, against a stub that takes what is published: the same judgments, come back to."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

import lapsus
from lapsus.annotators.language_model.batch import PendingError
from lapsus.annotators.language_model.providers.batches import OpenAiBatches
from lapsus.errors import LapsusError, UsageError
from lapsus.model import Document, Entry, Segment
from tests.annotators.language_model.test_providers import INTERFACES, KEY
from tests.cli.in_process import lapsus as command
from tests.http_server import Handler, listening


def chats(count: int) -> list[Entry]:
    def one(number: int) -> Document:
        text = f"Cheese {number}." if number % 3 == 0 else f"Weather {number}."
        return Document(f"d{number}", (Segment("0", "system", text),), "en")

    return [Entry(f"d{number}", one(number)) for number in range(count)]


def judged(body: Any) -> dict[str, Any] | None:
    """A judge that finds cheese; it will not speak of unit 4, and says nonsense of unit 5 in a batch."""
    said = re.findall(r"(Cheese|Weather) (\d+)\.", json.dumps(body))[-1]
    return None if said[1] == "4" else {"breakdown": "X" if said[0] == "Cheese" else "O", "comment": None}


class Provider:
    """A provider's batch interface, as published; it finishes when it is told to."""

    def __init__(self, name: str) -> None:
        self.name, self.interface = name, INTERFACES[name]
        self.is_done = False
        self.state = ""
        self.nonsense = ""
        """What it says of batches instead."""
        self.requests: list[tuple[str, Any]] = []
        self.single: list[Any] = []
        self.lost: set[str] = set()
        """Requests that it did not come to before its day was over."""

    def reply(self, method: str, path: str, headers: Any, raw: bytes) -> tuple[int, Any]:
        known = {name.lower(): value for name, value in headers.items()}
        for name, value in self.interface.headers.items():
            assert known[name.lower()] == value
        if self.name == "azure":
            path = path.replace("/v1/openai/", "/v1/").replace("?api-version=2024-10-21", "")
            if path.startswith("/v1/deployments/m/"):
                path = "/v1/chat/completions"
        single = "/v1" + ("/chat/completions" if self.name == "azure" else self.interface.path)
        if (method, path) == ("POST", single):
            body = json.loads(raw)
            jsonschema.validate(body, self.interface.schema)
            self.single.append(body)
            return 200, self.interface.said(judged(body))
        return getattr(self, {"responses": "openai", "azure": "openai"}.get(self.name, self.name))(
            method, path, known, raw
        )

    def said(self, name: str, body: Any) -> Any:
        jsonschema.validate(body, self.interface.schema)
        if "Weather 5." in json.dumps(body):
            return self.interface.said("nonsense")
        return self.interface.said(judged(body))

    def openai(self, method: str, path: str, headers: Any, raw: bytes) -> tuple[int, Any]:
        match method, path.removeprefix("/v1"):
            case _ if self.state == "none":
                pass
            case "POST", "/files":
                boundary = headers["content-type"].partition("boundary=")[2]
                assert b'name="purpose"\r\n\r\nbatch\r\n' in raw
                content = raw.split(b"\r\n\r\n")[2].partition(f"\r\n--{boundary}".encode())[0]
                lines = [json.loads(line) for line in content.splitlines()]
                where = {"azure": "/chat/completions", "responses": "/v1/responses"}
                for line in lines:
                    assert sorted(line) == ["body", "custom_id", "method", "url"]
                    assert line["url"] == where.get(self.name, "/v1/chat/completions")
                self.requests = [(line["custom_id"], line["body"]) for line in lines]
                return 200, {"id": "file-1", "object": "file", "purpose": "batch"}
            case "POST", "/batches":
                made = json.loads(raw)
                assert sorted(made) == ["completion_window", "endpoint", "input_file_id"]
                return 200, {"id": "batch_1", "status": "validating"}
            case "GET", "/batches/batch_1":
                if self.state == "failed":
                    return 200, {"status": "failed", "errors": {"data": [{"message": "quota exceeded"}]}}
                if not self.is_done:
                    return 200, {"status": "in_progress", "request_counts": {"completed": 2, "failed": 0}}
                state = "expired" if self.lost else "completed"
                return 200, {"status": state, "output_file_id": "file-2", "error_file_id": "file-3"}
            case "GET", "/files/file-2/content":
                return 200, [
                    {"custom_id": name, "response": {"status_code": 200, "body": self.said(name, body)}}
                    for name, body in reversed(self.requests) if name not in self.lost
                ]  # fmt: skip
            case "GET", "/files/file-3/content":
                return 200, [{"custom_id": name, "response": None, "error": {"code": "batch_expired"}}
                             for name in self.lost]  # fmt: skip
        return 404, {"error": {"message": f"no {path}"}}

    def anthropic(self, method: str, path: str, headers: Any, raw: bytes) -> tuple[int, Any]:
        match method, path.removeprefix("/v1"):
            case "POST", "/messages/batches":
                wanted = json.loads(raw)["requests"]
                assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", one["custom_id"]) for one in wanted)
                self.requests = [(one["custom_id"], one["params"]) for one in wanted]
                return 200, {"id": "batch_1", "type": "message_batch", "processing_status": "in_progress"}
            case "GET", "/messages/batches/batch_1":
                counts = {"processing": 0, "succeeded": 2, "errored": 0, "canceled": 0, "expired": 0}
                status = "ended" if self.is_done else "in_progress"
                return 200, {"id": "batch_1", "processing_status": status, "request_counts": counts}
            case "GET", "/messages/batches/batch_1/results":
                return 200, [
                    {"custom_id": name, "result": {"type": "expired"} if name in self.lost else
                     {"type": "succeeded", "message": self.said(name, body)}}
                    for name, body in reversed(self.requests)
                ]  # fmt: skip
        return 404, {"error": {"message": f"no {path}"}}

    def gemini(self, method: str, path: str, headers: Any, raw: bytes) -> tuple[int, Any]:
        match method, path.removeprefix("/v1"):
            case "POST", "/models/m:batchGenerateContent":
                batch = json.loads(raw)["batch"]
                wanted = batch["inputConfig"]["requests"]["requests"]
                self.requests = [(one["metadata"]["key"], one["request"]) for one in wanted]
                return 200, {"name": "batches/batch_1", "metadata": {"state": "BATCH_STATE_PENDING"}}
            case "GET", "/batches/batch_1":
                if not self.is_done:
                    stats = {"requestCount": "7", "successfulRequestCount": "2"}
                    return 200, {"name": "batches/batch_1", "metadata": {"state": "BATCH_STATE_RUNNING",
                                                                         "batchStats": stats}}  # fmt: skip
                inlined = [{"response": self.said(name, body)} for name, body in self.requests]
                return 200, {"done": True, "metadata": {"state": "BATCH_STATE_SUCCEEDED"},
                             "response": {"inlinedResponses": {"inlinedResponses": inlined}}}  # fmt: skip
        return 404, {"error": {"message": f"no {path}"}}


@contextmanager
def served(name: str) -> Iterator[tuple[Provider, str]]:
    provider = Provider(name)

    class Service(Handler):
        def do_POST(self) -> None:
            self.answer(self.rfile.read(int(self.headers["Content-Length"])))

        def do_GET(self) -> None:
            self.answer(b"")

        def answer(self, raw: bytes) -> None:
            status, body = provider.reply(self.command, self.path, dict(self.headers), raw)
            said = "\n".join(map(json.dumps, body)) if isinstance(body, list) else json.dumps(body)
            if provider.nonsense and "batch" in self.path:
                said = provider.nonsense
            self.send_response(status)
            self.send_header("Content-Length", str(len(said.encode())))
            self.end_headers()
            self.wfile.write(said.encode())

    with listening(Service) as address:
        yield provider, f"{address}/v1{'/' if name == 'azure' else ''}"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAPSUS_API_KEY", KEY)


def go(name: str, address: str, out: Path, count: int = 8, **how: Any) -> Any:
    found = lapsus.detect(
        chats(count), model=f"{name}:m", scheme="breakdown", endpoint=address, batch=True, **how
    )
    found.write(out)
    return found


@pytest.mark.parametrize("name", sorted(INTERFACES.keys() - {"bedrock"}))
def test_handed_in_come_back_to_and_the_same_judgments(name: str, tmp_path: Path) -> None:
    with served(name) as (provider, address):
        if name == "azure":
            address = address.removesuffix("/")
        out = tmp_path / "run.jsonl"
        with pytest.raises(PendingError, match="7 units were handed in as"):
            go(name, address, out)
        assert len(provider.single) == 1, "one is asked about first"
        with pytest.raises(PendingError) as pending:
            go(name, address, out)
        assert (pending.value.done, pending.value.total) == (2, 7)
        assert len(provider.single) == 1
        provider.is_done = True
        found = go(name, address, out)
    assert [one.unit.document for one in found.asked[0].refused] == ["d4"]
    assert len(provider.single) == 2, "what could not be taken is asked about again"
    assert "Weather 5." in json.dumps(provider.single[1])
    said = {j.document: j for entry in lapsus.read(out) for j in entry.judgments}
    assert {id: j.answers["breakdown"] for id, j in said.items()} == {
        f"d{n}": "X" if n % 3 == 0 else "O" for n in range(8) if n != 4
    }
    assert said["d1"].metadata["setting"] == said["d5"].metadata["setting"]
    assert said["d1"].metadata["tokens"] == {"prompt": 100, "completion": 10}
    assert said["d1"].seconds is None
    assert not list(tmp_path.glob("*.batch"))


@pytest.mark.parametrize("name", ["openai", "anthropic"])
def test_what_a_provider_did_not_come_to_is_handed_in_again(name: str, tmp_path: Path) -> None:
    with served(name) as (provider, address):
        out = tmp_path / "run.jsonl"
        with pytest.raises(PendingError):
            go(name, address, out)
        provider.is_done, provider.lost = True, {"5-0", "6-0"}
        with pytest.raises(PendingError, match="1 units"):
            go(name, address, out)
        assert [name for name, _ in provider.requests] == ["0-0"]
        provider.lost = set()
        assert go(name, address, out).units == 7


def test_a_batch_that_failed_says_why_and_other_options_do_not_go_on(tmp_path: Path) -> None:
    with served("openai") as (provider, address):
        out = tmp_path / "run.jsonl"
        with pytest.raises(PendingError):
            go("openai", address, out)
        with pytest.raises(UsageError, match="temperature"):
            go("openai", address, out, temperature=0.7)
        provider.state = "failed"
        with pytest.raises(LapsusError, match="quota exceeded"):
            go("openai", address, out)
        provider.state, provider.is_done = "", True
        with pytest.raises(PendingError, match="6 units"):
            go("openai", address, out)


@pytest.mark.parametrize(
    "nonsense",
    ["<html>", "[" * 100_000, '{"request_counts": [1]}', '{"request_counts": {"completed": "many"}}'],
)
def test_a_provider_that_talks_nonsense_is_told_and_come_back_to(nonsense: str, tmp_path: Path) -> None:
    with served("openai") as (provider, address):
        out = tmp_path / "run.jsonl"
        provider.nonsense = nonsense
        with pytest.raises(LapsusError, match="cannot be understood"):
            go("openai", address, out)
        assert not list(tmp_path.glob("*.batch"))
        provider.nonsense = ""
        with pytest.raises(PendingError):
            go("openai", address, out)
        provider.nonsense = nonsense
        with pytest.raises(LapsusError, match="cannot be understood"):
            go("openai", address, out)
        provider.nonsense, provider.is_done = "", True
        assert go("openai", address, out).units == 7


def test_a_kill_while_a_batch_is_handed_in_is_told_of_and_gone_on_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit = OpenAiBatches.submit

    def killed(*given: Any) -> str:
        submit(*given)
        raise KeyboardInterrupt

    with served("openai") as (provider, address):
        out = tmp_path / "run.jsonl"
        with monkeypatch.context() as once:
            once.setattr(OpenAiBatches, "submit", killed)
            with pytest.raises(KeyboardInterrupt):
                go("openai", address, out)
        with pytest.raises(LapsusError, match="a batch of 7 requests may have been handed in") as told:
            go("openai", address, out)
        assert "cancel" in str(told.value.hint)
        with pytest.raises(PendingError, match="6 units"):
            go("openai", address, out)
        provider.is_done = True
        assert go("openai", address, out).units == 7


def test_a_file_of_what_was_handed_in_that_is_torn_is_told(tmp_path: Path) -> None:
    with served("openai") as (_, address):
        out = tmp_path / "run.jsonl"
        with pytest.raises(PendingError):
            go("openai", address, out)
        (kept,) = tmp_path.glob("*.batch")
        before = kept.read_bytes()
        kept.write_bytes(before[:-20])
        with pytest.raises(LapsusError, match="truncated"):
            go("openai", address, out)
        kept.write_bytes(b'{"settings": [{"a": ' + b"[" * 100_000)
        with pytest.raises(LapsusError):
            go("openai", address, out)


def test_a_budget_bounds_what_is_handed_in(tmp_path: Path) -> None:
    with served("openai") as (provider, address), pytest.raises(PendingError):
        go("openai", address, tmp_path / "run.jsonl", budget=6000)
    assert 0 < len(provider.requests) < 7


def test_several_samples_and_half_the_price(tmp_path: Path) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text("date: 2026-04-01\ncurrency: EUR\nbatch: 0.5\nmodels:\n  openai:m: [1000, 0]\n")
    with served("openai") as (provider, address):
        how = {"samples": 2, "seed": 1, "prices": prices}
        with pytest.raises(PendingError):
            go("openai", address, tmp_path / "run.jsonl", 4, **how)
        provider.is_done = True
        found = go("openai", address, tmp_path / "run.jsonl", 4, **how)
    assert sorted(name for name, _ in provider.requests) == [f"{n}-{k}" for n in range(3) for k in range(2)]
    assert {body["seed"] for _, body in provider.requests} == {1, 2}
    assert found.asked[0].cost["amount"] == pytest.approx(6 * 100 * 1000 / 1e6 / 2)
    said = {j.document: j for entry in lapsus.read(tmp_path / "run.jsonl") for j in entry.judgments}
    assert said["d0"].metadata["cost"]["amount"] == pytest.approx(2 * said["d1"].metadata["cost"]["amount"])
    assert said["d3"].distributions["breakdown"]["X"] == 1.0


def test_a_server_without_batches_is_told_so_and_the_command_comes_back(tmp_path: Path) -> None:
    with served("openai") as (provider, address):
        provider.state = "none"
        with pytest.raises(UsageError, match="takes no batches"):
            go("openai", address, tmp_path / "run.jsonl", 3)
    lines = [{"lapsus": 1}, *({"document": msgspec.to_builtins(one.document)} for one in chats(3))]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with served("openai") as (provider, address):
        arguments = [
            "detect",
            "data.jsonl",
            "-o",
            "out.jsonl",
            "--with",
            "openai:m",
            "--endpoint",
            address,
            "--batch",
        ]
        first = command(*arguments, cwd=tmp_path)
        assert (first.returncode, "2 units were handed in as batch_1" in first.stdout) == (1, True)
        assert "the same command" in first.stderr
        again = command(*arguments, "--json", cwd=tmp_path)
        assert json.loads(again.stdout) == {"batches": ["batch_1"], "done": 2, "requests": 2}
        provider.is_done = True
        assert command(*arguments, cwd=tmp_path).returncode == 0
    with pytest.raises(UsageError, match="bedrock takes no batches"):
        go("bedrock", "http://127.0.0.1:9", tmp_path / "other.jsonl", 3)
