"""Deployment settings: proxies and who they say is signed in, sign-in elsewhere, logging of requests."""

import ipaddress
from collections.abc import Sequence
from ipaddress import ip_address, ip_network
from typing import Final
from urllib.parse import urlsplit

import msgspec
import regex
from starlette.types import ASGIApp, Receive, Scope, Send

from lapsus.errors import UsageError
from lapsus.notices import Notice

_PATH = regex.compile(r"(/[A-Za-z0-9_-][A-Za-z0-9._-]*){0,10}")
_HEADER = regex.compile(r"[A-Za-z0-9-]{1,100}")


class OidcProvider(msgspec.Struct, frozen=True):
    """A provider of OpenID Connect at which people sign in."""

    issuer: str
    """Its address; `/.well-known/openid-configuration` is looked up below it."""
    client_id: str
    client_secret: str = ""
    """Empty for a public client."""
    name: str = ""
    """What the button calls it; the issuer's host where nothing is said."""


class Deployment(msgspec.Struct, frozen=True):
    """The settings of `lapsus serve`; what is said here goes to every process of the server."""

    proxies: tuple[str, ...] = ()
    """Addresses or networks whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed. Nobody else's are."""
    user_header: str | None = None
    """A header in which these proxies say who is signed in."""
    oidc: OidcProvider | None = None
    path: str = ""
    """What is in front of our own root on the host, such as `/tools/lapsus`."""
    request_log: bool = False
    """Whether each request is a line of JSON on standard error."""


PLAIN: Final = Deployment()
"""On one's own machine: no proxy, and people sign in with name and password."""


def check_deployment(deployment: Deployment) -> Deployment:
    """Complain of settings that would let in whoever likes, or nobody."""
    if not _PATH.fullmatch(deployment.path):
        hint = Notice("letters-digits-between-strokes")
        raise UsageError("no-path", where=deployment.path, hint=hint)
    for proxy in deployment.proxies:
        try:
            ipaddress.ip_network(proxy)
        except ValueError as error:
            hint = Notice("address-10-0-0")
            raise UsageError("no-address-proxy", where=proxy, hint=hint, error=error) from error
    if deployment.user_header is not None:
        if not _HEADER.fullmatch(deployment.user_header):
            raise UsageError("no-name-header", where=deployment.user_header)
        if not deployment.proxies:
            raise UsageError(
                "header-says-who-somebody", where=deployment.user_header, hint="name-proxy-address"
            )
        for proxy in deployment.proxies:
            if ipaddress.ip_network(proxy).prefixlen == 0:
                hint = Notice("name-proxys-own-address")
                raise UsageError("everybody-could-say-who", where=proxy, hint=hint)
    if deployment.oidc is not None and not is_secure(deployment.oidc.issuer):
        hint = Notice("address-begins-https")
        raise UsageError("no-issuer-trust", where=deployment.oidc.issuer, hint=hint)
    return deployment


def provider_name(provider: OidcProvider) -> str:
    """What people call a provider."""
    return provider.name or urlsplit(provider.issuer).hostname or provider.issuer


def is_secure(issuer: str) -> bool:
    """Whether nobody on the way can play the provider: encrypted, or on this machine."""
    try:
        parts = urlsplit(issuer)
        is_local = parts.hostname in ("localhost", "127.0.0.1", "::1")
    except ValueError:
        return False
    is_plain = parts.hostname is not None and "@" not in parts.netloc and issuer.isprintable()
    return is_plain and (parts.scheme == "https" or (parts.scheme == "http" and is_local))


PROXY_USER: Final = "proxy_user"
"""Under this name the request's state holds what the proxy says; nothing where it says nothing."""


class ProxyUser:
    """Takes the name from the header of a request that comes straight from a named proxy, and from no other."""

    def __init__(self, app: ASGIApp, *, proxies: Sequence[str], header: str | None) -> None:
        self.app = app
        self._proxies = [ip_network(proxy) for proxy in proxies]
        self._header = header.lower().encode() if header else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, with the name in the request's state."""
        if scope["type"] == "http" and self._header is not None:
            client = scope.get("client")
            said = [value for name, value in scope["headers"] if name == self._header]
            # Twice is one time too many: somebody before the proxy may have said the first.
            if client and self._is_proxy(client[0]) and len(said) == 1 and said[0].strip():
                scope.setdefault("state", {})[PROXY_USER] = said[0].decode("utf-8", "replace").strip()
        await self.app(scope, receive, send)

    def _is_proxy(self, address: str) -> bool:
        try:
            return any(ip_address(address) in network for network in self._proxies)
        except ValueError:
            return False
