"""Requests over HTTP, under one rule for proxies, redirects, time, size and trying again.

Whatever is for this machine goes straight there, never by way of a proxy. Redirects are not followed: texts and keys go
to the address that was named, and to no other. A key that a server says back is taken out of what is told.
"""

import ipaddress
import json
import random
import re
import socket
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from functools import cache
from http.client import HTTPException
from typing import Any, Final, Literal, TypeAlias, TypeVar
from urllib.parse import urlsplit

from lapsus.notices import Notice

LARGEST: Final = 4 * 1024 * 1024
"""Bytes of a reply that are read."""
LONGEST_WAIT: Final = 120.0
"""Seconds that a server may ask to wait."""
_SHOWN: Final = 300
_REFUSAL: Final = 20_000
"""Bytes of a refusal that are read."""

_SECRET: Final = ("authorization", "api-key", "x-api-key", "x-goog-api-key")
"""Headers that hold keys."""

_RETRY_DELAY: Final = re.compile(rb'"retryDelay":\s*"(\d+(?:\.\d+)?)s"')
"""Where Google says when to come back."""

T = TypeVar("T")
Trouble: TypeAlias = Literal["refused", "elsewhere", "nobody", "unsafe", "silent", "large", "not-json"]


class StoppedError(Exception):
    """Somebody asked to stop while a request waited for its turn."""


class HttpError(Exception):
    """A request that was not answered as it should be; callers say it in the words of their trade."""

    def __init__(
        self, trouble: Trouble, what: str, *, status: int = 0, content: bytes = b"", wait: float | None = None
    ) -> None:
        super().__init__(what)
        self.trouble = trouble
        self.what = what
        """What the server said, or what went wrong, in one short line."""
        self.status = status
        """The HTTP status; 0 where there was no answer."""
        self.content = content
        """The beginning of what a server that refused has sent."""
        self.wait = wait
        """Seconds after which the server wants to be asked again, where it says so."""

    @property
    def may_pass(self) -> bool:
        """Whether it may go better later."""
        if self.trouble == "refused":
            return self.status in (408, 409, 425, 429) or (self.status >= 500 and self.status != 501)
        return self.trouble in ("nobody", "silent", "not-json")


