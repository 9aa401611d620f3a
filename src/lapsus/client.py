"""A client for the workbench's interface, for scripts and programs that judge."""

import json
import uuid
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec

from lapsus.errors import LapsusError, UsageError
from lapsus.http_client import HttpClient, HttpError
from lapsus.notices import Notice

_LARGEST = 64 * 1024 * 1024
"""Bytes of an answer: a unit holds all that came before it, and a list of campaigns all their guidelines."""


class ServerError(LapsusError):
    """The server refused a request, or did not answer."""

    def __init__(
        self,
        what: str,
        *,
        status: int = 0,
        reason: str = "unreachable",
        answer: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(what)
        self.status = status
        """The HTTP status; 0 where there was no answer at all."""
        self.reason = reason
        """A word for programs: rules, not-yours, closed, …"""
        self.answer: Mapping[str, Any] = answer or {}
        """All that the server said: `messages` and `broken` where rules are broken."""


class Client:
    """Speaks for one person, by an access token (`lapsus user token NAME` makes one)."""

    def __init__(self, address: str, token: str, *, language: str = "en", timeout: float = 30.0) -> None:
        if urlsplit(address).scheme not in ("http", "https"):
            raise UsageError("no-address-workbench", where=address, hint="like-http-127-0-0")
        self._root = address.rstrip("/") + "/api/v1"
        self._headers = {"Authorization": f"Bearer {token}", "Accept-Language": language}
        self._http = HttpClient(timeout=timeout, largest=_LARGEST)

    def campaigns(self) -> list[dict[str, Any]]:
        """The campaigns that you may see."""
        found: list[dict[str, Any]] = self._ask("GET", "/campaigns")["campaigns"]
        return found

    def campaign(self, name: str) -> dict[str, Any]:
        """A campaign and your work in it."""
        return self._ask("GET", _path(name))

    def next(self, campaign: str) -> dict[str, Any]:
        """The next unit for you, under `unit`; where that is None, `reason` says why."""
        return self._ask("GET", f"{_path(campaign)}/next")

    def unit(self, campaign: str, number: int) -> dict[str, Any]:
        """A unit of yours: what you may see of it, and what you said."""
        return self._ask("GET", f"{_path(campaign)}/units/{number}")

    def judgments(self, campaign: str) -> Iterator[dict[str, Any]]:
        """What you said, the last unit first."""
        before: int | None = None
        while True:
            query = "" if before is None else f"?before={before}"
            page = self._ask("GET", f"{_path(campaign)}/judgments{query}")
            yield from page["judgments"]
            if (before := page["before"]) is None:
                return

    def save(
        self,
        campaign: str,
        number: int,
        answers: Mapping[str, Any],
        *,
        key: str | None = None,
        submitted: bool = True,
        seconds: float | None = None,
        base_revision: int | None = None,
    ) -> dict[str, Any]:
        """Keep answers. It returns when they are on disk. Give a key of your own to try again safely."""
        body = {
            "key": key or new_key(),
            "answers": answers,
            "submitted": submitted,
            "seconds": seconds,
            "client": "lapsus.Client",
            "base_revision": base_revision,
        }
        return self._ask("POST", f"{_path(campaign)}/units/{number}/judgments", body)

    def flag(self, campaign: str, number: int, text: str, *, key: str | None = None) -> None:
        """Mark a unit for discussion."""
        body = {"key": key or new_key(), "text": text}
        self._ask("POST", f"{_path(campaign)}/units/{number}/flags", body)

    def _ask(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        data = None if body is None else msgspec.json.encode(body)
        try:
            return self._http.ask(method, self._root + path, data, self._headers)
        except HttpError as error:
            if error.trouble == "refused":
                raise _refused(error) from error
            raise ServerError(Notice("no-answer", host=self._root, said=error)) from error


def new_key() -> str:
    """A key for one answer."""
    return str(uuid.uuid4())


def _path(campaign: str) -> str:
    return f"/campaigns/{quote(campaign, safe='')}"


def _refused(error: HttpError) -> ServerError:
    try:
        answer = json.loads(error.content)
        reason, message = str(answer["reason"]), str(answer["message"])
    except (ValueError, KeyError, TypeError, RecursionError):
        answer, reason, message = {}, "unknown", f"the server answered with status {error.status}"
    return ServerError(message, status=error.status, reason=reason, answer=answer)
