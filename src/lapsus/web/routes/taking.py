"""Taking a campaign's data away in the browser: what `lapsus export` writes, as a download."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

from starlette.background import BackgroundTask
from starlette.datastructures import FormData
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute

from lapsus.errors import LossError
from lapsus.formats import FORMATS, convert
from lapsus.insight.golding import campaign_gold, gold_entries, keep_gold
from lapsus.model import Entry
from lapsus.store import RefusedError
from lapsus.web.insight_view import TAKEN, desk_of
from lapsus.web.routes.forms import field, posts
from lapsus.web.visit import Visit

METHOD = "majority"
"""How votes are put together where nobody decided; other ways are for the command line."""

TABLES = ("csv", "parquet")
"""A row an answer: they have no place for texts, and say so where they are offered."""


def routes() -> list[BaseRoute]:
    """The one."""
    return posts("/c/{campaign:slug}/export", export, who=desk_of)


def export(visit: Visit, form: FormData) -> Response:
    """A campaign's judgments or its gold, in the format that was asked for."""
    name, format = desk_of(visit).name, field(form, "to")
    if format not in TAKEN:
        raise RefusedError("bad-request", "no such format is offered here")
    is_gold = field(form, "what") == "gold"
    called_by_name = field(form, "what") == "names"
    folder = tempfile.mkdtemp(prefix="lapsus-export-")
    called = f"{name}{'-gold' if is_gold else ''}{FORMATS.get(format).suffix or '.zip'}"
    path = Path(folder) / called
    try:
        with closing(_gold(visit, name) if is_gold else _judgments(visit, name, called_by_name)) as entries:
            convert(map(_judgments_alone, entries) if format in TABLES else entries, path, format)
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, LossError):
            raise RefusedError("loss", error.what) from error
        raise
    tidy = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
    return FileResponse(path, filename=called, background=tidy)


def _judgments_alone(entry: Entry) -> Entry:
    return Entry(entry.id, None, entry.judgments)


def _judgments(visit: Visit, name: str, names: bool) -> Generator[Entry, None, None]:
    return visit.store.export(name, names="names" if names else "pseudonyms")


def _gold(visit: Visit, name: str) -> Generator[Entry, None, None]:
    """As the command does it: what was put together is kept, with how."""
    found = campaign_gold(visit.store, name, METHOD)
    keep_gold(visit.store, name, found, METHOD, by=visit.me.id)
    yield from gold_entries(visit.store, name, found)
