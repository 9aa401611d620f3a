"""Exports of Langfuse and LangSmith."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from lapsus.formats.messages import Message, json_text, moment
from lapsus.formats.records import SUFFIXES, Record, records
from lapsus.formats.source import Source
from lapsus.formats.traces.base import TraceFormat, first, known
from lapsus.formats.traces.calls import MODEL_CALL, WHOLE_RUN, Call
from lapsus.formats.traces.messages import messages_of
from lapsus.model import Role
from lapsus.notices import Notice

_TALK = frozenset({"input", "output"})
_PARENT = ("parent_observation_id", "parentObservationId")
_THREADS = ("thread_id", "session_id", "conversation_id")


class Langfuse(TraceFormat):
    """Observations, traces, or a folder with both. Sessions are conversations; without one, a trace is."""

    name = "langfuse"
    title = Notice("langfuse-exports-observations-traces")
    expected = "id, trace_id, type, start_time, input, output, or for a trace id, session_id, input, output"

    def __init__(self) -> None:
        self._sessions: dict[str, str] = {}

    def knows(self, record: dict[str, Any]) -> bool:
        """By the keys of an observation or of a trace."""
        return _is_observation(record) or _is_trace(record)

    def prepare(self, source: Source) -> None:
        """Which session a trace belongs to: observations often do not say."""
        for member in source.members(*SUFFIXES):
            for record in records(member):
                session = first(record.value, "session_id", "sessionId")
                trace = first(record.value, "id") if _is_trace(record.value) else _trace_id(record.value)
                if session and trace:
                    self._sessions[str(trace)] = str(session)

    def calls(self, record: Record, dropped: Counter[str]) -> Iterator[Call]:
        """A call for each generation, and for each trace and outermost observation, used where no generation is."""
        value = record.value
        is_trace = _is_trace(value)
        is_generation = str(value.get("type", "")).upper() == "GENERATION"
        if _is_score(value):
            dropped["scores"] += 1
            return
        if not is_trace and not is_generation and first(value, *_PARENT):
            dropped[Notice("observations-no-generation")] += 1
            return
        trace = str((value["id"] if is_trace else _trace_id(value)) or value["id"])
        yield Call(
            conversation=self._sessions.get(trace, trace),
            time=moment(first(value, "start_time", "startTime", "timestamp", "created_at", "createdAt")),
            heard=messages_of(value.get("input"), "user", dropped),
            said=messages_of(value.get("output"), "system", dropped),
            turn=known(
                trace_id=trace,
                span_id=None if is_trace else str(value["id"]),
                model=first(value, "provided_model_name", "providedModelName", "model"),
                time=moment(first(value, "end_time", "endTime", "start_time", "startTime", "timestamp")),
                **_tokens(value),
            ),
            document=known(user=first(value, "user_id", "userId")),
            rank=MODEL_CALL if is_generation else WHOLE_RUN,
        )


def _trace_id(record: dict[str, Any]) -> Any:
    return first(record, "trace_id", "traceId")


def _is_observation(record: dict[str, Any]) -> bool:
    started = "start_time" in record or "startTime" in record
    return (
        _trace_id(record) is not None
        and "type" in record
        and "id" in record
        and started
        and "run_type" not in record
    )


def _is_trace(record: dict[str, Any]) -> bool:
    session = "session_id" in record or "sessionId" in record
    return (
        "id" in record
        and session
        and record.keys() >= _TALK
        and "type" not in record
        and "run_type" not in record
    )


def _is_score(record: dict[str, Any]) -> bool:
    return record.keys().isdisjoint(_TALK) and ("data_type" in record or "dataType" in record)


def _tokens(record: dict[str, Any]) -> dict[str, Any]:
    usage = json_text(first(record, "usage_details", "usageDetails", "usage"))
    if not isinstance(usage, dict):
        return {}
    return known(
        input_tokens=first(usage, "input", "promptTokens"),
        output_tokens=first(usage, "output", "completionTokens"),
    )


class LangSmith(TraceFormat):
    """Runs. A thread is a conversation; without one, a trace is."""

    name = "langsmith"
    title = Notice("langsmith-exports-runs-jsonl")
    expected = "id, trace_id, run_type, inputs, outputs"

    def knows(self, record: dict[str, Any]) -> bool:
        """By the keys of a run."""
        return record.keys() >= {"id", "run_type", "inputs"}

    def calls(self, record: Record, dropped: Counter[str]) -> Iterator[Call]:
        """A call for each run of a model, and for each outermost run of a program."""
        run = record.value
        is_model = run["run_type"] in ("llm", "chat", "chat_model")
        if not is_model and _is_inner(run):
            dropped[Notice("runs-tools-inner-steps")] += 1
            return
        trace = str(first(run, "trace_id", "id"))
        metadata = _metadata(run)
        yield Call(
            conversation=str(first(metadata, *_THREADS) or trace),
            time=moment(run.get("start_time")) or str(run.get("dotted_order") or ""),
            heard=messages_of(run.get("inputs"), "user", dropped),
            said=messages_of(run.get("outputs"), "system", dropped),
            turn=known(
                trace_id=trace,
                span_id=str(run["id"]),
                model=first(metadata, "ls_model_name", "model"),
                time=moment(first(run, "end_time", "start_time")),
                input_tokens=run.get("prompt_tokens"),
                output_tokens=run.get("completion_tokens"),
            ),
            rank=MODEL_CALL if is_model else WHOLE_RUN,
        )


def _is_inner(run: dict[str, Any]) -> bool:
    """Whether another run of the trace is around it. Bulk exports name all of them, interfaces only the nearest."""
    around = first(run, "parent_run_id") or json_text(run.get("parent_run_ids"))
    return bool(around) or str(run.get("trace_id") or run["id"]) != str(run["id"])


def _metadata(run: dict[str, Any]) -> dict[str, Any]:
    extra = json_text(run.get("extra"))
    metadata = json_text(extra.get("metadata")) if isinstance(extra, dict) else None
    return metadata if isinstance(metadata, dict) else {}


class Rasa(TraceFormat):
    """Trackers with their events, the events table of a tracker store, or events as a broker gets them."""

    name = "rasa"
    title = Notice("rasa-trackers-events-json")
    expected = "sender_id and events, or sender_id, type_name, timestamp, data, or sender_id and an event"

    def knows(self, record: dict[str, Any]) -> bool:
        """By the keys of a tracker or of an event's row."""
        return "sender_id" in record and (
            isinstance(record.get("events"), list) or _is_row(record) or _is_event(record)
        )

    def calls(self, record: Record, dropped: Counter[str]) -> Iterator[Call]:
        """A call for each thing that was said."""
        value = record.value
        sender = str(value["sender_id"])
        if _is_row(value) or _is_event(value):
            event = json_text(value["data"]) if _is_row(value) else value
            yield from _rasa_event(sender, event, 0, dropped)
            return
        for place, event in enumerate(value["events"]):
            yield from _rasa_event(sender, event, place, dropped)


