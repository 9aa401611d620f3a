"""A new challenge in the browser: what `lapsus challenge create` does, from a form."""

from __future__ import annotations

from starlette.datastructures import FormData
from starlette.responses import Response
from starlette.routing import BaseRoute

from lapsus.challenge.desk import create, create_from_campaign
from lapsus.errors import InputError, LapsusError
from lapsus.store import StoreError
from lapsus.store.challenge_records import Challenge
from lapsus.web.challenge_new import challenge_plan, new_challenge_page
from lapsus.web.language import LANGUAGES
from lapsus.web.rendering import redirect
from lapsus.web.routes.forms import fields, posts, upload
from lapsus.web.routes.pages import signed_in
from lapsus.web.routes.twins import Page, twins
from lapsus.web.routes.uploads import given_name, on_disk
from lapsus.web.setup_view import managing
from lapsus.web.visit import Visit


def routes() -> list[BaseRoute]:
    """The form, and where it is sent."""
    return [
        *twins("/challenges/new", signed_in(form)),
        *posts("/challenges/new", make, who=managing, files=1),
    ]


def form(visit: Visit) -> Page:
    """What the challenge is about and how it goes."""
    return Page("challenge/new.html", new_challenge_page(managing(visit)))


def make(visit: Visit, sent: FormData) -> Page | Response:
    """Make the challenge; or say what is wrong, and keep nothing."""
    given = fields(sent)
    try:
        made = _made(visit, sent, given)
    except StoreError:
        raise
    except LapsusError as error:
        return Page("challenge/new.html", new_challenge_page(visit, given, error), 422)
    return redirect(visit, f"/challenge/{made.name}")


def _made(visit: Visit, sent: FormData, given: dict[str, str]) -> Challenge:
    by, file = visit.me.id, upload(sent, "file")
    if file is not None and given.get("campaign"):
        raise InputError("choose a file or a campaign, not both", where="file")
    if campaign := given.get("campaign", ""):
        return create_from_campaign(visit.store, challenge_plan(given, campaign), campaign, by=by)
    with on_disk(file) as path:
        plan = challenge_plan(given, "" if file is None else given_name(file))
        only = given.get("only", "").strip() or None
        language = given["language"] if given.get("language") in LANGUAGES else None
        return create(visit.store, plan, path, only=only, language=language, by=by)
