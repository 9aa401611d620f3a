"""Amazon Bedrock's Converse, with an API key of Bedrock."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from lapsus.annotators.language_model.providers import (
    TEXT,
    TOOL,
    TOOL_NAME,
    Completion,
    Provider,
    Request,
    as_json,
    count,
    text_of,
)
from lapsus.annotators.language_model.reply import without_bounds

_STOPPED = ("guardrail_intervened", "content_filtered")
"""Why an answer is ended that is not let through."""


class Bedrock(Provider):
    """POST …/model/MODEL/converse; answers come as the input of a tool. Its batches go by files elsewhere."""

    name = "bedrock"
    forms = (TOOL, TEXT)
    renamed = {"max_tokens": "maxTokens"}  # noqa: RUF012  the base says that it is of the class
    unknown = ("seed",)

    def path(self, model: str, endpoint: str) -> str:
        """The model is in the address."""
        return f"/model/{quote(model, safe='')}/converse"

    def body(self, request: Request, form: str) -> dict[str, Any]:
        """Every text is a block of its own."""
        body: dict[str, Any] = {
            "system": [{"text": request.system}],
            "messages": [
                {"role": one["role"], "content": [{"text": one["content"]}]} for one in request.messages
            ],
            "inferenceConfig": dict(request.wishes),
        }
        if form == TOOL:
            schema = {"json": without_bounds(request.schema)}
            about = "Record the judgment of this unit."
            spec = {"name": TOOL_NAME, "description": about, "inputSchema": schema}
            chosen = {"tool": {"name": TOOL_NAME}}
            body["toolConfig"] = {"tools": [{"toolSpec": spec}], "toolChoice": chosen}
        return body

    def completion(self, reply: Mapping[str, Any], form: str) -> Completion | None:
        """The tool's input, or the text; what the model thought is passed over."""
        match reply.get("output"):
            case {"message": {"content": list(content)}}:
                blocks = [block for block in content if isinstance(block, dict)]
            case _:
                return None
        called = [
            as_json(one["toolUse"].get("input")) for one in blocks if isinstance(one.get("toolUse"), dict)
        ]
        said, reason, usage = text_of(blocks), reply.get("stopReason"), reply.get("usage")
        return Completion(
            called[0] if called else said,
            form,
            reason == "max_tokens",
            None,
            count(usage, "inputTokens"),
            count(usage, "outputTokens"),
            (said or str(reason)) if reason in _STOPPED else "",
        )