def _is_row(record: dict[str, Any]) -> bool:
    return record.keys() >= {"sender_id", "type_name", "data"}


def _is_event(record: dict[str, Any]) -> bool:
    return isinstance(record.get("event"), str) and "timestamp" in record


def _rasa_event(sender: str, event: dict[str, Any], place: int, dropped: Counter[str]) -> Iterator[Call]:
    kind, text = event.get("event"), event.get("text")
    if kind not in ("user", "bot") or not isinstance(text, str) or not text.strip():
        dropped[Notice("events-no-words")] += 1
        return
    if kind == "user" and text.startswith("/"):
        dropped[Notice("commands-bot")] += 1
        return
    time = f"{moment(event.get('timestamp'))} {place:09d}"
    if kind == "user":
        yield _said(sender, time, "user", text, {})
    else:
        about = event.get("metadata") or {}
        metadata = known(time=moment(event.get("timestamp")), model=about.get("model_id"))
        yield _said(sender, time, "system", text, metadata)


def _said(conversation: str, time: str, role: Role, text: str, metadata: dict[str, Any]) -> Call:
    message = [Message(role, text)]
    return Call(
        conversation, time, message if role == "user" else [], message if role == "system" else [], metadata
    )


class DialogflowCx(TraceFormat):
    """Rows of an export to BigQuery, a turn of both sides each."""

    name = "dialogflow-cx"
    title = Notice("dialogflow-cx-rows-bigquery")
    expected = "conversation_name, turn_position, request, response"

    def knows(self, record: dict[str, Any]) -> bool:
        """By the columns of the export."""
        return record.keys() >= {"conversation_name", "turn_position", "response"}

    def calls(self, record: Record, dropped: Counter[str]) -> Iterator[Call]:
        """A call for each row."""
        row = record.value
        conversation = str(row["conversation_name"]).rsplit("/", 1)[-1]
        request, response = json_text(row.get("request")) or {}, json_text(row["response"]) or {}
        query = (request.get("queryInput") or {}).get("text") or {}
        result = response.get("queryResult") or {}
        words = first(query, "text") or first(result, "text", "transcript")
        said = []
        for message in result.get("responseMessages") or ():
            texts = (message.get("text") or {}).get("text")
            if texts:
                said += texts if isinstance(texts, list) else [texts]
            else:
                dropped[Notice("answers-no-words")] += 1
        if not words:
            dropped[Notice("requests-no-words")] += 1
        language = row.get("language_code")
        yield Call(
            conversation,
            f"{int(row['turn_position']):09d}",
            [Message("user", str(words))] if words else [],
            [Message("system", "\n".join(map(str, said)))] if said else [],
            known(time=moment(row.get("request_time")), span_id=response.get("responseId")),
            known(language=str(language).lower()[:2] if language else None),
        )


class Botpress(TraceFormat):
    """Messages with a direction, all in a list or one a record."""

    name = "botpress"
    title = Notice("botpress-messages-json-jsonl")
    expected = "messages with conversationId, direction, createdAt and payload"

    def knows(self, record: dict[str, Any]) -> bool:
        """By the keys of a message."""
        messages = record.get("messages", [record])
        return bool(messages) and isinstance(messages, list) and _is_botpress(messages[0])

    def calls(self, record: Record, dropped: Counter[str]) -> Iterator[Call]:
        """A call for each message."""
        for message in record.value.get("messages", [record.value]):
            payload = message["payload"]
            text = payload.get("text") if isinstance(payload, dict) else None
            if not isinstance(text, str) or not text.strip():
                dropped[Notice("messages-no-words")] += 1
                continue
            role: Role = "user" if message["direction"] == "incoming" else "system"
            time = moment(message.get("createdAt"))
            metadata = {} if role == "user" else known(span_id=str(message["id"]), time=time)
            yield _said(str(message["conversationId"]), time, role, text, metadata)


def _is_botpress(message: Any) -> bool:
    return isinstance(message, dict) and message.keys() >= {"conversationId", "direction", "payload"}
