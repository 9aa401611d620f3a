"""One's own account: password, language, and light or dark."""

import msgspec
from starlette.datastructures import FormData
from starlette.responses import Response

from lapsus.errors import InputError
from lapsus.store import RefusedError
from lapsus.web.assets import THEMES
from lapsus.web.forms import field, posts
from lapsus.web.page_routes import Page, filled, signed_in, twins
from lapsus.web.page_words import refusal
from lapsus.web.pages.account.sign_in import begin_session
from lapsus.web.rendering import redirect, theme_of
from lapsus.web.request_context import RequestContext
from lapsus.web.sessions import LANGUAGE, THEME, YEAR
from lapsus.word_files import LANGUAGES


class AccountResponse(msgspec.Struct, frozen=True):
    """One's own account."""

    name: str
    role: str
    has_password: bool
    may_have_password: bool
    """False for those who come by a platform's link: a password would let them in no more."""
    language: str
    theme: str
    """light, dark, or empty: as the system has it."""
    told: str | None
    """What was just changed."""
    error: str | None


def account(visit: RequestContext, error: str | None = None) -> AccountResponse:
    """What can be changed, and how it is now."""
    me, told = visit.me, visit.request.query_params.get("told")
    return filled(
        AccountResponse,
        me,
        may_have_password=me.has_password or me.id not in visit.store.people.from_platforms(),
        language=visit.language,
        theme=theme_of(visit),
        told=told if told in ("looks", "password") else None,
        error=error,
    )


def change(visit: RequestContext, form: FormData) -> Page | Response:
    """Change the password, or how pages look."""
    what = field(form, "do")
    if what == "password":
        return _password(visit, form)
    if what != "looks":
        raise RefusedError("shape", "the password is changed, or the looks")
    return _looks(visit, field(form, "language"), field(form, "theme"))


def _looks(visit: RequestContext, language: str, theme: str) -> Response:
    """The language goes with the account, the colours with this browser."""
    if language in LANGUAGES and language != visit.me.language:
        visit.store.people.set_profile(visit.me.id, email=visit.me.email, language=language, by=visit.me.id)
    response = redirect(visit, "/account?told=looks")
    visit.set_cookie(response, LANGUAGE, language if language in LANGUAGES else "", YEAR)
    visit.set_cookie(response, THEME, theme if theme in THEMES else "", YEAR)
    return response


def _password(visit: RequestContext, form: FormData) -> Page | Response:
    """Whoever has one says it first. A new one ends all other sessions, and the tokens of programs."""
    me, people = visit.me, visit.store.people
    new = field(form, "new")
    if me.has_password:
        limit, key = visit.web.by_device, f"account {me.id}"
        if not limit.take(visit.store, key):
            return _again(visit, "too-many", 429)
        if visit.store.access.sign_in(me.name, field(form, "now")) is None:
            return _again(visit, "password-now", 401)
        limit.forgive(visit.store, key)
    if new != field(form, "again"):
        return _again(visit, "passwords-differ", 422)
    try:
        people.set_password(me.id, new, by=me.id)
    except InputError:
        return _again(visit, "password-length", 422)
    return begin_session(visit, me, "/account?told=password")


def _again(visit: RequestContext, reason: str, status: int) -> Page:
    return Page("account/account.html", account(visit, refusal(reason, visit.language)), status)


ROUTES = [
    *twins("/account", signed_in(account), "account/account.html"),
    *posts("/account", change, who=lambda visit: visit.me),
]
