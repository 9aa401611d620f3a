"""OpenTelemetry's conventions for generative AI: spans with messages, now and in their earlier spellings."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from lapsus.formats.messages import Message, json_text, moment
from lapsus.formats.records import Record, contains, first_record
from lapsus.formats.source import Source
from lapsus.formats.traces.base import TraceFormat, first, known
from lapsus.formats.traces.calls import MODEL_CALL, WHOLE_RUN, Call
from lapsus.formats.traces.messages import messages_of
from lapsus.formats.traces.spans import SpanRecord, calls_in, holds_spans, spans_of
from lapsus.model import Role
from lapsus.notices import Notice

_NUMBERED = re.compile(r"gen_ai\.(prompt|completion)\.(\d+)\.(role|content)")
_HEARD = ("gen_ai.user.message", "gen_ai.assistant.message", "gen_ai.system.message", "gen_ai.tool.message")

_CONVERSATION = (
    "gen_ai.conversation.id",
    "session.id",
    "traceloop.association.properties.session_id",
)


class OpenTelemetry(TraceFormat):
    """Spans of the GenAI conventions."""

    name = "otel"
    title = Notice("opentelemetry-genai-traces-otlp")
    expected = "resourceSpans, or a span with attributes whose names begin with gen_ai."

    def recognises(self, source: Source) -> bool:
        """By the names of attributes. Spans of Phoenix that also have these are Phoenix's."""
        found = super().recognises(source) or begins_with_other_spans(source, b'"gen_ai.')
        return found and not contains(source, b"openinference.span.kind")

    def knows(self, record: dict[str, Any]) -> bool:
        """Whether there is a bundle or a span of this convention."""
        if not holds_spans(record):
            return False
        return any(_is_ours(span) for span in spans_of(record))

    def calls(self, record: Record, dropped: Counter[str]) -> Iterator[Call]:
        """A call for each span that holds messages."""
        return calls_in(record.value, _call, dropped)


def begins_with_other_spans(source: Source, key: bytes) -> bool:
    """Whether a file begins with spans of something else (a web server's), and a name stands further on."""
    record = first_record(source)
    return record is not None and holds_spans(record.value) and contains(source, key)


def _is_ours(span: SpanRecord) -> bool:
    names = [*span.attributes, *(name for name, _ in span.events)]
    return "openinference.span.kind" not in names and any(name.startswith("gen_ai.") for name in names)


def _call(span: SpanRecord, dropped: Counter[str]) -> Call | None:
    attributes = span.attributes
    heard, said = _messages(span, dropped)
    if not heard and not said:
        return None
    if instructions := first(attributes, "gen_ai.system_instructions"):
        heard = [
            *(Message("prompt", message.text) for message in messages_of(instructions, "prompt", dropped)),
            *heard,
        ]
    model = first(attributes, "gen_ai.response.model", "gen_ai.request.model")
    operation = attributes.get("gen_ai.operation.name")
    return Call(
        conversation=str(first(attributes, *_CONVERSATION) or span.trace_id or span.span_id),
        time=moment(span.start),
        heard=heard,
        said=said,
        turn=known(
            trace_id=span.trace_id,
            span_id=span.span_id,
            model=model,
            time=moment(span.end or span.start),
            input_tokens=first(attributes, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
            output_tokens=first(attributes, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
        ),
        document=known(
            user=first(attributes, "user.id", "enduser.id"), agent=attributes.get("gen_ai.agent.name")
        ),
        rank=WHOLE_RUN if operation in ("invoke_agent", "invoke_workflow", "create_agent") else MODEL_CALL,
        is_piece=span.is_message and bool(span.span_id),
    )


def _messages(span: SpanRecord, dropped: Counter[str]) -> tuple[list[Message], list[Message]]:
    attributes = span.attributes
    heard = _listed(attributes, "gen_ai.input.messages", "user", dropped)
    said = _listed(attributes, "gen_ai.output.messages", "system", dropped)
    if not heard and not said:
        numbered = _numbered(attributes)
        heard = messages_of(numbered["prompt"] or attributes.get("gen_ai.prompt"), "user", dropped)
        said = messages_of(numbered["completion"] or attributes.get("gen_ai.completion"), "system", dropped)
    for name, event in span.events:
        if name in _HEARD:
            heard += messages_of({"role": name.split(".")[1], **event}, "user", dropped)
        elif name == "gen_ai.choice":
            said += messages_of({"role": "assistant", **event}, "system", dropped)
        elif name in (
            "gen_ai.content.prompt",
            "gen_ai.content.completion",
            "gen_ai.client.inference.operation.details",
        ):
            heard += messages_of(
                event.get("gen_ai.prompt") or event.get("gen_ai.input.messages"), "user", dropped
            )
            said += messages_of(
                event.get("gen_ai.completion") or event.get("gen_ai.output.messages"), "system", dropped
            )
    return heard, said


def _listed(attributes: dict[str, Any], name: str, role: Role, dropped: Counter[str]) -> list[Message]:
    """Messages in an attribute: JSON text, or a list that was laid flat."""
    if name in attributes:
        return messages_of(attributes[name], role, dropped)
    return messages_of(unflattened(attributes, name), role, dropped)


def _numbered(attributes: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Messages as attributes with numbers in their names, which was the habit before the convention."""
    found: dict[str, dict[int, dict[str, Any]]] = {"prompt": {}, "completion": {}}
    for name, value in attributes.items():
        if match := _NUMBERED.fullmatch(name):
            found[match[1]].setdefault(int(match[2]), {})[match[3]] = value
    for message in found["completion"].values():
        message.setdefault("role", "assistant")
    return {side: [messages[place] for place in sorted(messages)] for side, messages in found.items()}


def unflattened(attributes: dict[str, Any], prefix: str) -> list[Any]:
    """The list that was laid flat under a name: `name.0.role` and so on."""
    items: dict[int, Any] = {}
    start = f"{prefix}."
    for name, value in attributes.items():
        if name.startswith(start):
            number, *path = name[len(start) :].split(".")
            if number.isascii() and number.isdigit() and len(number) < 6 and path:
                _put(items.setdefault(int(number), {}), path, value)
    return [_listed_again(items[number]) for number in sorted(items)]


def _put(target: dict[str, Any], path: list[str], value: Any) -> None:
    for key in path[:-1]:
        inner = target.setdefault(key, {})
        if not isinstance(inner, dict):
            return
        target = inner
    target[path[-1]] = value


def _listed_again(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    inner = {key: _listed_again(item) for key, item in value.items()}
    if inner and all(key.isascii() and key.isdigit() for key in inner):
        return [inner[key] for key in sorted(inner, key=int)]
    return inner


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
        return calls_in(record.value, _openinference_call, dropped)


def _kind(span: SpanRecord) -> str:
    return str(first(span.attributes, "openinference.span.kind") or "").upper()


def _openinference_call(span: SpanRecord, dropped: Counter[str]) -> Call | None:
    attributes = span.attributes
    is_model = _kind(span) == "LLM"
    if not is_model and span.parent_id:
        return None
    heard = _numbered_messages(attributes, "llm.input_messages", "user", dropped)
    said = _numbered_messages(attributes, "llm.output_messages", "system", dropped)
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


def _numbered_messages(
    attributes: dict[str, Any], name: str, role: Role, dropped: Counter[str]
) -> list[Message]:
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
