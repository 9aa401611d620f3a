"""Deciding where people differ: one unit at a time, the most disputed first."""

from __future__ import annotations

from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from lapsus.web.adjudicate_view import decide, decide_view, first_unit
from lapsus.web.rendering import json_response, redirect
from lapsus.web.request_context import RequestContext
from lapsus.web.routes.judging_pages import signed_in
from lapsus.web.routes.pages_as_json import Page, twins
from lapsus.web.stats_view import stats_of

_ROOT = "/c/{campaign:slug}/decide"


def routes() -> list[BaseRoute]:
    """All of them."""
    return [
        *twins(_ROOT, signed_in(begin)),
        Route(f"{_ROOT}/{{number:number}}.json", keep, methods=["POST"]),
        *twins(f"{_ROOT}/{{number:number}}", signed_in(unit)),
    ]


def begin(visit: RequestContext) -> Page | Response:
    """On to the first unit; back to the figures where there is nothing to decide on."""
    stats, number, among = first_unit(visit)
    asked = {key: value for key, value in visit.request.query_params.items() if key in ("q", "only")}
    if among == "all":
        asked["only"] = among
    query = f"?{urlencode(asked)}" if asked else ""
    if stats.pending:
        # Which unit comes first is being worked out: this page says so, and shows the units when it is known.
        return redirect(visit, f"/c/{stats.name}/insight/disputed{query}")
    if number is None:
        return redirect(visit, f"/c/{stats.name}/insight{query}")
    return redirect(visit, f"/c/{stats.name}/decide/{number}{query}")


def unit(visit: RequestContext) -> Page:
    """One unit to decide on."""
    return Page("adjudicate.html", decide_view(visit, int(visit.request.path_params["number"])))


async def keep(request: Request) -> Response:
    """Keep a decision; answered once it is on disk."""
    visit = RequestContext(request, await request.body())

    def work() -> Response:
        visit.check_csrf()
        visit.me  # noqa: B018  raises for strangers
        stats_of(visit)
        return json_response(decide(visit, int(request.path_params["number"])), 201)

    return await run_in_threadpool(work)
