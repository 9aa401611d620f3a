"""Batch interfaces of providers: many requests handed in at once, for half the price and within a day."""

import json
import secrets
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, TypeAlias
from urllib.parse import quote

from lapsus.annotators.language_model.service import Service, ServiceError
from lapsus.errors import UsageError
from lapsus.notices import Notice

_NOT_COME_TO = ("batch_expired", "batch_cancelled", "expired", "canceled")
"""What is said of requests that were not done before the day was over, or somebody cancelled the batch."""
Body: TypeAlias = dict[str, Any]


class BatchRequest(NamedTuple):
    """One request of a batch, by a name of ours."""

    id: str
    body: Body


class Progress(NamedTuple):
    """How far a batch is."""

    is_over: bool
    done: int = 0
    failed: str = ""
    """Why none of it was done, where the provider says so."""


class Batches(ABC):
    """How one provider takes batches. Nothing is remembered here: an id is all that is needed to come back."""

    most: ClassVar[int] = 50_000
    """Requests of one batch."""
    largest: ClassVar[int] = 90_000_000
    """Bytes of one batch, well within what is published."""

    def __init__(self, service: Service, model: str) -> None:
        self.service, self.model = service, model

    @abstractmethod
    def submit(self, requests: Sequence[BatchRequest]) -> str:
        """Hand requests in; the id of the batch."""

    @abstractmethod
    def progress(self, id: str) -> Progress:
        """How far it is."""

    @abstractmethod
    def replies(self, id: str, asked: Sequence[str]) -> Iterator[tuple[str, Body | str]]:
        """The reply to each request, as its interface gives it, or why there is none. `asked`: the names, in order.

        Requests that the provider did not come to are left out: they can be handed in again.
        """

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Body:
        raw = None if body is None else json.dumps(body).encode()
        found = json.loads(self._send(method, path, raw))
        if not isinstance(found, dict):
            raise ServiceError(Notice("answers-no-json-object", host=self.service.where.host))
        return found

    def _send(self, method: str, path: str, body: bytes | None = None, type: str | None = None) -> bytes:
        try:
            return self.service.send(method, path, body, type)
        except ServiceError as error:
            if error.status in (404, 405):
                raise UsageError(
                    "no-batch-interface", hint="batch-without", host=self.service.where.host
                ) from None
            raise


class OpenAiBatches(Batches):
    """A file of requests, a batch of it, and a file of replies."""

    url: ClassVar[str] = "/v1/chat/completions"
    """Where each request of the file goes."""

    def submit(self, requests: Sequence[BatchRequest]) -> str:
        """The file, then the batch."""
        lines = [
            {"custom_id": one.id, "method": "POST", "url": self.url, "body": one.body} for one in requests
        ]
        boundary = f"lapsus-{secrets.token_hex(16)}"
        content = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        form = b"".join(
            [
                f'--{boundary}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'.encode(),
                f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="units.jsonl"\r\n'.encode(),
                b"Content-Type: application/jsonl\r\n\r\n",
                content,
                f"\r\n--{boundary}--\r\n".encode(),
            ]
        )
        kind = f"multipart/form-data; boundary={boundary}"
        file = json.loads(self._send("POST", self._path("/files"), form, kind))
        made = {"input_file_id": file["id"], "endpoint": self.url, "completion_window": "24h"}
        return str(self._ask("POST", self._path("/batches"), made)["id"])

    def progress(self, id: str) -> Progress:
        """Its status; one that expired has what was done until then."""
        found = self._ask("GET", self._path(f"/batches/{quote(id, safe='')}"))
        counts = found.get("request_counts") or {}
        done = int(counts.get("completed") or 0) + int(counts.get("failed") or 0)
        status = found.get("status")
        errors = (found.get("errors") or {}).get("data") or []
        failed = "; ".join(str(one.get("message")) for one in errors[:3]) or "failed"
        is_over = status in ("completed", "failed", "expired", "cancelled")
        return Progress(is_over, done, failed if status == "failed" else "")

    def replies(self, id: str, asked: Sequence[str]) -> Iterator[tuple[str, Body | str]]:
        """Those of the file of replies, and those of the file of errors."""
        found = self._ask("GET", self._path(f"/batches/{quote(id, safe='')}"))
        for name in (found.get("output_file_id"), found.get("error_file_id")):
            if not name:
                continue
            content = self._send("GET", self._path(f"/files/{quote(str(name), safe='')}/content"))
            for line in _lines(content):
                if (line.get("error") or {}).get("code") in _NOT_COME_TO:
                    continue
                response = line.get("response") or {}
                is_good = response.get("status_code") == 200 and isinstance(response.get("body"), dict)
                said = line.get("error") or response.get("body") or "no reply"
                yield str(line.get("custom_id")), response["body"] if is_good else json.dumps(said)

    def _path(self, path: str) -> str:
        return path


