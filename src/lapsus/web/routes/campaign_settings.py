"""What can be changed about a campaign that is there: its settings, more documents, a copy of it, the archive."""

from __future__ import annotations

from starlette.datastructures import FormData
from starlette.responses import Response
from starlette.routing import BaseRoute

from lapsus.errors import UsageError
from lapsus.formats import read
from lapsus.model.targets import screened
from lapsus.web.campaign_copy import draft_of
from lapsus.web.rendering import redirect
from lapsus.web.request_context import RequestContext
from lapsus.web.routes.campaign_control import manage_again
from lapsus.web.routes.forms import field, number, posts, upload
from lapsus.web.routes.uploads import on_disk
from lapsus.web.setup_view import managing
from lapsus.web.unit_view import campaign_here


def routes() -> list[BaseRoute]:
    """Where their forms go."""
    base = "/c/{campaign:slug}"
    return [
        *posts(f"{base}/settings", change_settings, who=managing, again=manage_again),
        *posts(f"{base}/documents", add_documents, who=managing, again=manage_again, files=1),
        *posts(f"{base}/copy", copy, who=managing),
        *posts(f"{base}/archive", move, who=managing),
    ]


def copy(visit: RequestContext, form: FormData) -> Response:
    """A new campaign with the same plan and documents: the steps of making one, filled in, nothing made yet."""
    found = campaign_here(visit)
    return redirect(visit, f"/new/{draft_of(visit, found)}/data")


def move(visit: RequestContext, form: FormData) -> Response:
    """Into the archive, or out of it."""
    found = campaign_here(visit)
    visit.store.campaigns.set_archived(found.name, field(form, "archived") == "yes", by=visit.me.id)
    return redirect(visit, f"/c/{found.name}/manage")


def change_settings(visit: RequestContext, form: FormData) -> Response:
    """Another title, or another number of people for each unit."""
    found = campaign_here(visit)
    title = {language: field(form, f"title-{language}").strip() for language in ("en", "ja")}
    many = number(form, "per_unit") or 0
    if not 1 <= many <= 1000:
        raise UsageError("a unit is judged by 1 to 1000 people")
    visit.store.campaigns.set_title(
        found.name, {key: words for key, words in title.items() if words}, by=visit.me.id
    )
    if many != found.plan.per_unit:
        visit.store.campaigns.set_per_unit(found.name, many, by=visit.me.id)
    return redirect(visit, f"/c/{found.name}/manage")


def add_documents(visit: RequestContext, form: FormData) -> Response:
    """More documents from a file; those that are there already are passed over."""
    found = campaign_here(visit)
    with on_disk(upload(form, "file")) as path:
        documents = list(screened(read(path), visit.store.campaigns.scheme(found.name)))
        visit.store.campaigns.add_documents(found.name, documents, by=visit.me.id)
    return redirect(visit, f"/c/{found.name}/manage")
