"""Sessions: a signed cookie that says who, and the tokens that tie changes to it."""

import base64
import binascii
import hashlib
import hmac
import secrets
import time
from collections import OrderedDict
from typing import Final, NamedTuple

from itsdangerous import BadSignature, URLSafeTimedSerializer
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


SESSION_SECONDS = 30 * DAY
DEVICE_SECONDS = YEAR
KNOWN = 2000
"""How many verified cookies are cached."""


class Session(NamedTuple):
    """What the cookie carries. The nonce ties the tokens in pages to this session and no other."""

    nonce: str
    person: int | None = None
    stamp: str = ""
    origin: str = ""
    """Whom the proxy in front of us named when the session began, as a hash; empty where no proxy says who comes."""


class Device(NamedTuple):
    """A browser in which somebody signed in before."""

    nonce: str
    person: int


class Sessions:
    """Reads and makes what stands in the cookies."""

    def __init__(self, secret: str) -> None:
        self._signer = URLSafeTimedSerializer(secret, salt="session")
        self._devices = URLSafeTimedSerializer(secret, salt="device")
        self._known: OrderedDict[str, tuple[Session, float]] = OrderedDict()

    def read(self, cookie: str | None) -> Session | None:
        """The session of a cookie; None where there is none, or it is forged or too old."""
        if not cookie:
            return None
        known = self._known.get(cookie) or self._remember(cookie)
        if known is None:
            return None
        session, signed = known
        return session if time.time() - signed <= SESSION_SECONDS else None

    def _remember(self, cookie: str) -> tuple[Session, float] | None:
        """The session in a cookie that we signed, and when we did."""
        try:
            value, signed = self._signer.loads(cookie, return_timestamp=True)
        except BadSignature:
            return None
        match value:
            case [str(nonce), int() | None as person, str(stamp), str(origin)]:
                session = Session(nonce, person, stamp, origin)
                known = self._known[cookie] = session, signed.timestamp()
                if len(self._known) > KNOWN:
                    self._known.popitem(last=False)
                return known
        return None

    def write(self, session: Session) -> str:
        """The cookie of a session."""
        return self._signer.dumps(list(session))

    def remember(self, person: int) -> str:
        """What lets a browser show later that this person signed in there. It lets nobody in."""
        return self._devices.dumps([secrets.token_urlsafe(16), person])

    def remembered(self, cookie: str | None) -> Device | None:
        """Who signed in before in the browser that sends this cookie."""
        try:
            value = self._devices.loads(cookie or "", max_age=DEVICE_SECONDS)
        except BadSignature:
            return None
        match value:
            case [str(nonce), int(person)]:
                return Device(nonce, person)
        return None


def new_session(person: int | None = None, stamp: str = "", origin: str = "") -> Session:
    """A session of its own: nothing of an earlier one is carried over."""
    return Session(secrets.token_urlsafe(16), person, stamp, origin)


SIZE = 32


class Csrf:
    """Makes and checks tokens. Each belongs to one session and looks different every time.

    Different, because pages are compressed: a constant secret beside text of strangers could be guessed by size.
    """

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()

    def token(self, nonce: str) -> str:
        """A token for a session."""
        mask = secrets.token_bytes(SIZE)
        return base64.urlsafe_b64encode(mask + _xor(mask, self._value(nonce))).decode().rstrip("=")

    def is_right(self, token: str, nonce: str) -> bool:
        """Whether a token belongs to a session."""
        try:
            data = base64.urlsafe_b64decode(token.encode() + b"==")
        except (binascii.Error, ValueError):
            return False
        if len(data) != 2 * SIZE:
            return False
        return hmac.compare_digest(_xor(data[:SIZE], data[SIZE:]), self._value(nonce))

    def _value(self, nonce: str) -> bytes:
        return hmac.digest(self._secret, nonce.encode(), hashlib.sha256)


def _xor(left: bytes, right: bytes) -> bytes:
    return (int.from_bytes(left) ^ int.from_bytes(right)).to_bytes(SIZE)
