"""Anthropic's messages."""

from collections.abc import Mapping
from typing import Any

from lapsus.annotators.language_model.providers import (
    TEXT,
    TOOL,
    TOOL_NAME,
    Completion,
    Provider,
    Request,
    as_json,
    count,
    model_name,
    text_of,
)
from lapsus.annotators.language_model.providers.batches import AnthropicBatches
from lapsus.annotators.language_model.reply import without_bounds

VERSION = "2023-06-01"
"""The version of the interface that is asked for."""
USUAL = 2048
"""How many tokens an answer may have where nothing else is wished for: the interface must be told."""


class Anthropic(Provider):
    """POST …/messages; answers come as the input of a tool."""

    name = "anthropic"
    batches = AnthropicBatches
    endpoint = "https://api.anthropic.com/v1"
    route = "/messages"
    key_header = "x-api-key"
    forms = (TOOL, TEXT)
    unknown = ("seed",)

    def headers(self, key: str | None) -> dict[str, str]:
        """With the version of the interface."""
        return {"anthropic-version": VERSION} | super().headers(key)

    def body(self, request: Request, form: str) -> dict[str, Any]:
        """The system's words beside the messages."""
        body = {
            "model": request.model,
            "system": request.system,
            "messages": list(request.messages),
            "max_tokens": USUAL,
            **request.wishes,
        }
        if form == TOOL:
            about = "Record the judgment of this unit."
            schema = without_bounds(request.schema)
            body["tools"] = [{"name": TOOL_NAME, "description": about, "input_schema": schema}]
            body["tool_choice"] = {"type": "tool", "name": TOOL_NAME}
        return body

    def completion(self, reply: Mapping[str, Any], form: str) -> Completion | None:
        """The tool's input, or the text."""
        if not isinstance(reply.get("content"), list):
            return None
        blocks = [block for block in reply["content"] if isinstance(block, dict)]
        called = [as_json(block.get("input")) for block in blocks if block.get("type") == "tool_use"]
        said = "".join(text_of(block.get("text")) for block in blocks if block.get("type") == "text")
        reason, usage = reply.get("stop_reason"), reply.get("usage")
        return Completion(
            called[0] if called else said,
            form,
            reason == "max_tokens",
            model_name(reply.get("model")),
            count(usage, "input_tokens"),
            count(usage, "output_tokens"),
            (said or "refusal") if reason == "refusal" else "",
        )
