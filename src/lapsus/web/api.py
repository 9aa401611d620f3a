"""The interface for programs, /api/v1. The table below makes the routes and their description alike."""

import inspect
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import cache
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lapsus.errors import LapsusError
from lapsus.schemes.answer_rules import Procedure
from lapsus.store import Nothing, RefusedError, SaveRequest, StoreError
from lapsus.version import __version__
from lapsus.web.addresses import at
from lapsus.web.awaited import awaited_result
from lapsus.web.openapi import Operation, description
from lapsus.web.page_routes import campaign_here, filled
from lapsus.web.pages.home.page import campaign_list
from lapsus.web.pages.judging.campaign import campaign_page, find_flag, own_judgments
from lapsus.web.pages.judging.unit import may_see_ahead, unit_view
from lapsus.web.pages.talk.page import TALK_OPERATIONS
from lapsus.web.rendering import json_response
from lapsus.web.request_context import READING, RequestContext, number_in
from lapsus.web.schemas import (
    CampaignPage,
    CampaignsResponse,
    FlagBody,
    FlaggedResponse,
    JudgmentsResponse,
    NextResponse,
    SaveBody,
    SavedResponse,
    UnitResponse,
)
from lapsus.web.sessions import SESSION

ROOT = "/api/v1"
LONGEST = 86_400.0
"""Seconds that one answer may have taken; a clock that says more has stood still or jumped."""


@cache
def _described(root: str, cookie: str) -> dict[str, Any]:
    return description(OPERATIONS, __version__, root, cookie)


def _endpoint(operations: list[Operation]) -> Callable[[Request], Awaitable[Response]]:
    by_method = {operation.method: operation for operation in operations}

    async def endpoint(request: Request) -> Response:
        operation = by_method["GET" if request.method in READING else request.method]
        visit = RequestContext(request, b"" if request.method in READING else await request.body())
        visit.check_csrf()
        if inspect.iscoroutinefunction(operation.handler):
            result = await operation.handler(visit)
        else:
            result = await run_in_threadpool(_work, operation, visit)
        return json_response(result, operation.status)

    return endpoint


def _work(operation: Operation, visit: RequestContext) -> Any:
    visit.me  # noqa: B018  raises for strangers
    return operation.handler(visit)


def campaigns(visit: RequestContext) -> CampaignsResponse:
    """The campaigns that you may see."""
    return CampaignsResponse(campaign_list(visit))


def next_unit(visit: RequestContext) -> NextResponse:
    """The next unit for you to judge; it is yours for a while. Or why there is none.

    With `ahead=true` ten are yours, where there are as many for each and the guideline hides none of them.
    """
    name = campaign_here(visit).name
    ahead = visit.request.query_params.get("ahead") == "true" and may_see_ahead(visit, name)
    given = visit.store.assignment.next_units(visit.me.id, name, ahead=ahead)
    if isinstance(given, Nothing):
        return NextResponse(None, [], None, given.reason)
    units = [unit.number for unit in given.units]
    return NextResponse(units[0], units, given.until, None)


def unit(visit: RequestContext) -> UnitResponse:
    """A unit of yours: what you may see of it and what you said."""
    with visit.store.database.reading_together():
        return unit_view(visit, _name(visit), _number(visit))


def judgments(visit: RequestContext) -> JudgmentsResponse:
    """What you said, the last unit first."""
    name = campaign_here(visit).name
    asked = visit.request.query_params.get("before")
    before = None if asked is None else number_in(asked)
    if asked is not None and before is None:
        raise RefusedError("shape", "before is the number of a unit")
    return own_judgments(visit, name, before)


