"""A judge that learns from a campaign: switched on or off, and asked to judge the rest."""

from __future__ import annotations

from starlette.datastructures import FormData
from starlette.responses import Response
from starlette.routing import BaseRoute

from lapsus.errors import UsageError
from lapsus.store import Learn
from lapsus.web.rendering import redirect
from lapsus.web.request_context import RequestContext
from lapsus.web.routes.campaign_control import manage_again
from lapsus.web.routes.forms import field, number, posts
from lapsus.web.setup_view import managing
from lapsus.web.unit_view import campaign_here


def routes() -> list[BaseRoute]:
    """All of them, each with its twin."""
    return posts("/c/{campaign:slug}/learning", act, who=managing, again=manage_again)


def act(visit: RequestContext, form: FormData) -> Response:
    """Do what a button says."""
    found, wanted = campaign_here(visit), field(form, "do")
    if wanted == "rest":
        visit.store.learning.judge_rest(found.name, by=visit.me.id)
        return redirect(visit, f"/c/{found.name}/insight#learning")
    if wanted != "set":
        raise UsageError(f"nothing is called {wanted[:40]!r} here")
    visit.store.learning.set(found.name, _learn(form), by=visit.me.id)
    return redirect(visit, f"/c/{found.name}/manage")


def _learn(form: FormData) -> Learn | None:
    """The switch and its numbers; None: off."""
    if field(form, "learn") != "yes":
        return None
    after, every, without = (number(form, name) or 0 for name in ("after", "every", "without"))
    return Learn(after, every, without / 100, field(form, "uncertain") == "yes")
