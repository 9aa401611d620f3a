"""Google's Gemini."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from lapsus.annotators.language_model.providers import (
    OBJECT,
    TEXT,
    UNBOUNDED,
    Completion,
    Provider,
    Request,
    count,
    model_name,
    text_of,
)
from lapsus.annotators.language_model.providers.batches import GeminiBatches
from lapsus.annotators.language_model.reply import without_bounds

_STOPPED = ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII")
"""Why a provider ends an answer that it does not let through."""


class Gemini(Provider):
    """POST …/models/MODEL:generateContent."""

    name = "gemini"
    batches = GeminiBatches
    endpoint = "https://generativelanguage.googleapis.com/v1beta"
    key_header = "x-goog-api-key"
    forms = (UNBOUNDED, OBJECT, TEXT)
    renamed = {"max_tokens": "maxOutputTokens"}  # noqa: RUF012  the base says that it is of the class

    def path(self, model: str, endpoint: str) -> str:
        """The model is in the address."""
        return f"/models/{quote(model, safe='')}:generateContent"

    def body(self, request: Request, form: str) -> dict[str, Any]:
        """Contents by role, and how they are to be answered."""
        how: dict[str, Any] = dict(request.wishes)
        if form != TEXT:
            how["responseMimeType"] = "application/json"
        if form == UNBOUNDED:
            how["responseJsonSchema"] = without_bounds(request.schema)
        contents = [
            {"role": "model" if one["role"] == "assistant" else "user", "parts": [{"text": one["content"]}]}
            for one in request.messages
        ]
        return {
            "systemInstruction": {"parts": [{"text": request.system}]},
            "contents": contents,
            "generationConfig": how,
        }

    def completion(self, reply: Mapping[str, Any], form: str) -> Completion | None:
        """The first candidate; what the model thought is passed over."""
        usage, feedback = reply.get("usageMetadata"), reply.get("promptFeedback")
        blocked = feedback.get("blockReason") if isinstance(feedback, dict) else None
        candidates = reply.get("candidates")
        if not blocked and not (isinstance(candidates, list) and candidates):
            return None
        first = candidates[0] if isinstance(candidates, list) and candidates else {}
        content = first.get("content") if isinstance(first, dict) else None
        parts = (content.get("parts") if isinstance(content, dict) else None) or []
        reason = first.get("finishReason") if isinstance(first, dict) else None
        return Completion(
            text_of([part for part in parts if isinstance(part, dict) and not part.get("thought")]),
            form,
            reason == "MAX_TOKENS",
            model_name(reply.get("modelVersion")),
            count(usage, "promptTokenCount"),
            count(usage, "candidatesTokenCount") + count(usage, "thoughtsTokenCount"),
            str(blocked or "") or (str(reason) if reason in _STOPPED else ""),
        )
