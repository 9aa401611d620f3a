"""What can be changed about a campaign that is there: its settings, more documents, a copy of it, the archive."""

from __future__ import annotations

from starlette.datastructures import FormData
from starlette.responses import Response
from starlette.routing import BaseRoute

from lapsus.errors import LapsusError, UsageError
from lapsus.formats import read
from lapsus.model.targets import screened
from lapsus.store import StoreError
from lapsus.translation import translated_error
from lapsus.web.campaign_copy import draft_of
from lapsus.web.rendering import redirect
from lapsus.web.request_context import RequestContext
from lapsus.web.routes.forms import field, posts, upload
from lapsus.web.routes.pages_as_json import Page
from lapsus.web.routes.uploads import on_disk
from lapsus.web.setup_view import manage_page, managing
from lapsus.web.unit_view import find_campaign


def routes() -> list[BaseRoute]:
    """Where their forms go."""
    base = "/c/{campaign:slug}"
    return [
        *posts(f"{base}/settings", change_settings, who=managing),
        *posts(f"{base}/documents", add_documents, who=managing, files=1),
        *posts(f"{base}/copy", copy, who=managing),
        *posts(f"{base}/archive", move, who=managing),
    ]


def copy(visit: RequestContext, form: FormData) -> Response:
    """A new campaign with the same plan and documents: the steps of making one, filled in, nothing made yet."""
    found = find_campaign(visit, str(visit.request.path_params["campaign"]))
    return redirect(visit, f"/new/{draft_of(visit, found)}/data")


def move(visit: RequestContext, form: FormData) -> Response:
    """Into the archive, or out of it."""
    found = find_campaign(visit, str(visit.request.path_params["campaign"]))
    visit.store.campaigns.set_archived(found.name, field(form, "archived") == "yes", by=visit.me.id)
    return redirect(visit, f"/c/{found.name}/manage")


def change_settings(visit: RequestContext, form: FormData) -> Page | Response:
    """Another title, or another number of people for each unit."""
    found = find_campaign(visit, str(visit.request.path_params["campaign"]))
    title = {language: field(form, f"title-{language}").strip() for language in ("en", "ja")}
    try:
        wanted = field(form, "per_unit")
        many = int(wanted) if wanted.isascii() and wanted.isdigit() and len(wanted) < 5 else 0
        if not 1 <= many <= 1000:
            raise UsageError("a unit is judged by 1 to 1000 people")
        visit.store.campaigns.set_title(
            found.name, {key: words for key, words in title.items() if words}, by=visit.me.id
        )
        if many != found.plan.per_unit:
            visit.store.campaigns.set_per_unit(found.name, many, by=visit.me.id)
    except StoreError:
        raise
    except LapsusError as error:
        return Page(
            "setup/manage.html",
            manage_page(visit, found, error=str(translated_error(error, visit.language))),
            422,
        )
    return redirect(visit, f"/c/{found.name}/manage")


def add_documents(visit: RequestContext, form: FormData) -> Page | Response:
    """More documents from a file; those that are there already are passed over."""
    found = find_campaign(visit, str(visit.request.path_params["campaign"]))
    try:
        with on_disk(upload(form, "file")) as path:
            documents = list(screened(read(path), visit.store.campaigns.scheme(found.name)))
            visit.store.campaigns.add_documents(found.name, documents, by=visit.me.id)
    except StoreError:
        raise
    except LapsusError as error:
        return Page(
            "setup/manage.html",
            manage_page(visit, found, error=str(translated_error(error, visit.language))),
            422,
        )
    return redirect(visit, f"/c/{found.name}/manage")
