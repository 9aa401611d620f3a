"""Signing in at a provider of OpenID Connect: the authorization code flow with PKCE.

What the provider says is believed only after the signature, the issuer, the audience and the nonce are found right.
"""

import base64
import hashlib
import secrets
from functools import cached_property
from http.client import HTTPException
from typing import Any, Final, NamedTuple
from urllib.parse import quote_plus, urlencode

from lapsus.errors import UsageError
from lapsus.http_client import HttpClient, HttpError
from lapsus.store import RefusedError
from lapsus.web.deployment import OidcProvider, is_secure

ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures with a key that only the provider has."""
SECONDS: Final = 10
_HTTP: Final = HttpClient(timeout=SECONDS, largest=1 << 20)


class SignInRequest(NamedTuple):
    """State of a sign-in until the provider's callback; a signed cookie."""

    state: str
    nonce: str
    verifier: str
    next: str


class Claims(NamedTuple):
    """Who signed in, as the provider says."""

    issuer: str
    subject: str
    name: str
    email: str | None


def new_request(next: str) -> SignInRequest:
    """A sign-in request with fresh random state, nonce and PKCE verifier."""
    return SignInRequest(
        secrets.token_urlsafe(32), secrets.token_urlsafe(32), secrets.token_urlsafe(32), next
    )


class OidcClient:
    """OIDC client for the configured provider."""

    def __init__(self, provider: OidcProvider) -> None:
        try:
            import jwt
        except ModuleNotFoundError as error:
            raise UsageError(
                "signing-provider-needs-pyjwt", hint="pip install 'lapsus-eval[oidc]'"
            ) from error
        self._jwt = jwt
        self.provider = provider

    @cached_property
    def _settings(self) -> dict[str, Any]:
        """What the provider publishes about itself; asked for again after a failure, else kept."""
        address = self.provider.issuer.rstrip("/") + "/.well-known/openid-configuration"
        found = _fetched(address)
        if str(found.get("issuer", "")).rstrip("/") != self.provider.issuer.rstrip("/"):
            raise _trouble(f"calls itself {found.get('issuer')!r:.200}")
        return found

    def address(self, request: SignInRequest, back: str) -> str:
        """Where to send the browser."""
        digest = hashlib.sha256(request.verifier.encode()).digest()
        query = {
            "response_type": "code",
            "client_id": self.provider.client_id,
            "redirect_uri": back,
            "scope": "openid profile email",
            "state": request.state,
            "nonce": request.nonce,
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        where = _address(self._settings, "authorization_endpoint")
        return f"{where}{'&' if '?' in where else '?'}{urlencode(query)}"

    def claims(self, request: SignInRequest, code: str, back: str) -> Claims:
        """Who came back with a code."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": back,
            "client_id": self.provider.client_id,
            "code_verifier": request.verifier,
        }
        headers = {"Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded"}
        if self.provider.client_secret:
            pair = f"{quote_plus(self.provider.client_id)}:{quote_plus(self.provider.client_secret)}"
            headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
        where = _address(self._settings, "token_endpoint")
        token = _fetched(where, urlencode(form).encode(), headers).get("id_token")
        if not isinstance(token, str):
            raise _trouble("sent no id_token")
        return self._read(token, request.nonce)

    def _key(self, token: str) -> Any:
        """The key of a token's signature; a provider with a single key need not name it."""
        said = _fetched(_address(self._settings, "jwks_uri"))
        name = self._jwt.get_unverified_header(token).get("kid")
        keys = [
            key
            for key in self._jwt.PyJWKSet.from_dict(said).keys
            if key.public_key_use in ("sig", None) and name in (key.key_id, None)
        ]
        if len(keys) != 1:
            raise _trouble("does not say with which key it signed")
        return keys[0]

    def _read(self, token: str, nonce: str) -> Claims:
        try:
            said = self._jwt.decode(
                token,
                self._key(token),
                algorithms=list(ALGORITHMS),
                audience=self.provider.client_id,
                issuer=self._settings["issuer"],
                leeway=60,
                options={"require": ["exp", "iat", "sub", "aud", "iss"]},
            )
        except (self._jwt.PyJWTError, OSError, ValueError, HTTPException, RecursionError) as error:
            raise _trouble(f"sent an id_token that does not hold: {error}") from error
        if not secrets.compare_digest(str(said.get("nonce", "")), nonce):
            raise _trouble("answered somebody else's request")
        if said.get("azp", self.provider.client_id) != self.provider.client_id:
            raise _trouble("signed somebody in to another application")
        subject = str(said["sub"])
        name = next((said[key] for key in ("preferred_username", "name", "email") if said.get(key)), subject)
        email = said.get("email") if said.get("email_verified") is True else None
        return Claims(str(said["iss"]), subject, str(name), email)


def _address(settings: dict[str, Any], name: str) -> str:
    found = settings.get(name)
    if not isinstance(found, str) or not is_secure(found):
        raise _trouble(f"has no safe {name}")
    return found


def _fetched(
    address: str, form: bytes | None = None, headers: dict[str, str] | None = None
) -> dict[str, Any]:
    try:
        return _HTTP.ask("GET" if form is None else "POST", address, form, headers)
    except HttpError as error:
        raise _trouble(f"does not answer as it should: {error.status or ''} {error.what}") from error


def _trouble(what: str) -> RefusedError:
    return RefusedError("provider", f"the provider {what}")
