"""What to say when something cannot be done: a page for people, a record for programs, never a traceback."""

from __future__ import annotations

from urllib.parse import quote

from msgspec import UNSET
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from lapsus.errors import LapsusError
from lapsus.store import RefusedError, StoreError
from lapsus.translation import translated
from lapsus.web.page_words import refusal
from lapsus.web.pages.judging.unit import EarlierError
from lapsus.web.rendering import json_response, page_response, redirect
from lapsus.web.request_context import READING, RequestContext, request_context
from lapsus.web.schemas import BrokenResponse, ErrorResponse, RefusalResponse

STATUS = {
    "sign-in": 401,
    "wrong-password": 401,
    "csrf": 403,
    "not-yours": 403,
    "not-yours-to-see": 403,
    "not-invited": 403,
    "disabled": 403,
    "stopped": 403,
    "managers-only": 403,
    "not-found": 404,
    "no-campaign": 404,
    "no-scheme": 404,
    "no-draft": 404,
    "no-flag": 404,
    "no-challenge": 404,
    "no-run": 404,
    "no-team": 403,
    "not-manager": 403,
    "unknown-unit": 404,
    "earlier": 409,
    "closed": 409,
    "key-reused": 409,
    "challenge-frozen": 409,
    "same-run": 409,
    "too-many-runs": 409,
    "run-name": 409,
    "revealed": 409,
    "new-account": 409,
    "invitation": 410,
    "too-large": 413,
    "too-much": 413,
    "too-slow": 408,
    "not-json": 400,
    "bad-request": 400,
    "loss": 422,
    "no-units": 422,
    "too-many-units": 422,
    "rules": 422,
    "shape": 422,
    "too-many": 429,
    "trouble": 500,
    "provider": 502,
    "provider-again": 400,
    "store": 503,
}
_OF_STATUS = {400: "bad-request", 404: "not-found", 405: "method", 408: "too-slow", 413: "too-large"}


def status_of(error: LapsusError) -> tuple[int, str]:
    """The status and the word for programs that belong to an error."""
    if isinstance(error, StoreError):
        return 503, "store"
    reason = error.reason if isinstance(error, RefusedError) else "shape"
    return STATUS.get(reason, 422), reason


def refusal_response(error: LapsusError, language: str) -> RefusalResponse:
    """An error as a record, in the reader's language."""
    _, reason = status_of(error)
    unit = error.unit if isinstance(error, EarlierError) else UNSET
    if isinstance(error, RefusedError) and error.broken:
        messages = error.messages(language)
        broken = [BrokenResponse(rule.rule, rule.question, rule.message(language)) for rule in error.broken]
        return RefusalResponse(reason, messages[0], messages, broken)
    message = refusal(reason, language) or translated(error.what, language)
    return RefusalResponse(reason, message, [message], unit=unit)


async def on_lapsus_error(request: Request, error: Exception) -> Response:
    """The answer to a request that was refused."""
    if not isinstance(error, LapsusError):
        raise error
    visit = request_context(request)
    if isinstance(error, StoreError):
        visit.as_stranger()
    status, _ = status_of(error)
    shape = refusal_response(error, await _language(visit))
    headers = {"Retry-After": "60"} if status == 429 else {}
    if visit.wants_json:
        return json_response(shape, status, headers)
    if status == 401 and visit.proxy_user is not None and request.method in READING:
        # Whom the proxy knows has no form to fill in: one more step, and they are in.
        return redirect(visit, f"/sign-in?next={quote(request.url.path)}")
    return _error_page(visit, status, shape.reason, shape.message, headers)


async def on_http_error(request: Request, error: Exception) -> Response:
    """The answer to a request that the framework refused: no such address, no such method, too large."""
    if not isinstance(error, HTTPException):
        raise error
    visit = request_context(request)
    reason = _OF_STATUS.get(error.status_code, "bad-request")
    message = refusal(reason, await _language(visit)) or reason
    headers = dict(error.headers or {})
    if visit.wants_json:
        return json_response(RefusalResponse(reason, message), error.status_code, headers)
    return _error_page(visit, error.status_code, reason, message, headers)


async def _language(visit: RequestContext) -> str:
    """The reader's; who that is may have to be looked up, for which the others do not wait."""
    return await run_in_threadpool(lambda: visit.language)


async def on_trouble(request: Request, error: Exception) -> Response:
    """The answer when we made a mistake. What happened goes to the log, not to the reader."""
    visit = request_context(request).as_stranger()
    message = refusal("trouble", visit.language) or "trouble"
    if visit.wants_json:
        return json_response(RefusalResponse("trouble", message), 500)
    return _error_page(visit, 500, "trouble", message, {})


def _error_page(
    visit: RequestContext, status: int, reason: str, message: str, headers: dict[str, str]
) -> Response:
    response = page_response(visit, "error.html", ErrorResponse(status, reason, message), status)
    response.headers.update(headers)
    return response
