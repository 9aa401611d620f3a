"""The interface for programs, /api/v1. The table below makes the routes and their description alike."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from lapsus.errors import LapsusError, UsageError
from lapsus.store import Nothing, RefusedError, Saved, SaveRequest
from lapsus.version import __version__
from lapsus.web import campaign_view as view
from lapsus.web.landing import landed
from lapsus.web.openapi import Operation, description
from lapsus.web.rendering import json_response
from lapsus.web.shapes import (
    LARGEST,
    CampaignPage,
    CampaignsShape,
    FlagBody,
    FlaggedShape,
    JudgmentsShape,
    NextShape,
    SaveBody,
    SavedShape,
    UnitShape,
)
from lapsus.web.unit_view import find_campaign, unit_view
from lapsus.web.visit import READING, Visit

ROOT = "/api/v1"
LONGEST = 86_400.0
"""Seconds that one answer may have taken; a clock that says more has stood still or jumped."""


def routes() -> list[BaseRoute]:
    """All of them, and the description of them all."""
    document = description(OPERATIONS, __version__, ROOT)

    async def openapi(request: Request) -> Response:
        return json_response(document)

    paths = {operation.path: None for operation in OPERATIONS}
    return [
        Route(f"{ROOT}/openapi.json", openapi),
        *(
            Route(ROOT + path, _endpoint(mine), methods=[operation.method for operation in mine])
            for path in paths
            for mine in ([operation for operation in OPERATIONS if operation.path == path],)
        ),
    ]


def _endpoint(operations: list[Operation]) -> Callable[[Request], Awaitable[Response]]:
    by_method = {operation.method: operation for operation in operations}

    async def endpoint(request: Request) -> Response:
        operation = by_method["GET" if request.method in READING else request.method]
        visit = Visit(request, b"" if request.method in READING else await request.body())
        visit.check_csrf()
        if inspect.iscoroutinefunction(operation.handler):
            result = await operation.handler(visit)
        else:
            result = await run_in_threadpool(_work, operation, visit)
        return json_response(result, operation.status)

    return endpoint


def _work(operation: Operation, visit: Visit) -> Any:
    visit.me  # noqa: B018  raises for strangers
    return operation.handler(visit)


def campaigns(visit: Visit) -> CampaignsShape:
    """The campaigns that you may see."""
    return CampaignsShape(view.campaign_list(visit))


def campaign(visit: Visit) -> CampaignPage:
    """A campaign, your work in it and, for managers, everybody's."""
    return view.campaign_page(visit, find_campaign(visit, _name(visit)))


def next_unit(visit: Visit) -> NextShape:
    """The next unit for you to judge; it is yours for a while. Or why there is none."""
    name = find_campaign(visit, _name(visit)).name
    given = visit.store.next_units(visit.me.id, name)
    if isinstance(given, Nothing):
        return NextShape(None, [], None, given.reason)
    units = [unit.number for unit in given.units]
    return NextShape(units[0], units, given.until, None)


def unit(visit: Visit) -> UnitShape:
    """A unit of yours: what you may see of it and what you said."""
    return unit_view(visit, _name(visit), _number(visit))


def judgments(visit: Visit) -> JudgmentsShape:
    """What you said, the last unit first."""
    name = find_campaign(visit, _name(visit)).name
    before = visit.request.query_params.get("before")
    if before is not None and not (before.isascii() and before.isdigit() and len(before) < 10):
        raise RefusedError("shape", "before is the number of a unit")
    return view.own_judgments(visit, name, None if before is None else int(before))


async def save(visit: Visit) -> SavedShape:
    """Keep answers. Acknowledged once they are on disk; the same key again gets the same answer again."""
    try:
        # All that needs the database happens in the writer's transaction, without a thread for each request:
        # whether the session still holds, the save itself, and which unit comes next.
        return _saved(await landed(visit.store.save_soon(await _request(visit))))
    except LapsusError as error:
        # Strangers are told nothing but that they are.
        await run_in_threadpool(lambda: visit.me)
        if isinstance(error, UsageError):
            raise RefusedError("no-campaign", error.what) from error
        raise


async def _request(visit: Visit) -> SaveRequest:
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
    )


def flag(visit: Visit) -> FlaggedShape:
    """Mark a unit for discussion."""
    body, name, number = visit.read(FlagBody), find_campaign(visit, _name(visit)).name, _number(visit)
    where = visit.store.standing(name, visit.me.id, number)
    if not visit.manages and all(own.unit != number for own in where.places):
        raise RefusedError("not-yours", f"unit {number} was not given to you")
    visit.store.add_flag(f"{visit.me.id}:{body.key}", name, number, visit.me.id, body.text)
    return FlaggedShape(body.key)


def _saved(saved: Saved) -> SavedShape:
    return SavedShape(
        key=saved.key,
        revision=saved.revision,
        stored_at=saved.stored_at,
        replaced=saved.replaced,
        extra=saved.extra,
        next=saved.next,
    )


def _usable(moment: datetime | None) -> datetime | None:
    """The client's time, if its clock is set at all: a wrong clock must not cost anybody an answer."""
    if moment is None or moment.tzinfo is None or not 2000 <= moment.year < 2200:
        return None
    return moment.astimezone(UTC)


def _name(visit: Visit) -> str:
    return str(visit.request.path_params["campaign"])


def _number(visit: Visit) -> int:
    return min(int(visit.request.path_params["number"]), LARGEST)


_CAMPAIGN = "/campaigns/{campaign:slug}"
_UNIT = f"{_CAMPAIGN}/units/{{number:number}}"

OPERATIONS = (
    # The first, since it is asked for most: routes are tried in order.
    Operation("POST", f"{_UNIT}/judgments", save, SavedShape, SaveBody, 201, (400, 403, 404, 409, 413, 422)),
    Operation("GET", "/campaigns", campaigns, CampaignsShape),
    Operation("GET", _CAMPAIGN, campaign, CampaignPage, refuses=(404,)),
    Operation("GET", f"{_CAMPAIGN}/next", next_unit, NextShape, refuses=(403, 404)),
    Operation("GET", _UNIT, unit, UnitShape, refuses=(403, 404, 409)),
    Operation(
        "GET", f"{_CAMPAIGN}/judgments", judgments, JudgmentsShape, refuses=(404, 422), query=("before",)
    ),
    Operation("POST", f"{_UNIT}/flags", flag, FlaggedShape, FlagBody, 201, (400, 403, 404, 413, 422)),
)
