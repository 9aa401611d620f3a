"""The page of a campaign for those who answer for its data, its sections, its charts and its report."""

from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec
from starlette.responses import Response

from lapsus.campaign_stats import CampaignStats
from lapsus.campaign_stats.report import campaign_report
from lapsus.reports.charts import FORMATS
from lapsus.store import RefusedError
from lapsus.web.page_routes import Page, signed_in, single, twins
from lapsus.web.pages.stats.charts import CHARTS, file_response, shown
from lapsus.web.pages.stats.learning import learning
from lapsus.web.pages.stats.sections import (
    annotators,
    by_system,
    disputed,
    over_time,
    pairs,
    programs,
    results,
)
from lapsus.web.pages.stats.view import SECTIONS, overview_record, stats_of
from lapsus.web.request_context import RequestContext

_ROOT = "/c/{campaign:slug}/insight"
_VIEWS: dict[str, Callable[[RequestContext, CampaignStats], Any]] = {
    "results": results,
    "answers": by_system,
    "time": over_time,
    "annotators": annotators,
    "pairs": pairs,
    "disputed": disputed,
    "programs": programs,
    "learning": learning,
}
_DRAWN = {
    "answers": ("systems",),
    "time": ("time",),
    "annotators": ("people", "program-counts"),
    "pairs": ("pairs",),
    "programs": ("programs",),
    "learning": ("learning",),
}


def overview(visit: RequestContext) -> Page:
    """How a campaign goes."""
    stats = stats_of(visit)
    return _page(visit, stats, "stats/overview.html", overview_record(visit, stats), "progress", "labels")


def _section(name: str, visit: RequestContext) -> Page:
    """What takes longer to work out than the rest; the page fetches it when it is shown."""
    stats = stats_of(visit)
    return _page(visit, stats, f"stats/{name}.html", _VIEWS[name](visit, stats), *_DRAWN.get(name, ()))


def _page(visit: RequestContext, stats: CampaignStats, template: str, shape: Any, *charts: str) -> Page:
    """A page with its charts; programs get the numbers."""
    drawings = {} if visit.wants_json else {"charts": shown(stats, visit.language, *charts)}
    return Page(template, shape, more=drawings)


def chart(visit: RequestContext) -> Response:
    """A chart as a picture or a table."""
    request = visit.request
    name, format = str(request.path_params["chart"]), str(request.path_params["format"])
    saves = "save" in request.query_params
    stats = stats_of(visit, live=not saves)
    if name not in CHARTS or format not in FORMATS:
        raise RefusedError("not-found", "there is no such chart")
    made = CHARTS[name](stats, visit.language)
    if stats.pending:
        return Response(status_code=503, headers={"Retry-After": "2"})
    response = file_response(visit, made, format, f"{stats.name}-{name}" if saves else None)
    response.headers["Cache-Control"] = "private, no-cache"
    return response


def report(visit: RequestContext) -> Response:
    """The report of a campaign, to keep: one page that needs nothing else."""
    stats = stats_of(visit, live=False)
    made = stats.exactly(
        "report",
        lambda stats: campaign_report(visit.store, stats.name, visit.language).render("html"),
        visit.language,
        len(visit.store.decisions.all(stats.name)),
        # What the report tells besides: the plan and its state, how far it is, and the day.
        msgspec.json.encode((stats.campaign, stats.progress, visit.store.database.clock().date())),
    )
    headers = {"Content-Disposition": f'attachment; filename="{stats.name}-report.html"'}
    return Response(made, headers=headers, media_type="text/html")


ROUTES = [
    *twins(_ROOT, signed_in(overview)),
    *(route for name in SECTIONS for route in twins(f"{_ROOT}/{name}", signed_in(partial(_section, name)))),
    single(f"{_ROOT}/charts/{{chart:slug}}.{{format:slug}}", chart),
    single("/c/{campaign:slug}/report.html", report),
]
