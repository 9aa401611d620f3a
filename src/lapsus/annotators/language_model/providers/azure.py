"""Azure OpenAI: chat completions of a deployment, by its own address and key."""

from __future__ import annotations

from urllib.parse import quote

from lapsus.annotators.language_model.providers.batches import AzureBatches
from lapsus.annotators.language_model.providers.openai import OpenAi

VERSION = "2024-10-21"
"""The version of the interface that is asked for."""


class Azure(OpenAi):
    """`azure:DEPLOYMENT`; the endpoint is that of the resource, or its …/openai/v1."""

    name = "azure"
    batches = AzureBatches

    def headers(self, key: str | None) -> dict[str, str]:
        """The key has a header of its own."""
        return {"api-key": key} if key else {}

    def path(self, model: str, endpoint: str) -> str:
        """By deployment; the newer interface has the model in the body instead."""
        if endpoint.endswith("/v1"):
            return "/chat/completions"
        return f"/openai/deployments/{quote(model, safe='')}/chat/completions?api-version={VERSION}"
