"""All units of a campaign: looking for some, and doing something with many of them at once."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Final
from urllib.parse import urlencode

import msgspec
from starlette.datastructures import FormData
from starlette.responses import Response
from starlette.routing import BaseRoute

from lapsus.campaign_stats import CampaignStats
from lapsus.campaign_stats.unit_search import UnitSearch
from lapsus.errors import UsageError
from lapsus.model import Entry, UnitKey
from lapsus.store import RefusedError
from lapsus.web.addresses import at
from lapsus.web.explore_view import (
    MOST_DECIDED,
    ask_to_decide,
    decide_many,
    explore,
    for_page,
    query_of,
    wanted_of,
)
from lapsus.web.page_words import say
from lapsus.web.rendering import redirect
from lapsus.web.request_context import RequestContext, number_in
from lapsus.web.routes.export import download, judgments_of, noted
from lapsus.web.routes.forms import field, posts
from lapsus.web.routes.judging_pages import signed_in
from lapsus.web.routes.pages_as_json import Page, twins
from lapsus.web.setup_view import managing
from lapsus.web.stats_view import base_of, stats_of

_PATH: Final = "/c/{campaign:slug}/units"


def routes() -> list[BaseRoute]:
    """The page, its twin, and where its form goes."""
    return [
        *twins(_PATH, signed_in(units)),
        *posts(_PATH, act, who=stats_of, fields=MOST_DECIDED + 20),
    ]


def units(visit: RequestContext) -> Page:
    """The units that were looked for."""
    stats = stats_of(visit)
    record = explore(visit, stats, _told(visit, stats.name))
    batch = visit.request.query_params.get("batch", "")
    undo = batch if visit.request.query_params.get("told", "").startswith("decide.") else ""
    more = {"address": at(_address(visit, stats)), "undo": undo, **for_page(record, visit.language)}
    return Page("explore.html", record, more=more)


def act(visit: RequestContext, form: FormData) -> Page | Response:
    """Do something with the units that were chosen, and tell of how many it was done."""
    stats, wanted = stats_of(visit, live=False), field(form, "do")
    if wanted not in _ACTIONS:
        raise UsageError(f"nothing is called {wanted[:40]!r} here")
    done = _ACTIONS[wanted](visit, stats, form)
    return (
        done
        if not isinstance(done, int)
        else redirect(visit, _address(visit, stats, told=f"{wanted}.{done}"))
    )


def _address(visit: RequestContext, stats: CampaignStats, **more: str) -> str:
    """The same units again."""
    asked = query_of(wanted_of(visit.request.query_params), stats.question.id)
    return f"/c/{stats.name}/units?{urlencode(asked | more)}"


def _told(visit: RequestContext, name: str) -> str | None:
    what, _, many = visit.request.query_params.get("told", "").partition(".")
    count = number_in(many)
    if what == "flag" and count is not None and (flag := visit.store.flags.get(name, count)) is not None:
        key = "open" if flag.settled is None else "settled"
        return say(f"explore.told.{key}", visit.language, unit=flag.unit)
    if what not in _ACTIONS or count is None:
        return None
    return say(f"explore.told.{what}", visit.language, count=f"{count:,}")


def _chosen(visit: RequestContext, stats: CampaignStats, form: FormData) -> list[int]:
    """The units that were ticked, or all that were found."""
    if field(form, "all") == "yes":
        found: list[int] = UnitSearch(stats).find(wanted_of(visit.request.query_params)).tolist()
        return found
    ticked = {number_in(str(value)) for value in form.getlist("unit")}
    numbers = sorted(one for one in ticked if one is not None)
    known = visit.store.browsing.with_documents(stats.name, numbers)
    if not numbers or len(known) < len(numbers):
        raise RefusedError("no-units", "no unit was chosen")
    return numbers


def _again(visit: RequestContext, stats: CampaignStats, form: FormData) -> int:
    managing(visit)
    return visit.store.browsing.ask_again(stats.name, _chosen(visit, stats, form), by=visit.me.id)


def _decide(visit: RequestContext, stats: CampaignStats, form: FormData) -> Page | Response:
    """First what it comes to; once a share was chosen, the decisions."""
    units = _chosen(visit, stats, form)
    if not (share := field(form, "share")):
        record = ask_to_decide(stats, units, base_of(visit, stats))
        return Page("decide_many.html", record, more={"address": at(_address(visit, stats))})
    count, batch = decide_many(visit, stats, units, share)
    return redirect(visit, _address(visit, stats, told=f"decide.{count}", batch=batch))


def _undo(visit: RequestContext, stats: CampaignStats, form: FormData) -> int:
    return visit.store.decisions.withdraw(stats.name, visit.me.id, field(form, "batch"))


def _export(visit: RequestContext, stats: CampaignStats, form: FormData) -> Response:
    places = visit.store.units.places(stats.name)
    chosen = set(_chosen(visit, stats, form))
    keys = {UnitKey(row.document, row.segment) for row in places if row.number in chosen}
    entries = _only(judgments_of(visit, stats.name, names=field(form, "what") == "names"), keys)
    made = download(entries, stats.scheme, f"{stats.name}-units", field(form, "to"))
    noted(visit, stats.name, form, units=len(chosen))
    return made


def _only(entries: Generator[Entry, None, None], keys: set[UnitKey]) -> Generator[Entry, None, None]:
    """Documents with a unit that was chosen, and what was said of these units."""
    documents = {key.document for key in keys}
    try:
        for entry in entries:
            if entry.id in documents:
                kept = tuple(judgment for judgment in entry.judgments if judgment.unit in keys)
                yield msgspec.structs.replace(entry, judgments=kept)
    finally:
        entries.close()


_ACTIONS: Final[Mapping[str, Callable[[RequestContext, CampaignStats, FormData], int | Page | Response]]] = {
    "again": _again,
    "decide": _decide,
    "undo": _undo,
    "export": _export,
}
