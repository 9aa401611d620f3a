"""Providers of language models, one file each: how a request is written, and what a reply says."""

from lapsus.annotators.language_model.providers.base import Completion, Provider, Request
from lapsus.errors import UsageError
from lapsus.registry import Registry, did_you_mean

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
__all__ = ["PROVIDERS", "Completion", "Provider", "Request", "provider_of"]


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
