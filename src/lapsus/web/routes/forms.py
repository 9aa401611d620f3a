"""Forms that managers and annotators send in: read once, checked for their token, worked on in a thread."""

from __future__ import annotations

from collections.abc import Callable

import anyio
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from lapsus.web.routes.twins import Page, respond
from lapsus.web.visit import Visit

Work = Callable[[Visit, FormData], Page | Response]


def posts(path: str, work: Work, *, who: Callable[[Visit], object], files: int = 0) -> list[BaseRoute]:
    """Where a form is sent to, and its twin for programs. Of those who may not, nothing is read."""

    async def post(request: Request) -> Response:
        visit = Visit(request)
        await run_in_threadpool(who, visit)
        async with request.form(max_fields=60, max_files=files) as form:
            visit.check_csrf(field(form, "csrf") or None)
            return await anyio.to_thread.run_sync(respond, visit, lambda visit: work(visit, form))

    return [Route(f"{path}.json", post, methods=["POST"]), Route(path, post, methods=["POST"])]


def field(form: FormData, name: str) -> str:
    """What was written into a field."""
    value = form.get(name)
    return value if isinstance(value, str) else ""


def fields(form: FormData) -> dict[str, str]:
    """All that was written."""
    return {name: value for name, value in form.items() if isinstance(value, str) and name != "csrf"}


def upload(form: FormData, name: str) -> UploadFile | None:
    """The file that came with a form, if one did."""
    value = form.get(name)
    return value if isinstance(value, UploadFile) and value.filename else None


def ours(path: str, otherwise: str) -> str:
    """A path of our own to go back to; nothing leads to another site."""
    is_ours = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if is_ours else otherwise
