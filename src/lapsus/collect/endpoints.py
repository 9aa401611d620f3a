"""Systems over HTTP: an endpoint with a small contract of our own, and Rasa's REST channel."""

import json
import threading
from typing import Any, Final

from lapsus.collect.base import NoReplyError, TalkSoFar
from lapsus.http_client import HttpClient, HttpError
from lapsus.notices import Notice
from lapsus.store.talk_records import Reply

SHAPE: Final = '{"reply": "…"}'
RASA_SHAPE: Final = '[{"text": "…"}]'


class HttpSystem:
    """`POST {"talk", "language", "messages": [{"role", "content"}]}` → `{"reply": "…"}`."""

    def __init__(
        self, name: str, url: str, key: str | None, seconds: float, stop: threading.Event | None
    ) -> None:
        self.name, self._url = name, url
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._http = HttpClient(timeout=seconds, stop=stop)

    def reply(self, talk: TalkSoFar) -> Reply:
        """What the endpoint answers; tokens too, where it tells them."""
        body = {"talk": talk.id, "language": talk.language, "messages": talk.messages}
        try:
            said = self._http.ask("POST", self._url, json.dumps(body).encode(), self._headers)
        except HttpError as error:
            raise NoReplyError(self.name, error.what or f"{error.trouble} {error.status}") from error
        text = said.get("reply")
        if not isinstance(text, str):
            raise NoReplyError(self.name, Notice("system-wrong-reply", shape=SHAPE))
        usage: Any = said.get("usage")
        read, written = (_count(usage, name) for name in ("prompt_tokens", "completion_tokens"))
        return Reply(text, tokens_read=read, tokens_written=written)


class RasaSystem:
    """Rasa's REST channel: one message a turn, by the sender's name, as it keeps the talk itself."""

    def __init__(self, name: str, url: str, seconds: float, stop: threading.Event | None) -> None:
        self.name = name
        self._url = url.rstrip("/").removesuffix("/webhooks/rest/webhook") + "/webhooks/rest/webhook"
        self._http = HttpClient(timeout=seconds, stop=stop)

    def reply(self, talk: TalkSoFar) -> Reply:
        """All that it says to the last message, as one turn."""
        if not talk.messages:
            raise NoReplyError(self.name, Notice("system-needs-opening", name=self.name))
        body = {"sender": talk.id, "message": talk.messages[-1]["content"]}
        try:
            content = self._http.send("POST", self._url, json.dumps(body).encode())
        except HttpError as error:
            raise NoReplyError(self.name, error.what or f"{error.trouble} {error.status}") from error
        try:
            said: Any = json.loads(content)
        except (ValueError, RecursionError):
            said = None
        if not isinstance(said, list):
            raise NoReplyError(self.name, Notice("system-wrong-reply", shape=RASA_SHAPE))
        texts = [one["text"] for one in said if isinstance(one, dict) and isinstance(one.get("text"), str)]
        return Reply("\n".join(texts))


def _count(usage: Any, name: str) -> int:
    found = usage.get(name) if isinstance(usage, dict) else None
    return found if isinstance(found, int) and 0 <= found < 2**31 else 0
