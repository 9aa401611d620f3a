"""Forms: who may send one, what is in it and in its files, and what is shown when something in it is wrong."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath, PurePosixPath
from typing import Any, Final

import anyio
from msgspec import UNSET, UnsetType
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from lapsus.challenge.run_validation import showable
from lapsus.errors import InputError, LapsusError, UsageError
from lapsus.formats.source import check_unpacked
from lapsus.notices import with_texts
from lapsus.store import StoreError
from lapsus.web.addresses import path_at
from lapsus.web.page_routes import Page, respond
from lapsus.web.request_context import RequestContext, number_in

Work = Callable[[RequestContext, FormData], Any]
Again = Callable[[RequestContext, FormData, LapsusError], Any]


def anybody(visit: RequestContext) -> None:
    """Whoever wants may send the form, strangers too."""


def posts(
    path: str,
    work: Work,
    *,
    who: Callable[[RequestContext], object],
    again: Again | None = None,
    template: str | None = None,
    files: int = 0,
    fields: int = 60,
    at_once: int | None = None,
) -> list[BaseRoute]:
    """Routes of a form's POST, and of its JSON twin.

    `who` raises for those who may not send it; of theirs nothing is read. `work` does what the form asks for, in a
    thread. What `work` raises is shown by `again`, which makes the form's own page with the error on it (status 422),
    or else by the error page. Records are shown by `template`. `at_once` bounds how many such forms are worked on at a
    time.
    """
    limiter = None if at_once is None else anyio.CapacityLimiter(at_once)

    async def post(request: Request) -> Response:
        visit = RequestContext(request)
        await run_in_threadpool(who, visit)
        async with request.form(max_fields=fields, max_files=files) as form:
            visit.check_csrf(field(form, "csrf") or None)
            return await anyio.to_thread.run_sync(
                respond,
                visit,
                lambda visit: _worked(visit, form, work, again, template),
                template,
                limiter=limiter,
            )

    return [Route(f"{path}.json", post, methods=["POST"]), Route(path, post, methods=["POST"])]


def _worked(
    visit: RequestContext, form: FormData, work: Work, again: Again | None, template: str | None
) -> Any:
    try:
        return work(visit, form)
    except StoreError:
        # Nobody can mend that by filling in the form in another way.
        raise
    except LapsusError as error:
        if again is None:
            raise
        shown = again(visit, form, error)
        return (shown if isinstance(shown, Page) else Page(template, shown))._replace(status=422)


def with_error(record: Callable[..., Any]) -> Again:
    """The page as it is, with what was wrong with the form on it."""
    return lambda visit, form, error: record(visit, error=str(error.in_language(visit.language)))


def told(error: LapsusError | None, language: str) -> dict[str, str | UnsetType]:
    """What was wrong and what to do about it, as the fields `error` and `hint` of a page."""
    if error is None:
        return {"error": UNSET, "hint": UNSET}
    said = error.in_language(language)
    return {"error": " · ".join(filter(None, (said.where, said.what))), "hint": said.hint or UNSET}


def field(form: FormData, name: str) -> str:
    """The text of a form's field."""
    value = form.get(name)
    return value if isinstance(value, str) else ""


def number(form: FormData, name: str) -> int | None:
    """The whole number in a field; None where it holds anything else."""
    return number_in(field(form, name))


def number_of(form: FormData, name: str, missing: str) -> int:
    """The whole number in a field, which has to be there; `missing` is told where it is not."""
    if (found := number(form, name)) is None:
        raise UsageError(missing)
    return found


def fields(form: FormData) -> dict[str, str]:
    """All fields of the form."""
    return {name: value for name, value in form.items() if isinstance(value, str) and name != "csrf"}


def upload(form: FormData, name: str) -> UploadFile | None:
    """The file that came with a form, if one did."""
    value = form.get(name)
    return value if isinstance(value, UploadFile) and value.filename else None


def ours(address: str, otherwise: str) -> str:
    """The path of our own to go back to; nothing leads to another site, or to what else is on this one."""
    return path_at(address) or otherwise


LARGEST_UNPACKED: Final = 100_000_000
"""Bytes that a file of strangers may unpack to."""


def given_name(file: UploadFile) -> str:
    """The name of an uploaded file, without folders."""
    return showable(PurePosixPath((file.filename or "").replace("\\", "/")).name)


@contextmanager
def on_disk(file: UploadFile | None) -> Iterator[Path]:
    """An upload as a temporary file."""
    if file is None:
        raise InputError("choose-file", where="file")
    # The name's ending tells the format; nothing else of it is used.
    suffix = "".join(PurePath(file.filename or "").suffixes[-2:])[-20:]
    safe = suffix if suffix.replace(".", "").isalnum() else ""
    with tempfile.TemporaryDirectory(prefix="lapsus-upload-") as folder:
        path = Path(folder) / f"upload{safe}"
        with path.open("wb") as copy:
            shutil.copyfileobj(file.file, copy)
        try:
            check_unpacked(path, LARGEST_UNPACKED)
            yield path
        except StoreError:
            raise
        except LapsusError as error:
            name = given_name(file)

            def renamed(text: str) -> str:
                whole = text.replace(str(path), name).replace(folder, "")
                return whole.replace(path.name, name) if safe else whole

            where = None if error.where is None else with_texts(error.where, renamed)
            raise InputError(with_texts(error.what, renamed), where=where, hint=error.hint) from error
