"""Feedback sent to a server of Langfuse or Phoenix that the user names."""

import base64
import os
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from lapsus.errors import LapsusError, UsageError
from lapsus.formats.remote import shown
from lapsus.formats.traces.feedback import Feedback
from lapsus.http_client import HttpClient, HttpError, is_loopback
from lapsus.notices import Notice

PHOENIX_BATCH = 100
_HTTP = HttpClient(tries=4)


class Server(NamedTuple):
    """Where feedback goes, and how it is sent there."""

    name: str
    keys: tuple[str, ...]
    """Environment variables that hold what the server lets in."""
    send: Callable[[str, list[str], Iterable[Feedback]], int]
    """Address, keys and feedback; says how many pieces were taken."""


def push(server: str, address: str, feedback: Iterable[Feedback]) -> int:
    """Send feedback to the server at an address, with keys from the environment; how many pieces were taken.

    Ids are made from what a piece is about: sent again after a fault, nothing is stored twice.
    """
    target = SERVERS[server]
    _check_address(address)
    keys = [os.environ.get(key, "") for key in target.keys]
    if missing := [key for key, value in zip(target.keys, keys, strict=True) if not value]:
        raise UsageError("no-key", hint="set-environment", server=server, missing=" and ".join(missing))
    if not all(key.isascii() and key.isprintable() and " " not in key for key in keys):
        raise UsageError("api-key-holds-signs", hint="look-spaces-line-ends")
    return target.send(address.rstrip("/"), keys, feedback)


def _check_address(address: str) -> None:
    """Complain of what is no plain address, without showing a password in it, and of one where a key is not safe."""
    try:
        parts = urlsplit(address)
        host = parts.hostname if parts.port != 0 else None
    except ValueError:
        parts, host = urlsplit(""), None
    is_plain = address.isascii() and address.isprintable() and not set(address) & set(" @?#")
    if parts.scheme not in ("http", "https") or not host or not is_plain:
        hint = Notice("example-https-langfuse-example")
        raise UsageError("no-address-server", where=shown(address), hint=hint)
    if parts.scheme == "http" and not is_loopback(host):
        hint = Notice("give-https-address")
        raise UsageError("key-would-go-over", where=address, hint=hint)


def _to_langfuse(address: str, keys: list[str], feedback: Iterable[Feedback]) -> int:
    login = base64.b64encode(":".join(keys).encode()).decode()
    sent = 0
    for piece in feedback:
        score = {
            "id": piece.id,
            "traceId": piece.trace,
            "observationId": piece.span,
            "name": piece.name,
            "value": piece.score if piece.label is None else piece.label,
            "dataType": "NUMERIC" if piece.label is None else "CATEGORICAL",
            "comment": piece.explanation,
            # A category has no room for the share that a program gives to it.
            "metadata": {"annotator": piece.judgment.annotator}
            | ({} if piece.label is None or piece.score is None else {"share": piece.score}),
        }
        given = {key: value for key, value in score.items() if value is not None}
        _post(f"{address}/api/public/scores", f"Basic {login}", given)
        sent += 1
    return sent


def _to_phoenix(address: str, keys: list[str], feedback: Iterable[Feedback]) -> int:
    """Turns are annotated at their span, whole dialogues at their trace; each has its own address."""
    waiting: dict[str, list[dict[str, Any]]] = {"span": [], "trace": []}
    sent = 0

    def flush(target: str) -> int:
        batch = waiting[target]
        if batch:
            _post(f"{address}/v1/{target}_annotations?sync=true", f"Bearer {keys[0]}", {"data": batch})
        waiting[target] = []
        return len(batch)

    for piece in feedback:
        target = "trace" if piece.span is None else "span"
        waiting[target].append(_phoenix_annotation(target, piece))
        if len(waiting[target]) == PHOENIX_BATCH:
            sent += flush(target)
    return sent + flush("span") + flush("trace")


def _phoenix_annotation(target: str, piece: Feedback) -> dict[str, Any]:
    result = {"label": piece.label, "score": piece.score, "explanation": piece.explanation}
    return {
        f"{target}_id": piece.span or piece.trace,
        "name": piece.name,
        "annotator_kind": piece.kind,
        "result": {key: value for key, value in result.items() if value is not None},
        "identifier": piece.id,
        "metadata": {"annotator": piece.judgment.annotator},
    }


def _post(address: str, login: str, body: dict[str, Any]) -> None:
    try:
        _HTTP.send("POST", address, msgspec.json.encode(body), {"Authorization": login})
    except HttpError as error:
        if error.status:
            what = Notice("server-refused", status=error.status, reason=error.what)
            raise LapsusError(what, where=address) from error
        raise LapsusError("server-cannot-reached", where=address, reason=error.what) from error


SERVERS = {
    "langfuse": Server("langfuse", ("LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY"), _to_langfuse),
    "phoenix": Server("phoenix", ("PHOENIX_API_KEY",), _to_phoenix),
}
