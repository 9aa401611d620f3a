"""Spans of OpenTelemetry, from collectors' files and from consoles, with their attributes as a flat mapping."""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from lapsus.formats.traces.calls import Call
from lapsus.notices import Notice

_PHOENIX_KINDS = (
    "LLM",
    "AGENT",
    "CHAIN",
    "TOOL",
    "RETRIEVER",
    "EMBEDDING",
    "RERANKER",
    "GUARDRAIL",
    "EVALUATOR",
    "PROMPT",
)


class SpanRecord(NamedTuple):
    """A span, or a log record about one."""

    trace_id: str
    span_id: str
    parent_id: str
    start: Any
    end: Any
    attributes: dict[str, Any]
    """By dotted names, lists by number: `llm.input_messages.0.message.role`. JSON texts stay texts."""
    events: list[tuple[str, dict[str, Any]]]
    is_message: bool = False
    """Whether it is a log record that holds one message of a span."""


def holds_spans(record: dict[str, Any]) -> bool:
    """Whether a record is a collector's bundle, or a single span with its attributes."""
    bundled = any(
        isinstance(record.get(key), list) for key in ("resourceSpans", "resourceLogs", "resource_spans")
    )
    return bundled or _attributes_of(record) is not None


def spans_of(record: dict[str, Any]) -> Iterator[SpanRecord]:
    """The spans of a collector's bundle (OTLP JSON), or the one span that a record is."""
    bundles = record.get("resourceSpans") or record.get("resource_spans") or record.get("resourceLogs")
    if bundles is None:
        yield _single(record)
        return
    for bundle in bundles:
        for scope in bundle.get("scopeSpans") or bundle.get("scope_spans") or bundle.get("scopeLogs") or ():
            for span in scope.get("spans") or scope.get("logRecords") or ():
                yield _otlp(span)


def calls_in(
    record: dict[str, Any],
    call: Callable[[SpanRecord, Counter[str]], Call | None],
    dropped: Counter[str],
) -> Iterator[Call]:
    """What `call` makes of each span of a record; spans of which it makes nothing are counted among the dropped."""
    for span in spans_of(record):
        if (found := call(span, dropped)) is None:
            dropped[Notice("spans-without-messages")] += 1
        else:
            yield found


def _otlp(span: dict[str, Any]) -> SpanRecord:
    events = [
        (str(event.get("name", "")), _pairs(event.get("attributes"))) for event in span.get("events") or ()
    ]
    attributes = _pairs(span.get("attributes"))
    body = _value(span["body"]) if isinstance(span.get("body"), dict) else None
    name = span.get("eventName") or attributes.get("event.name")
    is_message = bool(name) and isinstance(body, dict)
    if isinstance(body, dict) and is_message:
        events.append((str(name), body))
    return SpanRecord(
        str(span.get("traceId") or span.get("trace_id") or ""),
        str(span.get("spanId") or span.get("span_id") or ""),
        str(span.get("parentSpanId") or span.get("parent_span_id") or ""),
        _nanoseconds(span, "startTimeUnixNano", "timeUnixNano", "observedTimeUnixNano"),
        _nanoseconds(span, "endTimeUnixNano"),
        flattened(attributes),
        events,
        is_message,
    )


def _nanoseconds(span: dict[str, Any], *keys: str) -> datetime | None:
    """The first time that is given. It is in nanoseconds, as its key says, however small."""
    value = next((span[key] for key in keys if span.get(key)), "")
    try:
        seconds, rest = divmod(int(value), 10**9)
        return datetime.fromtimestamp(seconds, UTC) + timedelta(microseconds=rest // 1000)
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def _single(span: dict[str, Any]) -> SpanRecord:
    context = span.get("context") if isinstance(span.get("context"), dict) else {}
    flat = flattened(span)

    def one(*names: str) -> Any:
        return next((flat[name] for name in names if flat.get(name) not in (None, "")), "")

    events = [
        (str(event.get("name", "")), dict(event.get("attributes") or {}))
        for event in span.get("events") or ()
        if isinstance(event, dict)
    ]
    assert isinstance(context, dict)  # noqa: S101 - for the type checker
    return SpanRecord(
        # Consoles print ids with 0x, which is no part of them.
        str(one("context.trace_id", "trace_id", "traceId")).removeprefix("0x"),
        str(one("context.span_id", "span_id", "spanId", "id")).removeprefix("0x"),
        str(one("parent_id", "parentId", "parent_span_id", "parentSpanId")).removeprefix("0x"),
        one("start_time", "startTime", "start") or _nanoseconds(span, "startTimeUnixNano"),
        one("end_time", "endTime", "end") or _nanoseconds(span, "endTimeUnixNano"),
        _phoenix_kind(span) | flattened(_attributes_of(span) or {}),
        events,
    )


def _phoenix_kind(span: dict[str, Any]) -> dict[str, Any]:
    """Phoenix's interface gives the kind of a span beside its attributes instead of among them."""
    kind = span.get("span_kind")
    return {"openinference.span.kind": kind} if kind in _PHOENIX_KINDS else {}


def _attributes_of(span: dict[str, Any]) -> dict[str, Any] | None:
    """The attributes of a single span: a key of their own, or columns of a table that begin with `attributes.`."""
    attributes = span.get("attributes")
    if isinstance(attributes, dict):
        return attributes
    if isinstance(attributes, list):
        return _pairs(attributes)
    columns = {
        key[11:]: value for key, value in span.items() if key.startswith("attributes.") and value is not None
    }
    return columns or None


def flattened(value: Any, prefix: str = "") -> dict[str, Any]:
    """Nested mappings and lists of mappings as one mapping by dotted names."""
    flat: dict[str, Any] = {}
    if isinstance(value, dict):
        for key, item in value.items():
            flat |= flattened(item, f"{prefix}.{key}" if prefix else str(key))
    elif isinstance(value, list | tuple) and value and all(isinstance(item, dict) for item in value):
        for place, item in enumerate(value):
            flat |= flattened(item, f"{prefix}.{place}")
    else:
        flat[prefix] = value
    return flat


def _pairs(attributes: Any) -> dict[str, Any]:
    if isinstance(attributes, dict):
        return attributes
    return {str(pair["key"]): _value(pair.get("value")) for pair in attributes or ()}


def _value(value: Any) -> Any:
    """The value of OTLP's tagged union."""
    if not isinstance(value, dict):
        return value
    for tag, read in (("stringValue", str), ("boolValue", bool), ("intValue", int), ("doubleValue", float)):
        if tag in value:
            return read(value[tag])
    if "arrayValue" in value:
        return [_value(item) for item in value["arrayValue"].get("values") or ()]
    if "kvlistValue" in value:
        return _pairs(value["kvlistValue"].get("values"))
    return None
