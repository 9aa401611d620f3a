"""OpenAI's chat completions and responses, Azure, and whoever speaks the same protocol (vLLM, Ollama, llama.cpp)."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from lapsus.annotators.language_model.providers import (
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
from lapsus.annotators.language_model.providers.batches import AzureBatches, OpenAiBatches, ResponsesBatches
from lapsus.annotators.language_model.reply import without_bounds

VERSION = "2024-10-21"
"""The version of the interface that is asked for."""


class OpenAi(Provider):
    """POST …/chat/completions."""

    name = "openai"
    batches = OpenAiBatches
    route = "/chat/completions"
    forms = (SCHEMA, UNBOUNDED, TOOL, OBJECT, TEXT)
    instead = {"max_tokens": "max_completion_tokens"}  # noqa: RUF012  the base says that it is of the class

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


class Azure(OpenAi):
    """`azure:DEPLOYMENT`; the endpoint is that of the resource, or its …/openai/v1."""

    name = "azure"
    batches = AzureBatches
    key_header = "api-key"

    def path(self, model: str, endpoint: str) -> str:
        """By deployment; the newer interface has the model in the body instead."""
        if endpoint.endswith("/v1"):
            return self.route
        return f"/openai/deployments/{quote(model, safe='')}/chat/completions?api-version={VERSION}"


class Responses(Provider):
    """POST …/responses. Nothing is stored there."""

    name = "responses"
    batches = ResponsesBatches
    route = "/responses"
    forms = (SCHEMA, UNBOUNDED, TEXT)
    renamed = {"max_tokens": "max_output_tokens"}  # noqa: RUF012  the base says that it is of the class
    unknown = ("seed",)

    def body(self, request: Request, form: str) -> dict[str, Any]:
        """Instructions beside what was said."""
        body = {"model": request.model, "instructions": request.system, "input": list(request.messages)}
        more: dict[str, Any] = {"store": False, **request.wishes}
        if form != TEXT:
            whole = request.schema if form == SCHEMA else without_bounds(request.schema)
            named = {"type": "json_schema", "name": TOOL_NAME, "strict": True, "schema": whole}
            more["text"] = {"format": named}
        return body | more

    def completion(self, reply: Mapping[str, Any], form: str) -> Completion | None:
        """The text of all messages; what the model thought is passed over."""
        if not isinstance(reply.get("output"), list):
            return None
        messages = [one for one in reply["output"] if isinstance(one, dict) and one.get("type") == "message"]
        parts = [part for one in messages for part in one.get("content") or () if isinstance(part, dict)]
        cut = reply.get("incomplete_details")
        reason = cut.get("reason") if isinstance(cut, dict) else None
        refusal = "".join(text_of(part.get("refusal")) for part in parts if part.get("type") == "refusal")
        usage = reply.get("usage")
        return Completion(
            "".join(text_of(part.get("text")) for part in parts if part.get("type") == "output_text"),
            form,
            reason == "max_output_tokens",
            model_name(reply.get("model")),
            count(usage, "input_tokens"),
            count(usage, "output_tokens"),
            refusal or ("content_filter" if reason == "content_filter" else ""),
        )
