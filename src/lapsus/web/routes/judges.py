"""The programs of a campaign: beside people, with their charts; added, stopped and gone on with from the page."""

from __future__ import annotations

import threading
from typing import Final

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from lapsus.campaign_stats import CampaignStats
from lapsus.campaign_stats.judge_charts import CHARTS, advantage_chart
from lapsus.campaign_stats.judge_figures import judges_of
from lapsus.errors import LapsusError, UsageError
from lapsus.reports.charts import FORMATS, Chart, Theme, inline
from lapsus.store import RefusedError, StoreError
from lapsus.translation import translated_error
from lapsus.web.judge_sources import JudgeSpec
from lapsus.web.judges_view import chosen_judge, judges_page, models_that_read, runs_of, words_for
from lapsus.web.rendering import redirect
from lapsus.web.request_context import RequestContext, number_in
from lapsus.web.routes.forms import field, fields, number, posts
from lapsus.web.routes.judging_pages import signed_in
from lapsus.web.routes.pages_as_json import Page, twins
from lapsus.web.setup_view import managing
from lapsus.web.stats_charts import picture
from lapsus.web.stats_view import stats_of

_PATH: Final = "/c/{campaign:slug}/judges"
_ADVANTAGE: Final = "advantage"


def routes() -> list[BaseRoute]:
    """The page, its twin, where its forms go, and its charts."""
    return [
        *twins(_PATH, signed_in(show)),
        *posts(_PATH, act, who=managing),
        Route(f"{_PATH}/charts/{{chart:slug}}.{{format:slug}}", chart),
    ]


def show(visit: RequestContext) -> Page:
    """Programs beside people, and at work."""
    runs, stats = runs_of(visit), stats_of(visit)
    shape = judges_page(visit, stats, runs)
    return Page("judges.html", shape, more=_drawn(visit, stats))


def _drawn(visit: RequestContext, stats: CampaignStats) -> dict[str, object]:
    if visit.wants_json:
        return {}
    names = (_ADVANTAGE, *CHARTS)
    found = {name: _chart(visit, stats, name) for name in names}
    return {"charts": {name: inline(one, f"chart-{name}") if one else "" for name, one in found.items()}}


def _chart(visit: RequestContext, stats: CampaignStats, name: str) -> Chart | None:
    """A chart by name, about the chosen judge; None where there is nothing to draw."""
    found, spoken = judges_of(stats), words_for(visit.language)
    if name == _ADVANTAGE:
        return advantage_chart(found, spoken)
    judge = chosen_judge(visit, found)
    return None if judge is None or name not in CHARTS else CHARTS[name](stats, judge, spoken, visit.language)


async def chart(request: Request) -> Response:
    """A chart as a picture or a table."""

    def work() -> Response:
        visit = RequestContext(request)
        name, format = str(request.path_params["chart"]), str(request.path_params["format"])
        stats = stats_of(visit, live=False)
        made = _chart(visit, stats, name) if format in FORMATS else None
        if made is None:
            raise RefusedError("not-found", "there is no such chart")
        theme: Theme = "dark" if request.query_params.get("theme") == "dark" else "light"
        headers = {"Content-Disposition": f'attachment; filename="{stats.name}-{name}.{format}"'}
        return Response(picture(made, format, theme), headers=headers, media_type=FORMATS[format])

    return await run_in_threadpool(work)


def act(visit: RequestContext, form: FormData) -> Page | Response:
    """Do what a button of the page says."""
    runs, stats, wanted = runs_of(visit), stats_of(visit), field(form, "do")
    try:
        if wanted == "add":
            _add(visit, stats, form)
        elif wanted in ("stop", "go"):
            state = "stopped" if wanted == "stop" else "running"
            visit.store.program_runs.set_state(stats.name, _run(form), state, by=visit.me.id)  # type: ignore[arg-type]
        else:
            raise UsageError(f"nothing is called {wanted[:40]!r} here")
    except (StoreError, RefusedError):
        raise
    except LapsusError as error:
        said = translated_error(error, visit.language)
        what = " · ".join(filter(None, (said.where, said.what)))
        shape = judges_page(visit, stats, runs, fields=fields(form), error=what, hint=said.hint)
        return Page("judges.html", shape, 422, _drawn(visit, stats))
    if visit.web.judge_work is not None:
        visit.web.judge_work.look()
    return redirect(visit, f"/c/{stats.name}/judges?q={stats.question.id}")


def _run(form: FormData) -> int:
    if (run := number(form, "run")) is None:
        raise UsageError("no run was named")
    return run


def _add(visit: RequestContext, stats: CampaignStats, form: FormData) -> None:
    """Have a program judge. Whether it can is tried first, so that nothing is left behind where it cannot."""
    asked = _asked(form)
    chosen = next(
        (o for o in models_that_read(visit, stats) if (o.kind, o.model) == (asked.kind, asked.model)), None
    )
    if chosen is not None and chosen.unread:
        raise UsageError(
            f"has learned {', '.join(chosen.languages)}, and documents here are in {', '.join(chosen.unread)}",
            where=chosen.model,
            hint="choose a model for that language",
        )
    called = visit.web.judges.make(asked, stats.scheme, threading.Event()).name
    where = next((one for one in visit.web.judges.endpoint_choices() if one.url == asked.endpoint), None)
    if where is not None and not where.is_local and field(form, "leave") != "yes":
        raise UsageError(
            "texts would go to another machine", where=where.host, hint="say that they may be sent"
        )
    program = visit.store.programs.add(field(form, "name").strip() or called, by=visit.me.id)
    visit.store.program_runs.add(stats.name, program, dict(msgspec.to_builtins(asked)), by=visit.me.id)


def _asked(form: FormData) -> JudgeSpec:
    kind, _, model = field(form, "model").partition(":")
    if field(form, "kind") == "openai":
        samples = number_in(field(form, "samples") or "1", digits=3)
        if samples is None:
            raise UsageError("how often to ask is a whole number")
        return JudgeSpec(
            "openai", field(form, "language_model").strip(), field(form, "endpoint"), field(form, "key"),
            samples, field(form, "reasons") == "yes",
        )  # fmt: skip
    if kind not in ("shipped", "file") or not model:
        raise UsageError("no model was chosen", hint="choose one of the list")
    return JudgeSpec(kind, model)  # type: ignore[arg-type]
