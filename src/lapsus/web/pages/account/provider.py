"""The way to the provider at which people sign in, and back."""

from typing import Final

from itsdangerous import BadSignature, URLSafeTimedSerializer
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute

from lapsus.store import RefusedError
from lapsus.web.oidc import OidcClient, SignInRequest, new_request
from lapsus.web.page_routes import twins
from lapsus.web.pages.account.sign_in import begin_session, own_page
from lapsus.web.request_context import RequestContext
from lapsus.web.sessions import PROVIDER

BACK: Final = "/sign-in/provider/back"
SECONDS: Final = 600
"""In which one has to be back."""


def routes() -> list[BaseRoute]:
    """The redirect to the provider, and its callback."""
    return [*twins("/sign-in/provider", leave)[1:], *twins(BACK, come_back)[1:]]


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
