"""Ways in and out: signing in here or at a provider, invitations, and the links of a demonstration."""

from typing import Final

import msgspec
from itsdangerous import BadSignature, URLSafeTimedSerializer
from msgspec import UNSET, UnsetType
from starlette.datastructures import FormData
from starlette.responses import RedirectResponse, Response

from lapsus.errors import InputError
from lapsus.model import in_language
from lapsus.notices import Notice
from lapsus.store import Invitation, Person, RefusedError
from lapsus.store.arrivals import PlatformArrival, arrival_in
from lapsus.store.people import folded
from lapsus.web.addresses import at
from lapsus.web.deployment import provider_name
from lapsus.web.forms import anybody, field, ours, posts
from lapsus.web.oidc import OidcClient, SignInRequest, new_request
from lapsus.web.page_routes import Page, twins
from lapsus.web.page_words import refusal
from lapsus.web.rendering import redirect
from lapsus.web.request_context import RequestContext
from lapsus.web.security import RateLimit
from lapsus.web.sessions import DEVICE, DEVICE_SECONDS, PROVIDER, new_session


class InvitationResponse(msgspec.Struct, frozen=True):
    """What a link offers."""

    role: str
    campaign: str | None
    title: str | None
    needs_password: bool


class SignInResponse(msgspec.Struct, frozen=True):
    """The page for signing in."""

    next: str
    error: str | UnsetType = UNSET
    name: str = ""
    provider: str | UnsetType = UNSET
    """At which provider one can sign in instead."""
    has_manager: bool = True


class JoinResponse(msgspec.Struct, frozen=True):
    """The page behind an invitation."""

    invitation: InvitationResponse
    error: str | UnsetType = UNSET
    message: str | UnsetType = UNSET
    name: str = ""
    known_as: str | UnsetType = UNSET
    """Who comes from a platform, by its id: no name and no password are asked for."""


HASHING = 2
"""How many passwords are checked at a time: each takes much memory and all of a core, on purpose."""


def sign_in_page(visit: RequestContext) -> Page | Response:
    """The form for name and password; those who are signed in already go on."""
    if visit.person is not None:
        return redirect(visit, _next(visit))
    if visit.web.links:
        # Nobody in it has a password: its first page has the ways in.
        return redirect(visit, "/")
    if visit.proxy_user is not None:
        person = visit.store.identities.from_proxy(visit.proxy_user, language=visit.language)
        return begin_session(visit, person, _next(visit))
    return Page("account/sign_in.html", _sign_in(visit, _next(visit)))


def _sign_in(
    visit: RequestContext, following: str, error: str | UnsetType = UNSET, name: str = ""
) -> SignInResponse:
    provider = visit.web.deployment.oidc
    shown = UNSET if provider is None else provider_name(provider)
    return SignInResponse(at(following), error, name, shown, visit.store.people.has_manager())


def sign_in(visit: RequestContext, form: FormData) -> Page | Response:
    """Sign in by name and password."""
    name, following = field(form, "name").strip(), _next(visit, form)
    limits = _limits(visit, folded(name)[:200])
    allowed = [limit.take(visit.store, key) for limit, key in limits]
    if not all(allowed):
        return Page("account/sign_in.html", _sign_in(visit, following, "too-many", name), 429)
    person = visit.store.access.sign_in(name, field(form, "password"))
    if person is None:
        return Page("account/sign_in.html", _sign_in(visit, following, "wrong-password", name), 401)
    for limit, key in limits:
        limit.forgive(visit.store, key)
    response = begin_session(visit, person, following)
    visit.set_cookie(response, DEVICE, visit.web.sessions.remember(person.id), DEVICE_SECONDS)
    return response


def _limits(visit: RequestContext, name: str) -> list[tuple[RateLimit, str]]:
    """What a try counts for. A browser in which the person signed in before has tries of its own.

    So others who guess at a name, from wherever, never lock its owner out there; and from one address alone they lock
    the name for nobody else.
    """
    web, client = visit.web, visit.request.client
    device = web.sessions.remembered(visit.cookie(DEVICE))
    if device is not None and visit.store.people.is_called(device.person, name):
        return [(web.by_device, device.nonce)]
    address = client.host if client else ""
    return [(web.by_name_here, f"{address} {name}"), (web.by_name, name), (web.by_address, address)]


def sign_out(visit: RequestContext, form: FormData) -> Response:
    """Forget who it was, and end the person's sessions everywhere: a copied cookie is worth nothing any more."""
    if visit.session.person is not None and visit.token is None and visit.person is not None:
        visit.store.people.end_sessions(visit.person.id, by=visit.person.id)
    return redirect(visit, "/sign-in", new_session())


def join_page(visit: RequestContext) -> Page:
    """What a link offers."""
    invitation = _invitation(visit)
    arrival = _arrival(visit, invitation)
    known_as = UNSET if arrival is None else arrival.called
    return Page("account/join.html", JoinResponse(_response(visit, invitation), known_as=known_as))


