"""The guard's interface described in OpenAPI 3.1."""

from typing import Any

import msgspec

from lapsus.guard.records import CheckRequest, Refusal, Verdict
from lapsus.version import __version__

_REF = "#/components/schemas/{name}"


def description(*, has_upstream: bool) -> dict[str, Any]:
    """The whole description."""
    _, components = msgspec.json.schema_components([CheckRequest, Verdict, Refusal], ref_template=_REF)
    refusals = {
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
        paths["/v1/chat/completions"] = {"post": _plain("complete", about)}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Lapsus guard", "version": __version__},
        "paths": paths,
        "components": {"schemas": components},
    }


def _content(name: str) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": _REF.format(name=name)}}}


def _plain(id: str, summary: str) -> dict[str, Any]:
    return {"operationId": id, "summary": summary, "responses": {"200": {"description": summary}}}
