"""The guard's interface described in OpenAPI 3.1."""

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from lapsus.guard.records import CheckRequest, Refusal, Verdict
from lapsus.version import __version__

_REF: Final = "#/components/schemas/{name}"
_METHODS: Final = ("get", "post", "delete")
_PATH: Final = {"name": "path", "in": "path", "required": True, "schema": {"type": "string"}}
_OF_SYSTEM: Final = (
    ("502", "The system behind the guard did not answer."),
    ("503", "The guard is busy, or could not judge."),
)


def description(*, has_upstream: bool) -> dict[str, Any]:
    """The whole description."""
    _, components = msgspec.json.schema_components([CheckRequest, Verdict, Refusal], ref_template=_REF)
    refusals = {
        "408": "The request did not arrive in time.",
        "413": "The request is too large.",
        "422": "The request is not as described, or nothing in it can be judged.",
        "503": "The guard is busy: ask again after the seconds in Retry-After.",
    }
    check = {
        "operationId": "check",
        "summary": "Judge replies before they are sent.",
        "requestBody": {"required": True, "content": _content("CheckRequest")},
        "responses": {"200": {"description": "What is said of them.", "content": _content("Verdict")}}
        | {code: {"description": why, "content": _content("Refusal")} for code, why in refusals.items()},
    }
    paths: dict[str, Any] = {
        "/check": {"post": check},
        "/health": {"get": _plain("health", "Whether it answers.")},
        "/metrics": {"get": _plain("metrics", "Figures for Prometheus.")},
    }
    if has_upstream:
        about = "As of the system behind it, with the headers x-lapsus-guard and x-lapsus-risk."
        paths["/v1/chat/completions"] = {"post": _plain("complete", about, _OF_SYSTEM)}
        rest = {
            method: _plain(f"{method}Other", "As of the system behind it.", _OF_SYSTEM) for method in _METHODS
        }
        paths["/v1/{path}"] = {**rest, "parameters": [_PATH]}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Lapsus guard", "version": __version__},
        "paths": paths,
        "components": {"schemas": components},
    }


def _content(name: str) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": _REF.format(name=name)}}}


def _plain(id: str, summary: str, refusals: Iterable[tuple[str, str]] = ()) -> dict[str, Any]:
    responses = {status: {"description": what} for status, what in (("200", summary), *refusals)}
    return {"operationId": id, "summary": summary, "responses": responses}
