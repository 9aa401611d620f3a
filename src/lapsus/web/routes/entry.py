"""Ways in and out: signing in, invitations, and the links of a demonstration."""

from __future__ import annotations

import anyio
from msgspec import UNSET
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from lapsus.errors import InputError
from lapsus.model import in_language
from lapsus.store import Invitation, Person, RefusedError
from lapsus.store.arriving import Arrival, arrival_in
from lapsus.web.rendering import redirect
from lapsus.web.routes.twins import Page, Show, respond, twins
from lapsus.web.sessions import new_session
from lapsus.web.shapes import InvitationShape, JoinShape, SignInShape
from lapsus.web.visit import Visit
from lapsus.web.words import refusal

HASHING = 2
"""How many passwords are checked at a time: each takes much memory and all of a core, on purpose."""


def routes() -> list[BaseRoute]:
    """All of them."""
    return [
        *twins("/sign-in", sign_in_page),
        *_forms("/sign-in", sign_in),
        *_forms("/sign-out", sign_out),
        *twins("/join/{token:secret}", join_page),
        *_forms("/join/{token:secret}", join),
        *twins("/enter/{token:secret}", enter),
    ]


class Form(Visit):
    """A request with a form in it."""

    def __init__(self, request: Request, form: FormData) -> None:
        super().__init__(request)
        self.form = form

    def field(self, name: str) -> str:
        """What was written into a field."""
        value = self.form.get(name)
        return value if isinstance(value, str) else ""


def _forms(path: str, work: Show) -> list[BaseRoute]:
    hashing = anyio.CapacityLimiter(HASHING)

    async def post(request: Request) -> Response:
        async with request.form(max_fields=50, max_files=0) as fields:
            visit = Form(request, fields)
        visit.check_csrf(visit.field("csrf") or None)
        return await anyio.to_thread.run_sync(respond, visit, work, limiter=hashing)

    return [Route(f"{path}.json", post, methods=["POST"]), Route(path, post, methods=["POST"])]


def sign_in_page(visit: Visit) -> Page | Response:
    """Name and password, please."""
    if visit.person is not None:
        return redirect(visit, _next(visit))
    return Page("sign_in.html", SignInShape(_next(visit)))


def sign_in(visit: Visit) -> Page | Response:
    """Let somebody in who knows name and password."""
    form = _form(visit)
    name, client = form.field("name").strip(), visit.request.client
    limits = (
        (visit.web.by_name, name.casefold()[:200]),
        (visit.web.by_address, client.host if client else ""),
    )
    allowed = [limit.take(key) for limit, key in limits]
    if not all(allowed):
        return Page("sign_in.html", SignInShape(_next(visit), "too-many", name), 429)
    person = visit.store.sign_in(name, form.field("password"))
    if person is None:
        return Page("sign_in.html", SignInShape(_next(visit), "wrong-password", name), 401)
    for limit, key in limits:
        limit.forgive(key)
    return _begin(visit, person, _next(visit))


def sign_out(visit: Visit) -> Response:
    """Forget who it was."""
    return redirect(visit, "/sign-in", new_session())


def join_page(visit: Visit) -> Page:
    """What a link offers."""
    invitation = _invitation(visit)
    arrival = _arrival(visit, invitation)
    known_as = UNSET if arrival is None else arrival.called
    return Page("join.html", JoinShape(_shape(visit, invitation), known_as=known_as))


def join(visit: Visit) -> Page | Response:
    """Make an account by a link, or bring somebody with an account into the link's campaign."""
    form, invitation = _form(visit), _invitation(visit)
    if (arrival := _arrival(visit, invitation)) is not None:
        person = visit.store.arrive(_token(visit), arrival, language=visit.language)
        return _begin(visit, person, f"/c/{invitation.campaign}/judge")
    if visit.person is not None:
        if invitation.campaign is None:
            raise RefusedError("new-account", "this link makes a new account")
        visit.store.join(_token(visit), visit.person.id)
        return redirect(visit, f"/c/{invitation.campaign}")
    password = form.field("password")
    if password != form.field("again"):
        return _again(form, invitation, "passwords-differ")
    try:
        person = visit.store.accept(
            _token(visit), form.field("name"), password or None, language=visit.language
        )
    except InputError:
        return _again(form, invitation, "account")
    return _begin(visit, person, f"/c/{invitation.campaign}" if invitation.campaign else "/")


def _arrival(visit: Visit, invitation: Invitation) -> Arrival | None:
    """Who comes from a platform by a link for many. Somebody with a password who is signed in stays who they are."""
    if invitation.uses_left is not None or (visit.person is not None and visit.person.has_password):
        return None
    return arrival_in(visit.request.query_params)


def enter(visit: Visit) -> Response:
    """Sign in by a link that a demonstration printed."""
    person = visit.web.links.get(_token(visit))
    if person is None:
        raise RefusedError("not-found", "there is no such link")
    return _begin(visit, visit.store.person(person), "/")


def _begin(visit: Visit, person: Person, path: str) -> Response:
    return redirect(visit, path, new_session(person.id, visit.store.session_stamp(person.id)))


def _again(form: Form, invitation: Invitation, error: str) -> Page:
    message = refusal(error, form.language) or error
    shape = JoinShape(_shape(form, invitation), error, message, form.field("name"))
    return Page("join.html", shape, 422)


def _form(visit: Visit) -> Form:
    assert isinstance(visit, Form)  # noqa: S101  only routes made by `_forms` come here
    return visit


def _token(visit: Visit) -> str:
    return str(visit.request.path_params["token"])


def _invitation(visit: Visit) -> Invitation:
    found = visit.store.invitation(_token(visit))
    if found is None:
        raise RefusedError("invitation", "this link was used already, or is too old")
    return found


def _shape(visit: Visit, invitation: Invitation) -> InvitationShape:
    title = None
    if invitation.campaign is not None:
        titles = visit.store.campaign(invitation.campaign).plan.titles
        title = in_language(titles, visit.language)
    return InvitationShape(invitation.role, invitation.campaign, title, invitation.needs_password)


def _next(visit: Visit) -> str:
    """Where to go after signing in: only ever a page of ours."""
    wanted = visit.request.query_params.get("next", "")
    if isinstance(visit, Form):
        wanted = visit.field("next") or wanted
    is_ours = wanted.startswith("/") and not wanted.startswith(("//", "/\\")) and wanted.isprintable()
    return wanted if is_ours else "/"
