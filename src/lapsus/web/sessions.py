"""Sessions: a signed cookie that says who, and that ends when the password changes."""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from typing import NamedTuple

from itsdangerous import BadSignature, URLSafeTimedSerializer
from starlette.responses import Response

COOKIE = "lapsus"
DAYS = 30
KNOWN = 2000
"""How many cookies are kept in mind whose signature was found right."""


class Session(NamedTuple):
    """What the cookie carries. The nonce ties the tokens in pages to this session and no other."""

    nonce: str
    person: int | None = None
    stamp: str = ""


class Sessions:
    """Reads and writes the cookie."""

    def __init__(self, secret: str) -> None:
        self._signer = URLSafeTimedSerializer(secret, salt="session")
        self._known: OrderedDict[str, tuple[Session, float]] = OrderedDict()

    def read(self, cookie: str | None) -> Session | None:
        """The session of a cookie; None where there is none, or it is forged or too old."""
        if not cookie:
            return None
        known = self._known.get(cookie) or self._remember(cookie)
        if known is None:
            return None
        session, signed = known
        return session if time.time() - signed <= DAYS * 86400 else None

    def _remember(self, cookie: str) -> tuple[Session, float] | None:
        """The session in a cookie that we signed, and when we did."""
        try:
            value, signed = self._signer.loads(cookie, return_timestamp=True)
        except BadSignature:
            return None
        match value:
            case [str(nonce), int() | None as person, str(stamp)]:
                known = self._known[cookie] = Session(nonce, person, stamp), signed.timestamp()
                if len(self._known) > KNOWN:
                    self._known.popitem(last=False)
                return known
        return None

    def write(self, response: Response, session: Session, *, secure: bool) -> None:
        """Give the browser its cookie."""
        response.set_cookie(
            COOKIE,
            self._signer.dumps(list(session)),
            max_age=DAYS * 86400,
            httponly=True,
            samesite="lax",
            secure=secure,
        )


def new_session(person: int | None = None, stamp: str = "") -> Session:
    """A session of its own: nothing of an earlier one is carried over."""
    return Session(secrets.token_urlsafe(16), person, stamp)
