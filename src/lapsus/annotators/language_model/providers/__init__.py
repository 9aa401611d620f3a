"""Providers of language models, one file each: how a request is written, and what a reply says."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple

from lapsus.annotators.language_model.providers.batches import Batches
from lapsus.errors import UsageError
from lapsus.registry import Registry, did_you_mean

SCHEMA, UNBOUNDED, TOOL, OBJECT, TEXT = (
    "json_schema",
    "json_schema without bounds",
    "tool call",
    "json_object",
    "text",
)
"""How the form of an answer can be asked for. Some servers know no bounds of strings."""
TOOL_NAME: Final = "judgment"


class Request(NamedTuple):
    """What a model is asked."""

    model: str
    system: str
    messages: Sequence[Mapping[str, str]]
    """What was said so far: `role` (user, assistant) and `content`."""
    schema: Mapping[str, Any]
    """The JSON schema of the answer."""
    wishes: Mapping[str, Any]
    """Of temperature, seed and max_tokens those that are wished for."""


class Completion(NamedTuple):
    """What a model replied."""

    content: str
    form: str
    was_cut: bool
    model: str | None
    """The model's name as the server tells it, which may be more exact than the one asked for."""
    prompt_tokens: int
    completion_tokens: int
    refusal: str = ""
    """What a model or its provider says where it will not answer."""


class Provider(ABC):
    """How one interface is spoken. It holds no state: what a server takes is remembered by who asks."""

    name: ClassVar[str]
    endpoint: ClassVar[str | None] = None
    """Where it is, for a provider with one address."""
    forms: ClassVar[tuple[str, ...]]
    """The forms that it can be asked for, the strictest first."""
    renamed: ClassVar[Mapping[str, str]] = {}
    """What wishes are called; one that has no name here goes under its own."""
    instead: ClassVar[Mapping[str, str]] = {}
    """What a wish is called by models that refuse its usual name."""
    unknown: ClassVar[tuple[str, ...]] = ()
    """Wishes that the interface has no place for."""
    batches: ClassVar[type[Batches] | None] = None
    """How many requests are handed in at once, where the provider has a way."""

    route: ClassVar[str] = ""
    """What comes after the endpoint, where that is the same for every model."""
    key_header: ClassVar[str] = ""
    """The header that holds the key and nothing else; empty: Authorization, as a Bearer token."""

    def headers(self, key: str | None) -> dict[str, str]:
        """The headers of a request."""
        if not key:
            return {}
        return {self.key_header: key} if self.key_header else {"Authorization": f"Bearer {key}"}

    def path(self, model: str, endpoint: str) -> str:
        """What comes after the endpoint."""
        return self.route

    @abstractmethod
    def body(self, request: Request, form: str) -> dict[str, Any]:
        """The request in one of the forms; its wishes are under the names that the server knows."""

    @abstractmethod
    def completion(self, reply: Mapping[str, Any], form: str) -> Completion | None:
        """What a reply says; None where it is none of this interface."""


def model_name(model: Any) -> str | None:
    """A model's name. Local servers tell the path of its file, and where that lies is nobody's business."""
    if not isinstance(model, str) or not model.isprintable():
        return None
    is_path = model.startswith(("/", "~", ".")) or "\\" in model
    return (re.split(r"[/\\]", model)[-1] if is_path else model)[:200]


def text_of(content: Any) -> str:
    """The text of a message; some servers send it in parts."""
    if isinstance(content, list):
        return "".join(text_of(part.get("text")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def as_json(value: Any) -> str:
    """The arguments of a tool call, as text or as they are."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def count(usage: Any, name: str) -> int:
    """A number of tokens; 0 where it is not told."""
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and value >= 0 else 0


PROVIDERS: Registry[type[Provider]] = Registry(
    "provider",
    "lapsus.providers",
    {
        "openai": "lapsus.annotators.language_model.providers.openai:OpenAi",
        "responses": "lapsus.annotators.language_model.providers.openai:Responses",
        "azure": "lapsus.annotators.language_model.providers.openai:Azure",
        "anthropic": "lapsus.annotators.language_model.providers.anthropic:Anthropic",
        "bedrock": "lapsus.annotators.language_model.providers.bedrock:Bedrock",
        "gemini": "lapsus.annotators.language_model.providers.gemini:Gemini",
    },
)


def provider_of(name: str) -> tuple[Provider, str]:
    """The provider and the model in a name such as anthropic:MODEL."""
    prefix, colon, model = name.partition(":")
    if not colon or prefix not in PROVIDERS.names():
        raise UsageError(
            "names-no-language-model", hint=did_you_mean(prefix, sorted(PROVIDERS.names())), name=name
        )
    if not model:
        raise UsageError("model-no-name", where=name, hint="model-server-calls", name=name)
    return PROVIDERS.get(prefix)(), model
