"""Chat completions: OpenAI, and whoever speaks its protocol (vLLM, Ollama, llama.cpp, LM Studio, OpenRouter)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lapsus.annotators.language_model.free_text import without_bounds
from lapsus.annotators.language_model.providers.base import (
    OBJECT,
    SCHEMA,
    TEXT,
    TOOL,
    TOOL_NAME,
    UNBOUNDED,
    Completion,
    Provider,
    Request,
    as_json,
    count,
    model_name,
    text_of,
)
from lapsus.annotators.language_model.providers.batches import OpenAiBatches


class OpenAi(Provider):
    """POST …/chat/completions."""

    name = "openai"
    batches = OpenAiBatches
    forms = (SCHEMA, UNBOUNDED, TOOL, OBJECT, TEXT)
    instead = {"max_tokens": "max_completion_tokens"}  # noqa: RUF012  the base says that it is of the class

    def path(self, model: str, endpoint: str) -> str:
        """The same for every model."""
        return "/chat/completions"

    def body(self, request: Request, form: str) -> dict[str, Any]:
        """Messages, the first of them the system's."""
        system = {"role": "system", "content": request.system}
        body = {"model": request.model, "messages": [system, *request.messages], **request.wishes}
        return body | _format(form, request.schema)

    def completion(self, reply: Mapping[str, Any], form: str) -> Completion | None:
        """The first choice; a tool's arguments count as what was said."""
        match reply:
            case {"choices": [{"message": dict(message), **choice}, *_]}:
                pass
            case _:
                return None
        usage, reason = reply.get("usage"), choice.get("finish_reason")
        content = text_of(message.get("content"))
        match message.get("tool_calls"):
            case [{"function": {"arguments": arguments}}, *_]:
                content = as_json(arguments)
        refusal = text_of(message.get("refusal"))
        if reason == "content_filter" and not content:
            refusal = refusal or "content_filter"
        return Completion(
            content,
            form,
            reason == "length",
            model_name(reply.get("model")),
            count(usage, "prompt_tokens"),
            count(usage, "completion_tokens"),
            refusal,
        )


def _format(form: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    if form == TEXT:
        return {}
    if form == OBJECT:
        return {"response_format": {"type": "json_object"}}
    if form == TOOL:
        function = {"name": TOOL_NAME, "parameters": without_bounds(schema)}
        # There is one tool. Where it is named, llama.cpp leaves it to the model whether to call it.
        return {"tools": [{"type": "function", "function": function}], "tool_choice": "required"}
    whole = schema if form == SCHEMA else without_bounds(schema)
    named = {"name": TOOL_NAME, "strict": True, "schema": whole}
    return {"response_format": {"type": "json_schema", "json_schema": named}}
