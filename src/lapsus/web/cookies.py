"""Cookies under names of this workbench's own: browsers keep one jar for a host, whichever port or path it is at."""

import hashlib
import hmac
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from lapsus.web.addresses import at

SESSION: Final = "lapsus"
DEVICE: Final = "lapsus-device"
PROVIDER: Final = "lapsus-provider"
LANGUAGE: Final = "lang"
THEME: Final = "theme"
DAY: Final = 86_400
YEAR: Final = 365 * DAY


class Cookies:
    """The cookies of all servers on one database.

    The secret that sessions are signed with also marks the names: whoever can read a cookie finds it, and nobody else
    overwrites it.
    """

    def __init__(self, secret: str, *, longest: int = YEAR) -> None:
        """`longest`: seconds that any of them is kept."""
        self._mark = hmac.digest(secret.encode(), b"names of cookies", hashlib.sha256).hex()[:8]
        self._longest = longest

    def name(self, what: str) -> str:
        """What a cookie is called here."""
        return f"{what}-{self._mark}"

    def read(self, request: Request, what: str) -> str | None:
        """What a browser keeps for us."""
        return request.cookies.get(self.name(what))

    def write(self, request: Request, response: Response, what: str, value: str, seconds: int) -> None:
        """Give the browser a cookie that no script sees, no other site sends, and no path beside ours gets."""
        response.set_cookie(
            self.name(what),
            value,
            max_age=min(seconds, self._longest),
            path=at("") or "/",
            httponly=True,
            samesite="lax",
            secure=request.url.scheme == "https",
        )
