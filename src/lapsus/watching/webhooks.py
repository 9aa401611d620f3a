"""Signed webhooks: what happened goes out as JSON with a signature, until it is taken."""

import hashlib
import hmac
import threading
from collections.abc import Mapping
from urllib.parse import urlsplit

from lapsus.errors import UsageError
from lapsus.http_client import HttpClient, HttpError, StoppedError

SIGNATURE = "Lapsus-Signature"
TOLERANCE = 300
"""Seconds by which a signature's time may differ from the receiver's clock."""


def signature(secret: str, body: bytes, at: int) -> str:
    """The header's value: when it was signed, and the HMAC (SHA-256) of that time, a dot and the body."""
    made = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={made}"


def is_genuine(secret: str, body: bytes, header: str, now: float, tolerance: float = TOLERANCE) -> bool:
    """Whether a received webhook is ours and recent; for receivers written in Python."""
    parts = dict(part.partition("=")[::2] for part in header.split(","))
    try:
        at = int(parts.get("t", ""))
    except ValueError:
        return False
    expected = signature(secret, body, at)
    return abs(now - at) <= tolerance and hmac.compare_digest(expected.encode(), header.encode())


class Webhook:
    """Where events go."""

    def __init__(self, url: str, secret: str, *, stop: threading.Event | None = None, tries: int = 4) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError("watch-webhook-address", url=url)
        if not secret:
            raise UsageError("watch-webhook-secret", hint="watch-set-secret")
        self._url, self._secret = url, secret
        self._client = HttpClient(timeout=10.0, tries=tries, first_wait=0.5, stop=stop)

    def send(self, kind: str, id: str, body: bytes, at: int) -> str | None:
        """Send an event; what went wrong, or None where it was taken. Sent again it has the same id."""
        headers: Mapping[str, str] = {
            SIGNATURE: signature(self._secret, body, at),
            "Lapsus-Event": kind,
            "Lapsus-Delivery": id,
        }
        try:
            self._client.send("POST", self._url, body, headers)
        except HttpError as error:
            return f"{error.status or error.trouble}: {error.what}"
        except StoppedError:
            return "stopped"
        return None
