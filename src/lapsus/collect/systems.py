"""Systems that people talk to, by what a plan says of them.

Our bot follows key words, asks back, and loses the thread now and then, as early chat systems do: so there is something
to judge in what it says, without any model or network.
"""

import json
import os
import random
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec
import regex
import yaml

from lapsus.annotators.language_model import Endpoint, Service, endpoint
from lapsus.annotators.language_model.completion import Chat
from lapsus.annotators.language_model.providers import PROVIDERS, TEXT, provider_of
from lapsus.annotators.language_model.service import ServiceError
from lapsus.errors import LapsusError, UsageError
from lapsus.http_client import HttpClient, HttpError
from lapsus.notices import Notice
from lapsus.registry import Registry
from lapsus.store.collect_plan import PERSON, Collect, System
from lapsus.store.talk_records import Reply


class NoReplyError(LapsusError):
    """A system that was asked and said nothing that can be used. The turn before it is kept; it is asked again."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(Notice("system-no-reply", name=name, why=why))


class TalkSoFar(msgspec.Struct, frozen=True):
    """All that a system is told: what was said, in which language, and a name of the talk's own."""

    id: str
    language: str
    messages: tuple[Mapping[str, str], ...]
    """`role` (user, assistant) and `content`, in order; empty where the system opens."""


class Replier(Protocol):
    """A system that people talk to. It may be asked by many threads at a time."""

    def reply(self, talk: TalkSoFar) -> Reply:
        """What it says next; raises `NoReplyError` where it says nothing."""


_RULES = Path(__file__).with_name("bot_rules.yaml")
LOSES_THREAD = 0.2
"""How often it goes on to something else, whatever was said."""


@cache
def _rules(language: str) -> Mapping[str, Any]:
    known = yaml.safe_load(_RULES.read_text(encoding="utf-8"))
    found: Mapping[str, Any] = known.get(language, known["en"])
    return found


class Bot:
    """The same talk gives the same reply."""

    def reply(self, talk: TalkSoFar) -> Reply:
        """What the first rule that fits says; never the same words twice while there are others."""
        rules = _rules(talk.language)
        said = {message["content"] for message in talk.messages if message["role"] == "assistant"}
        lot = random.Random(f"{talk.id}/{len(talk.messages)}")
        if not talk.messages:
            return Reply(lot.choice(rules["opening"]))
        last = talk.messages[-1]["content"]
        if lot.random() < LOSES_THREAD:
            return Reply(_fresh(rules["elsewhere"], said, lot))
        for rule in rules["rules"]:
            if found := regex.search(rule["if"], last, regex.IGNORECASE):
                word = found.groupdict().get("word") or ""
                choices = [one.replace("{word}", word) for one in rule["say"]]
                return Reply(_fresh([one[:1].upper() + one[1:] for one in choices], said, lot))
        return Reply(_fresh(rules["otherwise"], said, lot))


def _fresh(choices: Sequence[str], said: set[str], lot: random.Random) -> str:
    return lot.choice([one for one in choices if one not in said] or list(choices))


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


KEY: Final = "LAPSUS_API_KEY"
MOST_TOKENS: Final = 600
FUNCTIONS: Registry[Callable[[Sequence[Mapping[str, str]], str], str]] = Registry(
    "system", "lapsus.systems", {}
)
"""Python functions of other packages: messages so far and the language in, what the system says next out."""
_BEGIN: Final = {
    "en": "(The talk begins. Say your first words to the person.)",
    "ja": "（対話を始めます。相手に最初の一言をかけてください。）",
}


def make_system(system: System, *, seconds: float = 60.0, stop: threading.Event | None = None) -> Replier:
    """The system, ready to be asked; complains of what can be known before. Nothing is sent yet."""
    if system.use == "bot":
        return Bot()
    if system.use.startswith(("http://", "https://")):
        # Whoever runs an endpoint gets the key that is meant for it, and no other.
        key = _key(system, endpoint(system.use)) if system.key_env else None
        return HttpSystem(system.called, system.use, key, seconds, stop)
    if system.use.startswith("rasa:"):
        return RasaSystem(system.called, system.use.removeprefix("rasa:"), seconds, stop)
    if system.use.partition(":")[0] in PROVIDERS.names():
        return ChatSystem(system, seconds, stop)
    if system.use not in FUNCTIONS.names():
        raise UsageError("no-such-system", hint="systems-known", name=system.use)
    return FunctionSystem(system.called, FUNCTIONS.get(system.use))


def check_systems(plan: Collect) -> None:
    """Complain of systems that cannot be asked, as far as that can be known without asking."""
    for system in plan.known:
        if system.use == PERSON:
            continue
        if isinstance(make_system(system), RasaSystem) and plan.opens == "system" and not system.opening:
            raise UsageError("system-needs-opening", hint="give-opening-or-person-opens", name=system.called)


def _key(system: System, where: Endpoint) -> str | None:
    """The key to send there; none goes to another machine unencrypted."""
    key = os.environ.get(system.key_env or KEY) or None
    if key and not (where.is_local or where.is_encrypted):
        raise UsageError("system-unencrypted", hint="use-https", name=system.called)
    return key


class ChatSystem:
    """A language model, told the plan's prompt and the talk."""

    def __init__(self, system: System, seconds: float, stop: threading.Event | None) -> None:
        provider, model = provider_of(system.use)
        address = system.endpoint or provider.endpoint
        if address is None:
            raise UsageError("server", where=system.called, hint="system-endpoint")
        where = endpoint(address)
        key = _key(system, where)
        service = Service(where, key, timeout=seconds, stop=stop, headers=provider.headers)
        self.name, self._prompt = system.called, system.prompt
        self._chat = Chat(model, service, provider)
        self._chat.form = TEXT

    def reply(self, talk: TalkSoFar) -> Reply:
        """What the model says next."""
        messages = list(talk.messages)
        if not messages or messages[0]["role"] != "user":
            # Some providers want the other side to begin.
            begin = _BEGIN.get(talk.language, _BEGIN["en"])
            messages.insert(0, {"role": "user", "content": begin})
        try:
            said = self._chat.complete(self._prompt, messages, {}, {"max_tokens": MOST_TOKENS})
        except ServiceError as error:
            raise NoReplyError(self.name, error.what) from error
        return Reply(said.content, tokens_read=said.prompt_tokens, tokens_written=said.completion_tokens)


class FunctionSystem:
    """A Python function of another package."""

    def __init__(self, name: str, function: Callable[[Sequence[Mapping[str, str]], str], str]) -> None:
        self.name, self._function = name, function

    def reply(self, talk: TalkSoFar) -> Reply:
        """What the function returns."""
        try:
            said: Any = self._function([dict(message) for message in talk.messages], talk.language)
        except Exception as error:
            raise NoReplyError(self.name, f"{type(error).__name__}: {error}") from error
        return Reply(said if isinstance(said, str) else "")
