"""OpenInference, the convention of Phoenix: spans with numbered messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from lapsus.formats.messages import Message, json_text, moment
from lapsus.formats.records import Record
from lapsus.formats.source import Source
from lapsus.formats.traces.base import TraceFormat, first, known
from lapsus.formats.traces.calls import MODEL_CALL, WHOLE_RUN, Call
from lapsus.formats.traces.messages import messages_of
from lapsus.formats.traces.opentelemetry import begins_with_other_spans, unflattened
from lapsus.formats.traces.spans import SpanRecord, calls_in, holds_spans, spans_of
from lapsus.model import Role
from lapsus.notices import Notice


class OpenInference(TraceFormat):
    """Spans of Phoenix and of whatever speaks its convention."""

    name = "openinference"
    title = Notice("openinference-traces-phoenix-otlp")
    expected = "resourceSpans, or a span with openinference.span.kind among its attributes"

    def recognises(self, source: Source) -> bool:
        """By the kind of a span."""
        return super().recognises(source) or begins_with_other_spans(source, b"openinference.span.kind")

    def knows(self, record: dict[str, Any]) -> bool:
        """Whether there is a span of this convention."""
        return holds_spans(record) and any(_kind(span) for span in spans_of(record))

    def calls(self, record: Record, dropped: Counter[str]) -> Iterator[Call]:
        """A call for each span of a model, and for each outermost span of a program."""
        return calls_in(record.value, _call, dropped)


def _kind(span: SpanRecord) -> str:
    return str(first(span.attributes, "openinference.span.kind") or "").upper()


def _call(span: SpanRecord, dropped: Counter[str]) -> Call | None:
    attributes = span.attributes
    is_model = _kind(span) == "LLM"
    if not is_model and span.parent_id:
        return None
    heard = _numbered(attributes, "llm.input_messages", "user", dropped)
    said = _numbered(attributes, "llm.output_messages", "system", dropped)
    heard = heard or messages_of(attributes.get("input.value"), "user", dropped)
    said = said or messages_of(attributes.get("output.value"), "system", dropped)
    if not heard and not said:
        return None
    return Call(
        conversation=str(first(attributes, "session.id") or span.trace_id or span.span_id),
        time=moment(span.start),
        heard=heard,
        said=said,
        turn=known(
            trace_id=span.trace_id,
            span_id=span.span_id,
            model=first(attributes, "llm.model_name"),
            time=moment(span.end or span.start),
            input_tokens=first(attributes, "llm.token_count.prompt"),
            output_tokens=first(attributes, "llm.token_count.completion"),
        ),
        document=known(user=first(attributes, "user.id"), tags=first(attributes, "tag.tags")),
        rank=MODEL_CALL if is_model else WHOLE_RUN,
    )


def _numbered(attributes: dict[str, Any], name: str, role: Role, dropped: Counter[str]) -> list[Message]:
    found: Any = json_text(attributes[name]) if name in attributes else unflattened(attributes, name)
    messages = []
    for item in found or ():
        message = _message(item)
        messages += messages_of(
            {"role": "assistant" if role == "system" else "user"} | message, role, dropped
        )
    return messages


def _message(item: Any) -> dict[str, Any]:
    """A message whose keys may be dotted (`message.role`) or nested (`message: {role}`)."""
    message: dict[str, Any] = {}
    for key, value in item.items():
        if key == "message" and isinstance(value, dict):
            message |= value
        else:
            message[key.removeprefix("message.")] = value
    if "contents" in message:
        parts = [
            part.get("message_content", part)
            for part in message.pop("contents") or ()
            if isinstance(part, dict)
        ]
        message.setdefault("content", parts)
    return {key: value for key, value in message.items() if value is not None}
