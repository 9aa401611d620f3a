"""The interface described in OpenAPI 3.1, made from the same table as its routes."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec
import regex

from lapsus.web.schemas import RefusalResponse

_PARAMETER = regex.compile(r"\{(\w+):(\w+)\}")
_SCHEMAS: Final[Mapping[str, dict[str, Any]]] = {
    "slug": {"type": "string", "pattern": "^[a-z0-9-]{1,60}$"},
    "number": {"type": "integer", "minimum": 1, "maximum": 999_999_999},
}
_QUERY: Final[Mapping[str, dict[str, Any]]] = {
    "before": {"type": "integer", "minimum": 0, "maximum": 999_999_999},
    "after": {"type": "integer", "minimum": 0, "maximum": 999_999_999},
    "ahead": {"type": "boolean"},
}
_WHY = {
    400: "The body is not JSON.",
    401: "Nobody is signed in.",
    403: "Not yours, or the page's token is missing.",
    404: "There is no such thing, or not for you.",
    409: "It is closed, the key was used for another answer, or an earlier unit comes first.",
    413: "The body is too large.",
    422: "A rule is broken, or a field is wrong.",
    503: "The database did not answer.",
}


class Operation(NamedTuple):
    """Something that a program can ask for."""

    method: str
    path: str
    handler: Callable[[Any], Any]
    answer: type
    body: type | None = None
    status: int = 200
    refuses: Sequence[int] = ()
    query: Sequence[str] = ()


def description(operations: Sequence[Operation], version: str, root: str, cookie: str) -> dict[str, Any]:
    """The whole description."""
    kinds = [kind for one in operations for kind in (one.answer, one.body) if kind is not None]
    _, components = msgspec.json.schema_components(
        [*dict.fromkeys(kinds), RefusalResponse], ref_template="#/components/schemas/{name}"
    )
    paths: dict[str, dict[str, Any]] = {}
    for one in operations:
        paths.setdefault(_PARAMETER.sub(r"{\1}", one.path), {})[one.method.lower()] = _operation(one)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Lapsus",
            "version": version,
            "description": "Campaigns, units and judgments. Browsers send their cookie and, with every change,"
            " the page's token as X-CSRF-Token; programs send an access token.",
        },
        "servers": [{"url": root}],
        "security": [{"token": []}, {"cookie": []}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "cookie": {"type": "apiKey", "in": "cookie", "name": cookie},
            },
        },
    }


def _operation(one: Operation) -> dict[str, Any]:
    result: dict[str, Any] = {
        "operationId": one.handler.__name__,
        "summary": inspect.getdoc(one.handler) or one.handler.__name__,
        "parameters": [
            *(_parameter(name, "path", _SCHEMAS[kind]) for name, kind in _PARAMETER.findall(one.path)),
            *(_parameter(name, "query", _QUERY[name]) for name in one.query),
        ],
        "responses": {
            str(one.status): {"description": inspect.getdoc(one.answer), "content": _content(one.answer)},
            **{
                str(status): {"description": _WHY[status], "content": _content(RefusalResponse)}
                for status in sorted({401, 503, *one.refuses})
            },
        },
    }
    if one.body is not None:
        result["requestBody"] = {"required": True, "content": _content(one.body)}
    return result


def _parameter(name: str, where: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": where, "required": where == "path", "schema": schema}


def _content(kind: type) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{kind.__name__}"}}}
