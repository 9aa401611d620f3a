"""Taking a campaign's data away in the browser: what `lapsus export` writes, as a download."""

import shutil
import tempfile
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

from starlette.background import BackgroundTask
from starlette.datastructures import FormData
from starlette.responses import FileResponse, Response

from lapsus.campaign_stats.adjudication import campaign_gold, gold_entries, keep_gold
from lapsus.errors import LossError
from lapsus.formats import FORMATS, convert
from lapsus.model import Entry, Scheme
from lapsus.store import RefusedError
from lapsus.web.forms import field, posts
from lapsus.web.pages.stats.view import TAKEN, stats_of
from lapsus.web.request_context import RequestContext

METHOD = "majority"
"""How votes are put together where nobody decided; other ways are for the command line."""
TABLES = ("csv", "parquet")
"""A row an answer, with the text that was judged: they have no place for documents that nobody judged."""


def export(visit: RequestContext, form: FormData) -> Response:
    """A campaign's judgments or its gold, in the format that was asked for."""
    stats, what = stats_of(visit), field(form, "what")
    name = stats.name
    entries = _gold(visit, name) if what == "gold" else judgments_of(visit, name, names=what == "names")
    made = download(entries, stats.scheme, f"{name}-gold" if what == "gold" else name, field(form, "to"))
    noted(visit, name, form)
    return made


def noted(visit: RequestContext, name: str, form: FormData, units: int | None = None) -> None:
    """Write down what was taken; it goes out right after."""
    what = field(form, "what")
    told = what if what in ("gold", "names") else "pseudonyms"
    visit.store.audit.exported(name, what=told, format=field(form, "to"), units=units, by=visit.me.id)


def download(entries: Generator[Entry, None, None], scheme: Scheme, name: str, format: str) -> Response:
    """Entries, judged by a scheme, as a file of a name, in the format that was asked for."""
    if format not in TAKEN:
        raise RefusedError("bad-request", "no such format is offered here")
    folder = tempfile.mkdtemp(prefix="lapsus-export-")
    called = f"{name}{FORMATS.get(format).suffix or '.zip'}"
    path = Path(folder) / called
    try:
        with closing(entries):
            told = (entry for entry in entries if entry.judgments or format not in TABLES)
            convert(told, path, format, schemes=[scheme])
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, LossError):
            raise RefusedError("loss", error.what) from error
        raise
    tidy = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
    return FileResponse(path, filename=called, background=tidy)


def judgments_of(visit: RequestContext, name: str, *, names: bool) -> Generator[Entry, None, None]:
    """Everybody's judgments, under pseudonyms or names."""
    return visit.store.exports.export(name, names="names" if names else "pseudonyms")


def _gold(visit: RequestContext, name: str) -> Generator[Entry, None, None]:
    """As the command does it: what was put together is kept, with how."""
    found = campaign_gold(visit.store, name, METHOD)
    keep_gold(visit.store, name, found, METHOD, by=visit.me.id)
    yield from gold_entries(visit.store, name, found)


ROUTES = posts("/c/{campaign:slug}/export", export, who=stats_of)