async def save(visit: RequestContext) -> SavedResponse:
    """Keep answers. Acknowledged once they are on disk; the same key again gets the same answer again."""
    try:
        # All that needs the database happens in the writer's transaction, without a thread for each request:
        # whether the session still holds, the save itself, and which unit comes next.
        saved = await awaited_result(visit.store.saves.save_soon(await _request(visit)))
        return filled(SavedResponse, saved)
    except LapsusError as error:
        # Strangers are told nothing but that they are, and those outside of the campaign what they would be told
        # if there were none.
        if not isinstance(error, StoreError):
            await run_in_threadpool(lambda: campaign_here(visit))
        raise


async def _request(visit: RequestContext) -> SaveRequest:
    body, (person, credential) = visit.read(SaveBody), await visit.claim()
    return SaveRequest(
        key=body.key,
        campaign=_name(visit),
        unit=_number(visit),
        person=person,
        answers={key: answer for key, answer in body.answers.items() if answer is not None},
        submitted=body.submitted,
        given_at=_usable(body.given_at),
        seconds=None if body.seconds is None else min(body.seconds, LONGEST),
        client=body.client,
        base_revision=body.base_revision,
        credential=credential,
        suggested=body.suggested,
        procedure=Procedure(body.guideline, body.walk, body.steps),
        withdrawn=body.withdrawn,
    )


def flag(visit: RequestContext) -> FlaggedResponse:
    """Mark a unit for discussion, or reply to such a mark."""
    body, name, number = visit.read(FlagBody), campaign_here(visit).name, _number(visit)
    key = f"{visit.me.id}:{body.key}"
    if body.flag is not None:
        visit.store.flags.reply(key, name, find_flag(visit, name, body.flag).id, visit.me.id, body.text)
        return FlaggedResponse(body.key)
    where = visit.store.progress.own(name, visit.me.id, number)
    if not visit.manages and all(own.unit != number for own in where.places):
        raise RefusedError("not-yours", f"unit {number} was not given to you")
    visit.store.flags.add(key, name, number, visit.me.id, body.text)
    return FlaggedResponse(body.key)


def _usable(moment: datetime | None) -> datetime | None:
    """The client's time, if its clock is set at all: a wrong clock must not cost anybody an answer."""
    if moment is None or moment.tzinfo is None or not 2000 <= moment.year < 2200:
        return None
    return moment.astimezone(UTC)


def _name(visit: RequestContext) -> str:
    return str(visit.request.path_params["campaign"])


def _number(visit: RequestContext) -> int:
    return int(visit.request.path_params["number"])


_CAMPAIGN = "/campaigns/{campaign:slug}"
_UNIT = f"{_CAMPAIGN}/units/{{number:number}}"
OPERATIONS = (
    # The first, since it is asked for most: routes are tried in order.
    Operation(
        "POST", f"{_UNIT}/judgments", save, SavedResponse, SaveBody, 201, (400, 403, 404, 409, 413, 422)
    ),
    Operation("GET", "/campaigns", campaigns, CampaignsResponse),
    Operation("GET", _CAMPAIGN, campaign_page, CampaignPage, refuses=(404,)),
    Operation("GET", f"{_CAMPAIGN}/next", next_unit, NextResponse, refuses=(403, 404), query=("ahead",)),
    Operation("GET", _UNIT, unit, UnitResponse, refuses=(403, 404, 409)),
    Operation(
        "GET", f"{_CAMPAIGN}/judgments", judgments, JudgmentsResponse, refuses=(404, 422), query=("before",)
    ),
    Operation("POST", f"{_UNIT}/flags", flag, FlaggedResponse, FlagBody, 201, (400, 403, 404, 413, 422)),
    *TALK_OPERATIONS,
)


async def _openapi(request: Request) -> Response:
    return json_response(_described(at(ROOT), request.app.state.web.cookies.name(SESSION)))


ROUTES = [
    Route(f"{ROOT}/openapi.json", _openapi),
    *(
        Route(ROOT + path, _endpoint(mine), methods=[operation.method for operation in mine])
        for path in dict.fromkeys(operation.path for operation in OPERATIONS)
        for mine in ([operation for operation in OPERATIONS if operation.path == path],)
    ),
]
