"""Pages and their JSON twins: one function makes the record, and the address says how it is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from lapsus.web.rendering import json_response, page_response, with_cookies
from lapsus.web.request_context import RequestContext


class Page(NamedTuple):
    """A record, and the template that shows it; None: there is only the record, as JSON."""

    template: str | None
    shape: Any
    status: int = 200
    more: Mapping[str, Any] = {}
    """What only the page shows: drawings, and commands for the terminal."""


Show = Callable[[RequestContext], Page | Response]


def twins(path: str, show: Show) -> list[BaseRoute]:
    """A page at a path and its twin at the path with `.json` behind."""

    async def page(request: Request) -> Response:
        return await run_in_threadpool(respond, RequestContext(request), show)

    return [Route(f"{path}.json", page), Route(path, page)]


def respond(visit: RequestContext, show: Show) -> Response:
    """Make the record and show it; in a worker thread, since it asks the database."""
    result = show(visit)
    if isinstance(result, Response):
        return result
    if visit.wants_json or result.template is None:
        return with_cookies(visit, json_response(result.shape, result.status))
    return page_response(visit, result.template, result.shape, result.status, result.more)