class ResponsesBatches(OpenAiBatches):
    """The same, of Responses."""

    url = "/v1/responses"


class AzureBatches(OpenAiBatches):
    """The same at a resource, whose deployment must be one for batches."""

    url = "/chat/completions"
    version: ClassVar[str] = "2024-10-21"

    def _path(self, path: str) -> str:
        if self.service.where.url.endswith("/v1"):
            return path
        return f"/openai{path}?api-version={self.version}"


class AnthropicBatches(Batches):
    """Requests in one message; replies as a stream of lines."""

    most = 10_000

    def submit(self, requests: Sequence[BatchRequest]) -> str:
        """All at once."""
        wanted = [{"custom_id": one.id, "params": one.body} for one in requests]
        return str(self._ask("POST", "/messages/batches", {"requests": wanted})["id"])

    def progress(self, id: str) -> Progress:
        """Its status."""
        found = self._ask("GET", f"/messages/batches/{quote(id, safe='')}")
        counts = found.get("request_counts") or {}
        done = sum(int(counts.get(name) or 0) for name in ("succeeded", "errored", "canceled", "expired"))
        return Progress(found.get("processing_status") == "ended", done)

    def replies(self, id: str, asked: Sequence[str]) -> Iterator[tuple[str, Body | str]]:
        """Messages, or why there is none."""
        for line in _lines(self._send("GET", f"/messages/batches/{quote(id, safe='')}/results")):
            result = line.get("result") or {}
            if result.get("type") in _NOT_COME_TO:
                continue
            message = result.get("message")
            said = json.dumps(result.get("error") or result.get("type"))
            yield str(line.get("custom_id")), message if isinstance(message, dict) else said


class GeminiBatches(Batches):
    """Requests in one message; replies in the same order."""

    largest = 15_000_000

    def submit(self, requests: Sequence[BatchRequest]) -> str:
        """All at once."""
        wanted = [{"request": one.body, "metadata": {"key": one.id}} for one in requests]
        batch = {"displayName": "lapsus", "inputConfig": {"requests": {"requests": wanted}}}
        path = f"/models/{quote(self.model, safe='')}:batchGenerateContent"
        return str(self._ask("POST", path, {"batch": batch})["name"])

    def progress(self, id: str) -> Progress:
        """Its state."""
        found = self._ask("GET", f"/{id}")
        about = found.get("metadata") or {}
        stats = about.get("batchStats") or {}
        done = int(stats.get("successfulRequestCount") or 0) + int(stats.get("failedRequestCount") or 0)
        state = str(about.get("state"))
        is_over = bool(found.get("done")) or state.endswith(("SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED"))
        return Progress(is_over, done, json.dumps(found["error"]) if found.get("error") else "")

    def replies(self, id: str, asked: Sequence[str]) -> Iterator[tuple[str, Body | str]]:
        """By their place."""
        found = self._ask("GET", f"/{id}")
        answer = found.get("response") or (found.get("metadata") or {}).get("output") or {}
        inlined = (answer.get("inlinedResponses") or {}).get("inlinedResponses") or []
        for name, one in zip(asked, inlined, strict=False):
            reply = one.get("response")
            yield name, reply if isinstance(reply, dict) else json.dumps(one.get("error") or "no reply")


def _lines(content: bytes) -> Iterator[Body]:
    for line in content.splitlines():
        if line.strip():
            yield json.loads(line)