def join(visit: RequestContext, form: FormData) -> Page | Response:
    """Make an account by a link, or bring somebody with an account into the link's campaign."""
    invitation = _invitation(visit)
    if (arrival := _arrival(visit, invitation)) is not None:
        person = visit.store.arrivals.arrive(_token(visit), arrival, language=visit.language)
        return begin_session(visit, person, f"/c/{invitation.campaign}/judge")
    if visit.person is not None:
        if invitation.campaign is None:
            raise RefusedError("new-account", Notice("link-makes-new-account"))
        visit.store.access.join(_token(visit), visit.person.id)
        return redirect(visit, f"/c/{invitation.campaign}")
    password = field(form, "password")
    if password != field(form, "again"):
        return _again(visit, form, invitation, "passwords-differ")
    try:
        person = visit.store.access.accept(
            _token(visit), field(form, "name"), password or None, language=visit.language
        )
    except InputError:
        return _again(visit, form, invitation, "account")
    return begin_session(visit, person, f"/c/{invitation.campaign}" if invitation.campaign else "/")


def _arrival(visit: RequestContext, invitation: Invitation) -> PlatformArrival | None:
    """Who comes from a platform by a link for many. Somebody who signed in otherwise stays who they are."""
    is_known = visit.person is not None and visit.person.id not in visit.store.people.from_platforms()
    if invitation.uses_left is not None or is_known:
        return None
    return arrival_in(visit.request.query_params)


def enter(visit: RequestContext) -> Response:
    """Sign in by a link that a demonstration printed."""
    person = visit.web.links.get(_token(visit))
    if person is None:
        raise RefusedError("not-found", "there is no such link")
    return begin_session(visit, visit.store.people.get(person), "/")


def begin_session(visit: RequestContext, person: Person, path: str) -> Response:
    """Begin a session for a person."""
    stamp = visit.store.access.session_stamp(person.id)
    return redirect(visit, path, new_session(person.id, stamp, visit.origin))


def _again(visit: RequestContext, form: FormData, invitation: Invitation, error: str) -> Page:
    message = refusal(error, visit.language) or error
    shape = JoinResponse(_response(visit, invitation), error, message, field(form, "name"))
    return Page("account/join.html", shape, 422)


def _token(visit: RequestContext) -> str:
    return str(visit.request.path_params["token"])


def _invitation(visit: RequestContext) -> Invitation:
    found = visit.store.access.invitation(_token(visit))
    if found is None:
        raise RefusedError("invitation", "this link was used already, or is too old")
    return found


def _response(visit: RequestContext, invitation: Invitation) -> InvitationResponse:
    title = None
    if invitation.campaign is not None:
        titles = visit.store.campaigns.get(invitation.campaign).plan.titles
        title = in_language(titles, visit.language)
    return InvitationResponse(invitation.role, invitation.campaign, title, invitation.needs_password)


def _next(visit: RequestContext, form: FormData | None = None) -> str:
    wanted = "" if form is None else field(form, "next")
    return own_page(wanted or visit.request.query_params.get("next", ""))


def own_page(wanted: str) -> str:
    """Where to go after signing in: only ever a page of ours."""
    return ours(wanted, "/")


BACK: Final = "/sign-in/provider/back"
SECONDS: Final = 600
"""In which one has to be back."""


def leave(visit: RequestContext) -> Response:
    """Redirect to the provider."""
    request = new_request(own_page(visit.request.query_params.get("next", "")))
    response = RedirectResponse(_client(visit).address(request, _back(visit)), 303)
    visit.set_cookie(response, PROVIDER, _signer(visit).dumps(list(request)), SECONDS)
    return response


def come_back(visit: RequestContext) -> Response:
    """The provider's callback: sign in whom it names."""
    query = visit.request.query_params
    try:
        kept = SignInRequest(*_signer(visit).loads(visit.cookie(PROVIDER) or "", max_age=SECONDS))
    except (BadSignature, TypeError) as error:
        raise RefusedError("provider-again", "no request to sign in is under way in this browser") from error
    if query.get("state") != kept.state:
        raise RefusedError("provider-again", "the answer belongs to another request")
    if not query.get("code"):
        raise RefusedError("provider", f"the provider let nobody in: {query.get('error', 'no code')!r:.100}")
    claims = _client(visit).claims(kept, query["code"], _back(visit))
    person = visit.store.identities.from_provider(
        claims.issuer, claims.subject, claims.name, email=claims.email, language=visit.language
    )
    response = begin_session(visit, person, kept.next)
    visit.set_cookie(response, PROVIDER, "", 0)
    return response


def _client(visit: RequestContext) -> OidcClient:
    if visit.web.oidc is None:
        raise RefusedError("not-found", "people sign in with name and password here")
    return visit.web.oidc


def _back(visit: RequestContext) -> str:
    return str(visit.request.base_url).rstrip("/") + BACK


def _signer(visit: RequestContext) -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(visit.store.access.secret("sessions"), salt="provider")


ROUTES = [
    *twins("/sign-in", sign_in_page),
    *posts("/sign-in", sign_in, who=anybody, at_once=HASHING),
    *posts("/sign-out", sign_out, who=anybody, at_once=HASHING),
    *twins("/join/{token:secret}", join_page),
    *posts("/join/{token:secret}", join, who=anybody, at_once=HASHING),
    *twins("/enter/{token:secret}", enter),
    *twins("/sign-in/provider", leave)[1:],
    *twins(BACK, come_back)[1:],
]
