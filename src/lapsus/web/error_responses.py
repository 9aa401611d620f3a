"""Error responses: a page for people, JSON for programs, never a traceback."""

from typing import Final
from urllib.parse import quote

from msgspec import UNSET
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from lapsus.errors import LapsusError
from lapsus.notices import localized
from lapsus.store import RefusedError, StoreError
from lapsus.web.page_words import refusal
from lapsus.web.pages.judging.unit import EarlierError
from lapsus.web.rendering import json_response, page_response, redirect
from lapsus.web.request_context import READING, RequestContext, request_context
from lapsus.web.schemas import BrokenResponse, ErrorResponse, RefusalResponse

_REASONS: Final[dict[int, str]] = {
    400: "not-json bad-request provider-again",
    401: "sign-in wrong-password",
    403: "csrf not-yours not-yours-to-see not-invited disabled stopped managers-only no-team not-manager not-your-talk",
    404: "no-talks not-found no-campaign no-scheme no-draft no-flag no-challenge no-run unknown-unit",
    408: "too-slow",
    409: "earlier closed key-reused challenge-frozen same-run too-many-runs run-name revealed new-account"
    " turn-taken no-more-talks not-yet",
    410: "invitation",
    413: "too-large too-much",
    422: "loss no-units too-many-units rules shape",
    429: "too-many",
    500: "trouble",
    502: "provider",
    503: "store",
}
STATUS: Final = {reason: status for status, reasons in _REASONS.items() for reason in reasons.split()}
"""The status that goes with the reason of a refusal; 422 for all others."""
_OF_STATUS = {400: "bad-request", 404: "not-found", 405: "method", 408: "too-slow", 413: "too-large"}


def status_of(error: LapsusError) -> tuple[int, str]:
    """The HTTP status and reason code of an error."""
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
    message = refusal(reason, language) or localized(error.what, language)
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
