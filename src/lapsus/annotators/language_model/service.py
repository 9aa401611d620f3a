"""A server of language models: asked politely and within bounds, with the key kept quiet."""

import json
import threading
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from lapsus.errors import LapsusError, UsageError
from lapsus.http_client import LARGEST, HttpClient, HttpError, is_loopback
from lapsus.notices import Notice

CHAT = "/chat/completions"
_TOP_UP, _TOMORROW = Notice("account-no-credit-left"), Notice("account-quota-of-day")
_USED_UP = {
    b"insufficient_quota": _TOP_UP,
    b"billing_hard_limit_reached": _TOP_UP,
    b"billing_not_active": _TOP_UP,
    b"specified API usage limits": _TOP_UP,
    b"credit balance is too low": _TOP_UP,
    b"PerDay": _TOMORROW,
    b"Too many tokens per day": _TOMORROW,
}
"""What providers say of an account that has nothing left, and what helps; to some servers it looks like being busy."""
_NOT_THESE_TEXTS = (b'"content_filter"', b'"invalid_prompt"')
"""What providers say of texts that they will not have answered."""
_WRONG_KEY = b"API_KEY_INVALID"
_FILE = 1 << 30
"""Bytes of a file of replies that are read."""
TRIES = 5
"""How often a request is sent before it is given up."""


class ServiceError(LapsusError):
    """The server did not do what it was asked."""

    def __init__(
        self,
        what: str,
        *,
        status: int = 0,
        hopeless: bool = False,
        hint: str | None = None,
        refusal: str = "",
    ) -> None:
        super().__init__(what, hint=hint)
        self.refusal = refusal
        """The words by which these very texts, and no others, were refused."""
        self.status = status
        """The HTTP status; 0 where there was no answer."""
        self.hopeless = hopeless
        """Whether every other request would fare the same."""


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
        raise UsageError("endpoint-holds-no-name", hint="key-read-environment")
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
        # What stands after a ? may be a key.
        shown = urlunsplit((*parts[:3], "", ""))
        raise _no_endpoint(shown, "it begins with http:// or https:// and has no ? or #")
    shown = f"[{host}]" if ":" in host else host
    named = shown if port is None else f"{shown}:{port}"
    url = address.rstrip("/").removesuffix(CHAT).rstrip("/")
    return Endpoint(url, named, is_loopback(host), parts.scheme == "https")


def _no_endpoint(address: str, why: str) -> UsageError:
    return UsageError("no-endpoint", where=address, hint="like-http-127-0", why=why)


def check_key(key: str | None) -> str | None:
    """A key that fits into a header. What is wrong with one is said without showing it."""
    if not key:
        return None
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise UsageError("api-key-holds-signs", hint="look-spaces-line-ends")
    return key


class Service:
    """Sends requests to one endpoint. May be used by many threads."""

    def __init__(
        self,
        where: Endpoint,
        key: str | None = None,
        *,
        key_env: str | None = None,
        timeout: float = 120.0,
        first_wait: float = 1.0,
        stop: threading.Event | None = None,
        headers: Callable[[str | None], dict[str, str]] | None = None,
    ) -> None:
        """`headers`: how the key is sent, as Bearer by default.

        `key_env`: the environment variable that the key is from, by which other machines find theirs.
        """
        self.where, self.key_env, self.timeout = where, key_env, timeout
        self._key = check_key(key)
        self._headers = (headers or _bearer)(self._key)
        self._was_there = False
        stop = stop or threading.Event()
        self._http, self._large = (
            HttpClient(
                timeout=timeout,
                tries=TRIES,
                first_wait=first_wait,
                stop=stop,
                may_pass=self._may_pass,
                largest=largest,
            )
            for largest in (LARGEST, _FILE)
        )

    @property
    def has_key(self) -> bool:
        """Whether requests carry a key."""
        return self._key is not None

    @property
    def stop(self) -> threading.Event:
        """Set, it ends all waiting and lets nothing new be sent."""
        return self._http.stop

    def ask(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request until it is answered, with longer and longer waits; raises `ServiceError` in the end."""
        try:
            found = self._http.ask("POST", self.where.url + path, json.dumps(body).encode(), self._headers)
        except HttpError as error:
            raise self._told(error) from None
        self._was_there = True
        return found

    def send(self, method: str, path: str, body: bytes | None = None, type: str | None = None) -> bytes:
        """The same for anything else: whatever is answered, however large. `type`: what the body is, if not JSON."""
        headers = self._headers | ({"Content-Type": type} if type else {})
        try:
            found = self._large.send(method, self.where.url + path, body, headers)
        except HttpError as error:
            raise self._told(error) from None
        self._was_there = True
        return found

    def _may_pass(self, error: HttpError) -> bool:
        """Where nothing ever came, nobody is there, or it is the wrong address: a web page, say, as next time too."""
        if _used_up(error):
            return False
        return error.may_pass and (self._was_there or error.trouble not in ("nobody", "not-json"))

    def _told(self, error: HttpError) -> ServiceError:
        host, said, status = self.where.host, error.what, error.status
        if error.trouble == "refused":
            what = f"{host} answers {status}: {said}" if said else Notice("answers", host=host, status=status)
            if hint := _used_up(error):
                return ServiceError(what, status=status, hopeless=True, hint=hint)
            if status == 400 and any(told in error.content for told in _NOT_THESE_TEXTS):
                return ServiceError(what, status=status, refusal=said)
            if _WRONG_KEY in error.content:
                return self._hopeless(what, 401)
            if status in (401, 403, 404, 405):
                return self._hopeless(what, status)
            return ServiceError(what, status=status)
        if error.trouble == "elsewhere":
            return self._hopeless(Notice("sends-requests-elsewhere", host=host), status)
        if error.trouble == "unsafe":
            return self._hopeless(Notice("no-safe-connection", host=host, said=said))
        if error.trouble == "nobody" and not self._was_there:
            return self._hopeless(Notice("nobody-answers", host=host, said=said))
        if error.trouble == "not-json":
            what = Notice("answers-no-json-object", host=host)
            return ServiceError(what, status=status) if self._was_there else self._hopeless(what, 200)
        if error.trouble == "large":
            return ServiceError(said)
        return ServiceError(Notice("no-answer", host=host, said=said))

    def _hopeless(self, what: str, status: int = 0) -> ServiceError:
        hints = {
            200: Notice("look-endpoint-most-end"),
            401: Notice("key-right-read-lapsus"),
            403: Notice("may-key-used-model"),
            404: Notice("look-endpoint-models-name"),
        }
        hint = hints.get(status, Notice("look-endpoint-does-server"))
        return ServiceError(what, status=status, hopeless=True, hint=hint)


def _bearer(key: str | None) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


def _used_up(error: HttpError) -> Notice | None:
    """What helps where the account is empty or its quota used up, which does not pass by waiting a little."""
    if error.status == 402:
        return _TOP_UP
    if error.trouble != "refused":
        return None
    return next((hint for told, hint in _USED_UP.items() if told in error.content), None)
