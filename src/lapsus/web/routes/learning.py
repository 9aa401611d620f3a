"""A judge that learns from a campaign: switched on or off, and asked to judge the rest."""

from __future__ import annotations

from starlette.datastructures import FormData
from starlette.responses import Response
from starlette.routing import BaseRoute

from lapsus.errors import LapsusError, UsageError
from lapsus.store import Learn, StoreError
from lapsus.translation import translated_error
from lapsus.web.rendering import redirect
from lapsus.web.request_context import RequestContext
from lapsus.web.routes.forms import field, posts
from lapsus.web.routes.pages_as_json import Page
from lapsus.web.setup_view import manage_page, managing
from lapsus.web.unit_view import find_campaign


def routes() -> list[BaseRoute]:
    """All of them, each with its twin."""
    return posts("/c/{campaign:slug}/learning", act, who=managing)


def act(visit: RequestContext, form: FormData) -> Page | Response:
    """Do what a button says."""
    found, wanted = find_campaign(visit, str(visit.request.path_params["campaign"])), field(form, "do")
    try:
        if wanted == "rest":
            visit.store.learning.judge_rest(found.name, by=visit.me.id)
            return redirect(visit, f"/c/{found.name}/insight#learning")
        if wanted != "set":
            raise UsageError(f"nothing is called {wanted[:40]!r} here")
        visit.store.learning.set(found.name, _learn(form), by=visit.me.id)
    except StoreError:
        raise
    except LapsusError as error:
        told = str(translated_error(error, visit.language))
        return Page("setup/manage.html", manage_page(visit, found, error=told), 422)
    return redirect(visit, f"/c/{found.name}/manage")


def _learn(form: FormData) -> Learn | None:
    """The switch and its numbers; None: off."""
    if field(form, "learn") != "yes":
        return None
    without = _number(form, "without") / 100
    return Learn(_number(form, "after"), _number(form, "every"), without, field(form, "uncertain") == "yes")


def _number(form: FormData, name: str) -> int:
    text = field(form, name)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0
