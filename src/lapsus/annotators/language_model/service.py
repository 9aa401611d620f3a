"""A server that speaks the OpenAI protocol: asked politely and within bounds, with the key kept quiet."""

from __future__ import annotations

import ipaddress
import json
import random
import socket
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from typing import IO, Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from lapsus.errors import LapsusError, UsageError

CHAT = "/chat/completions"
TRIES = 5
"""How often a request is sent before it is given up."""
LONGEST_WAIT = 120.0
"""Seconds that a server may ask to wait."""
LARGEST = 4 * 1024 * 1024
"""Bytes of a reply that are read."""
_SHOWN = 300


class ServiceError(LapsusError):
    """The server did not do what it was asked."""

    def __init__(
        self, what: str, *, status: int = 0, hopeless: bool = False, hint: str | None = None
    ) -> None:
        super().__init__(what, hint=hint)
        self.status = status
        """The HTTP status; 0 where there was no answer."""
        self.hopeless = hopeless
        """Whether every other request would fare the same."""


class StoppedError(Exception):
    """Somebody asked to stop while a request waited for its turn."""


class Endpoint(NamedTuple):
    """Where requests go."""

    url: str
    host: str
    is_local: bool
    is_encrypted: bool


def endpoint(address: str) -> Endpoint:
    """The address that a user gives, such as http://127.0.0.1:8080/v1."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise _no_endpoint(address.rpartition("@")[2], str(error)) from None
    if parts.username is not None or parts.password is not None:
        raise UsageError("an endpoint holds no name or password", hint="the key is read from the environment")
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
        # What stands after a ? may be a key.
        shown = urlunsplit((*parts[:3], "", ""))
        raise _no_endpoint(shown, "it begins with http:// or https:// and has no ? or #")
    shown = f"[{host}]" if ":" in host else host
    named = shown if port is None else f"{shown}:{port}"
    url = address.rstrip("/").removesuffix(CHAT).rstrip("/")
    return Endpoint(url, named, _is_local(host), parts.scheme == "https")


def _no_endpoint(address: str, why: str) -> UsageError:
    return UsageError(f"is no endpoint: {why}", where=address, hint="like http://127.0.0.1:8080/v1")


def _is_local(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_key(key: str | None) -> str | None:
    """A key that fits into a header. What is wrong with one is said without showing it."""
    if not key:
        return None
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise UsageError("the API key holds signs that no key has", hint="look for spaces or line ends in it")
    return key


class Service:
    """Sends requests to one endpoint. May be used by many threads."""

    def __init__(
        self,
        where: Endpoint,
        key: str | None = None,
        *,
        timeout: float = 120.0,
        first_wait: float = 1.0,
        stop: threading.Event | None = None,
    ) -> None:
        self.where = where
        self.stop = stop or threading.Event()
        """Set, it ends all waiting and lets nothing new be sent."""
        self._key = check_key(key)
        self._timeout = timeout
        self._first_wait = first_wait
        self._was_there = False
        # What is for this machine goes straight there, never by way of a proxy on another.
        proxies = [urllib.request.ProxyHandler({})] if where.is_local else []
        self._opener = urllib.request.build_opener(_NoDetours(), *proxies)

    def ask(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request until it is answered, with longer and longer waits; raises `ServiceError` in the end."""
        for attempt in range(TRIES):
            if self.stop.is_set():
                raise StoppedError
            try:
                found = self._send(path, body)
            except _BusyError as busy:
                wait = busy.wait if busy.wait is not None else self._usual_wait(attempt)
                if attempt == TRIES - 1 or wait > LONGEST_WAIT:
                    raise ServiceError(self._quiet(str(busy)), status=busy.status) from None
                if self.stop.wait(wait):
                    raise StoppedError from None
            else:
                self._was_there = True
                return found
        raise AssertionError("the last attempt returns or raises")

    def _usual_wait(self, attempt: int) -> float:
        # Spread out, so that many requests do not come back at once.
        return min(self._first_wait * random.uniform(0.75, 1.25) * float(2**attempt), 30.0)

    def _send(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        headers = {"Content-Type": "application/json", "User-Agent": "lapsus"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        data = json.dumps(body).encode()
        # `endpoint` lets in web addresses only.
        request = urllib.request.Request(self.where.url + path, data, headers, method="POST")  # noqa: S310
        deadline = time.monotonic() + self._timeout
        try:
            with self._opener.open(request, timeout=self._timeout) as response:
                content = _read(response, deadline)
        except urllib.error.HTTPError as error:
            with error:
                raise self._refused(error) from None
        except ssl.SSLError as error:
            raise self._hopeless(f"no safe connection to {self.where.host}: {error}") from None
        except urllib.error.URLError as error:
            if isinstance(error.reason, ssl.SSLError):
                raise self._hopeless(f"no safe connection to {self.where.host}: {error.reason}") from None
            nobody_there = isinstance(error.reason, ConnectionRefusedError | socket.gaierror)
            if nobody_there and not self._was_there:
                raise self._hopeless(f"nobody answers at {self.where.host}: {error.reason}") from None
            raise _BusyError(f"no answer from {self.where.host}: {error.reason}") from None
        except (OSError, HTTPException) as error:
            raise _BusyError(f"no answer from {self.where.host}: {error or type(error).__name__}") from None
        return self._decoded(content)

    def _decoded(self, content: bytes) -> dict[str, Any]:
        try:
            found = json.loads(content)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict):
            return found
        what = f"what {self.where.host} answers is no JSON object"
        # Where nothing else ever came, it is the wrong address: a web page, say, which will be there next time too.
        raise _BusyError(what) if self._was_there else self._hopeless(what, 200)

    def _refused(self, error: urllib.error.HTTPError) -> Exception:
        said = self._quiet(_message(error))
        what = f"{self.where.host} answers {error.code}{f': {said}' if said else ''}"
        if error.code in (408, 409, 425, 429) or (error.code >= 500 and error.code != 501):
            return _BusyError(what, error.code, _wait_asked(error.headers.get("Retry-After")))
        if 300 <= error.code < 400:
            return self._hopeless(f"{self.where.host} sends requests elsewhere", error.code)
        if error.code in (401, 403, 404, 405):
            return self._hopeless(what, error.code)
        return ServiceError(what, status=error.code)

    def _hopeless(self, what: str, status: int = 0) -> ServiceError:
        hints = {
            200: "look at --endpoint: most end in /v1",
            401: "is the key right? it is read from LAPSUS_API_KEY, or from the variable that --key-env names",
            403: "may this key be used for this model, from here?",
            404: "look at --endpoint and at the model's name",
        }
        hint = hints.get(status, "look at --endpoint; does the server run?")
        return ServiceError(self._quiet(what), status=status, hopeless=True, hint=hint)

    def _quiet(self, text: str) -> str:
        """The same without the key: some servers say it back."""
        return text.replace(self._key, "(the key)") if self._key else text


class _BusyError(Exception):
    """Something that may go better later."""

    def __init__(self, what: str, status: int = 0, wait: float | None = None) -> None:
        super().__init__(what)
        self.status, self.wait = status, wait


class _NoDetours(urllib.request.HTTPRedirectHandler):
    """Texts and keys go to the address that the user named, and to no other."""

    def redirect_request(self, *args: Any, **more: Any) -> None:
        return None


def _read(response: Any, deadline: float) -> bytes:
    """The whole reply, which may be neither endless nor slower than allowed."""
    found = bytearray()
    while piece := response.read1(65536):
        found += piece
        if len(found) > LARGEST:
            raise ServiceError(f"the reply is larger than {LARGEST:,} bytes")
        if time.monotonic() > deadline:
            raise TimeoutError("timed out")
    return bytes(found)


def _message(error: IO[bytes]) -> str:
    """What a server says about a refusal, in whichever of the usual forms, in one short line."""
    try:
        raw = error.read(20_000)
    except (OSError, HTTPException):
        return ""
    text = raw.decode(errors="replace")
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError):
        found = text
    for key in ("error", "message", "detail"):
        if isinstance(found, dict) and key in found:
            found = found[key]
    said = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
    return one_line(said)[:_SHOWN]


def one_line(said: str) -> str:
    """What a server or a model said, fit for a terminal: control signs and line ends become spaces."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in said).split())


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
