"""The page of a campaign for those who answer for its data, its sections, its charts and its report."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from lapsus.insight.reporting import campaign_report
from lapsus.reports.charts import FORMATS, Theme
from lapsus.store import RefusedError
from lapsus.web import insight_view as view
from lapsus.web.insight_charts import drawn
from lapsus.web.routes.pages import signed_in
from lapsus.web.routes.twins import Page, twins
from lapsus.web.visit import Visit

_ROOT = "/c/{campaign:slug}/insight"
_VIEWS: dict[str, Callable[[Visit], Any]] = {
    "answers": view.by_system,
    "time": view.over_time,
    "annotators": view.annotators,
    "pairs": view.pairs,
    "disputed": view.disputed,
}


def routes() -> list[BaseRoute]:
    """All of them."""
    return [
        *twins(_ROOT, signed_in(overview)),
        *(
            route
            for name in view.SECTIONS
            for route in twins(f"{_ROOT}/{name}", signed_in(partial(_section, name)))
        ),
        Route(f"{_ROOT}/charts/{{chart:slug}}.{{format:slug}}", chart),
        Route("/c/{campaign:slug}/report.html", report),
    ]


def overview(visit: Visit) -> Page:
    """How a campaign goes."""
    return Page("insight.html", view.overview(visit))


def _section(name: str, visit: Visit) -> Page:
    """What takes longer to work out than the rest; the page fetches it when it is shown."""
    return Page(f"insight_{name}.html", _VIEWS[name](visit))


async def chart(request: Request) -> Response:
    """A chart as a picture or a table."""

    def work() -> Response:
        visit = Visit(request)
        name, format = str(request.path_params["chart"]), str(request.path_params["format"])
        theme: Theme = "dark" if request.query_params.get("theme") == "dark" else "light"
        saves = "save" in request.query_params
        desk = view.desk_of(visit, live=not saves)
        content = drawn(desk, name, format, theme, visit.language)
        if content is None:
            raise RefusedError("not-found", "there is no such chart")
        if desk.pending:
            return Response(status_code=503, headers={"Retry-After": "2"})
        headers = {"Cache-Control": "private, no-cache"}
        if saves:
            headers["Content-Disposition"] = f'attachment; filename="{desk.name}-{name}.{format}"'
        return Response(content, headers=headers, media_type=FORMATS[format])

    return await run_in_threadpool(work)


async def report(request: Request) -> Response:
    """The report of a campaign, to keep: one page that needs nothing else."""

    def work() -> Response:
        visit = Visit(request)
        desk = view.desk_of(visit, live=False)
        made = desk.exactly(
            "report",
            lambda desk: campaign_report(visit.store, desk.name, visit.language).render("html"),
            visit.language,
            len(visit.store.decisions(desk.name)),
        )
        headers = {"Content-Disposition": f'attachment; filename="{desk.name}-report.html"'}
        return Response(made, headers=headers, media_type="text/html")

    return await run_in_threadpool(work)
