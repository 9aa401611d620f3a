"""The workbench's root on its host: `/`, or a path such as `/tools/lapsus`.

Inside, every path begins at our own root. What is in front of it is taken off where requests come in, and put on where
an address goes out to a browser: by `at` in Python and templates, by `addresses.js` in scripts.
"""

from contextvars import ContextVar
from typing import Any

import regex
from jinja2.ext import Extension
from starlette.types import ASGIApp, Receive, Scope, Send

_BELOW: ContextVar[str] = ContextVar("below", default="")
_UPWARDS = regex.compile(r"/(\.|%2e){1,2}(?=[/\\?#]|$)", regex.IGNORECASE)
"""What browsers take for this folder or the one above: it would lead out of what is in front of us."""
_ATTRIBUTE = regex.compile(r'\b((?:href|src|action|data-part)=")(?=/)')


class SubPath:
    """Lets a request know what is in front of our own root. Proxies may pass that on, or take it off."""

    def __init__(self, app: ASGIApp, *, below: str) -> None:
        self.app = app
        self.below = below

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, with the whole path and the part of it that is not ours."""
        if scope["type"] == "http":
            # Not set back: every request has a context of its own, and the page that tells of trouble is made later.
            _BELOW.set(self.below)
            if self.below:
                scope["root_path"] = self.below
                scope["path"] = self._whole(scope["path"])
        await self.app(scope, receive, send)

    def _whole(self, path: str) -> str:
        if path == self.below:
            return f"{path}/"
        return path if path.startswith(f"{self.below}/") else self.below + path


def own_path(scope: Scope) -> str:
    """What a request asks for, from our own root."""
    return str(scope["path"]).removeprefix(scope.get("root_path", ""))


def at(path: str) -> str:
    """The address at which browsers find a path of ours."""
    return _BELOW.get() + path


def path_at(address: str) -> str | None:
    """The path of ours that browsers find at an address; None for whatever is not ours."""
    below = _BELOW.get()
    path = address.removeprefix(below)
    is_ours = (
        address.startswith(below)
        and path.startswith("/")
        and not path.startswith(("//", "/\\"))
        and path.isprintable()
        and not _UPWARDS.search(path)
    )
    return path if is_ours else None


class Addresses(Extension):
    """Templates write addresses from our own root, as in `href="/account"`; what is in front is put in here."""

    def __init__(self, environment: Any) -> None:
        super().__init__(environment)
        environment.globals["at"] = at

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        """The template with `at` in front of each."""
        return str(_ATTRIBUTE.sub(r'\1{{ at("") }}', source))
