"""Who is signed in, as a trusted proxy says in a header."""

from collections.abc import Sequence
from ipaddress import ip_address, ip_network
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

STATE: Final = "proxy_user"
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
                scope.setdefault("state", {})[STATE] = said[0].decode("utf-8", "replace").strip()
        await self.app(scope, receive, send)

    def _is_proxy(self, address: str) -> bool:
        try:
            return any(ip_address(address) in network for network in self._proxies)
        except ValueError:
            return False
