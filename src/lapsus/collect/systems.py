"""Systems by what a plan says of them."""

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from lapsus.annotators.language_model import Endpoint, Service, endpoint
from lapsus.annotators.language_model.completion import Chat
from lapsus.annotators.language_model.providers import PROVIDERS, provider_of
from lapsus.annotators.language_model.providers.base import TEXT
from lapsus.annotators.language_model.service import ServiceError
from lapsus.collect.base import NoReplyError, Replier, TalkSoFar
from lapsus.collect.bot import Bot
from lapsus.collect.endpoints import HttpSystem, RasaSystem
from lapsus.errors import UsageError
from lapsus.registry import Registry
from lapsus.store.collect_plan import PERSON, Collect, System
from lapsus.store.talk_records import Reply

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


__all__ = ["NoReplyError", "Replier", "TalkSoFar", "check_systems", "make_system"]