class HttpClient:
    """Sends requests. May be used by many threads."""

    def __init__(
        self,
        *,
        timeout: float = 30.0,
        tries: int = 1,
        first_wait: float = 1.0,
        largest: int = LARGEST,
        stop: threading.Event | None = None,
        may_pass: Callable[[HttpError], bool] = lambda error: error.may_pass,
    ) -> None:
        """`tries`: how often a request is sent before it is given up; only where `may_pass` says that it helps."""
        self.stop = stop or threading.Event()
        """Set, it ends all waiting and lets nothing new be sent."""
        self._timeout, self._tries, self._first_wait, self._largest = timeout, tries, first_wait, largest
        self._may_pass = may_pass

    def send(
        self, method: str, url: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> bytes:
        """What a server answers."""
        return self._until_answered(lambda: self._once(method, url, body, headers or {}))

    def ask(
        self, method: str, url: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """The JSON object that a server answers with."""
        return self._until_answered(lambda: _object(self._once(method, url, body, headers or {})))

    def _until_answered(self, once: Callable[[], T]) -> T:
        for attempt in range(self._tries):
            if self.stop.is_set():
                raise StoppedError
            try:
                return once()
            except HttpError as error:
                # Spread out, so that many requests do not come back at once.
                usual = min(self._first_wait * random.uniform(0.75, 1.25) * float(2**attempt), 30.0)
                wait = usual if error.wait is None else error.wait
                if attempt == self._tries - 1 or not self._may_pass(error) or wait > LONGEST_WAIT:
                    raise
            if self.stop.wait(wait):
                raise StoppedError
        raise AssertionError("the last attempt returns or raises")

    def _once(self, method: str, url: str, body: bytes | None, headers: Mapping[str, str]) -> bytes:
        scheme, host = urlsplit(url).scheme, urlsplit(url).hostname
        if scheme not in ("http", "https") or not host:
            raise ValueError("a web address is needed")
        sent = {"User-Agent": "lapsus", **headers}
        if body is not None:
            sent.setdefault("Content-Type", "application/json")
        request = urllib.request.Request(url, body, sent, method=method)  # noqa: S310  checked above
        deadline = time.monotonic() + self._timeout
        try:
            with _opener(is_loopback(host)).open(request, timeout=self._timeout) as response:
                return read_whole(response, deadline, self._largest)
        except urllib.error.HTTPError as error:
            with error:
                raise _refused(error, headers) from None
        except ssl.SSLError as error:
            raise HttpError("unsafe", str(error)) from None
        except urllib.error.URLError as error:
            if isinstance(error.reason, ssl.SSLError):
                raise HttpError("unsafe", str(error.reason)) from None
            nobody = isinstance(error.reason, ConnectionRefusedError | socket.gaierror)
            raise HttpError("nobody" if nobody else "silent", str(error.reason)) from None
        except (OSError, HTTPException) as error:
            raise HttpError("silent", str(error) or type(error).__name__) from None


def open_response(
    method: str, url: str, body: bytes | None, headers: Mapping[str, str], timeout: float
) -> Any:
    """A response whatever its status, to be read as it comes and closed by the caller. HttpError where none comes."""
    host = urlsplit(url).hostname or ""
    request = urllib.request.Request(url, body, dict(headers), method=method)  # noqa: S310  the caller checks it
    try:
        return _opener(is_loopback(host)).open(request, timeout=timeout)
    except urllib.error.HTTPError as error:
        return error
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", error)
        nobody = isinstance(reason, ConnectionRefusedError | socket.gaierror)
        raise HttpError("nobody" if nobody else "silent", str(reason) or type(error).__name__) from None


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def one_line(said: str) -> str:
    """What a server or a model said, fit for a terminal: control signs and line ends become spaces."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in said).split())


class _NoDetours(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any, **more: Any) -> None:
        return None


def _opener(is_local: bool) -> urllib.request.OpenerDirector:
    # The environment may change while a program runs: proxies are looked up for each request.
    proxies = [urllib.request.ProxyHandler({})] if is_local else []
    return urllib.request.build_opener(_NoDetours(), urllib.request.HTTPSHandler(context=_tls()), *proxies)


@cache
def _tls() -> ssl.SSLContext:
    """Certificates are read once: it takes tens of milliseconds."""
    return ssl.create_default_context()


def read_whole(response: Any, deadline: float, largest: int) -> bytes:
    """A reply to its end, which may be neither endless nor slower than allowed."""
    found = bytearray()
    while piece := response.read1(65536):
        found += piece
        if len(found) > largest:
            raise HttpError("large", Notice("reply-larger-bytes", largest=largest))
        if time.monotonic() > deadline:
            raise TimeoutError("timed out")
    return bytes(found)


def _object(content: bytes) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise HttpError("not-json", "the reply is no JSON object", status=200)
    match found:
        case {"error": {"code": int(status)}} if status >= 400 and len(found) <= 2:
            # Some who pass requests on say so what went wrong behind them.
            raise HttpError("refused", _said(content), status=status, content=content)
    return found


def _refused(error: urllib.error.HTTPError, headers: Mapping[str, str]) -> HttpError:
    try:
        content = error.read(_REFUSAL)
    except (OSError, HTTPException):
        content = b""
    for name, value in headers.items():
        if name.lower() in _SECRET:
            content = content.replace(value.split(" ")[-1].encode(), b"(the key)")
    wait = _wait_asked(error.headers.get("Retry-After"))
    if wait is None and (told := _RETRY_DELAY.search(content)):
        wait = float(told.group(1))
    trouble: Trouble = "elsewhere" if 300 <= error.code < 400 else "refused"
    return HttpError(trouble, _said(content), status=error.code, content=content, wait=wait)


def _said(content: bytes) -> str:
    """What a server says about a refusal, in whichever of the usual forms, in one short line."""
    text = content.decode(errors="replace")
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError):
        found = text
    for key in ("error", "message", "detail"):
        if isinstance(found, dict) and key in found:
            found = found[key]
    said = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
    return one_line(said)[:_SHOWN]


def _wait_asked(value: str | None) -> float | None:
    """`Retry-After`, as seconds or as a moment."""
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None
