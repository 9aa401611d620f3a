"""A new challenge in the browser: what `lapsus challenge create` does, from a form."""

from __future__ import annotations

from starlette.datastructures import FormData
from starlette.responses import Response
from starlette.routing import BaseRoute

from lapsus.challenge.service import create, create_from_campaign
from lapsus.errors import InputError, LapsusError
from lapsus.store.challenge_records import Challenge
from lapsus.web.new_challenge import challenge_plan, new_challenge_page
from lapsus.web.rendering import redirect
from lapsus.web.request_context import RequestContext
from lapsus.web.routes.forms import fields, posts, upload
from lapsus.web.routes.judging_pages import signed_in
from lapsus.web.routes.pages_as_json import Page, twins
from lapsus.web.routes.uploads import given_name, on_disk
from lapsus.web.setup_view import managing
from lapsus.word_files import LANGUAGES


def routes() -> list[BaseRoute]:
    """The form, and where it is sent."""
    return [
        *twins("/challenges/new", signed_in(form)),
        *posts("/challenges/new", make, who=managing, again=form_again, files=1),
    ]


def form(visit: RequestContext) -> Page:
    """What the challenge is about and how it goes."""
    return Page("challenge/new.html", new_challenge_page(managing(visit)))


def form_again(visit: RequestContext, sent: FormData, error: LapsusError) -> Page:
    """The form as it was filled in, with what is wrong."""
    return Page("challenge/new.html", new_challenge_page(visit, fields(sent), error))


def make(visit: RequestContext, sent: FormData) -> Page | Response:
    """Make the challenge."""
    return redirect(visit, f"/challenge/{_made(visit, sent).name}")


def _made(visit: RequestContext, sent: FormData) -> Challenge:
    by, file, given = visit.me.id, upload(sent, "file"), fields(sent)
    if file is not None and given.get("campaign"):
        raise InputError("choose a file or a campaign, not both", where="file")
    if campaign := given.get("campaign", ""):
        return create_from_campaign(visit.store, challenge_plan(given, campaign), campaign, by=by)
    with on_disk(file) as path:
        plan = challenge_plan(given, "" if file is None else given_name(file))
        only = given.get("only", "").strip() or None
        language = given["language"] if given.get("language") in LANGUAGES else None
        return create(visit.store, plan, path, only=only, language=language, by=by)
