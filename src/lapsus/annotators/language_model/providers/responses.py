"""OpenAI's Responses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lapsus.annotators.language_model.free_text import without_bounds
from lapsus.annotators.language_model.providers.base import (
    SCHEMA,
    TEXT,
    TOOL_NAME,
    UNBOUNDED,
    Completion,
    Provider,
    Request,
    count,
    model_name,
    text_of,
)
from lapsus.annotators.language_model.providers.batches import ResponsesBatches


class Responses(Provider):
    """POST …/responses. Nothing is stored there."""

    name = "responses"
    batches = ResponsesBatches
    forms = (SCHEMA, UNBOUNDED, TEXT)
    renamed = {"max_tokens": "max_output_tokens"}  # noqa: RUF012  the base says that it is of the class
    unknown = ("seed",)

    def path(self, model: str, endpoint: str) -> str:
        """The same for every model."""
        return "/responses"

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
