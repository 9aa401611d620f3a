"""Logs of chatbot platforms: Rasa's trackers, Dialogflow CX's and Botpress's exports."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from lapsus.formats.messages import Message, json_text, moment
from lapsus.formats.records import Record
from lapsus.formats.traces.base import TraceFormat, first, known
from lapsus.formats.traces.calls import Call
from lapsus.model import Role
from lapsus.notices import Notice


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
