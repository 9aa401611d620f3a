"""Logs of single calls of a model: requests with their responses, batches, the Responses API, threads of assistants."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from lapsus.formats.messages import Message, finish_reason, json_text, moment
from lapsus.formats.traces.base import first, known
from lapsus.formats.traces.calls import ROW, Call
from lapsus.formats.traces.messages import messages_of

_SESSIONS = ("conversation_id", "session_id", "thread_id", "dialogue_id", "conversation")
_BODIES = ("body", "params")
CHUNK = "chat.completion.chunk"
"""What a piece of a reply that was streamed calls itself."""
_REPLIES = ("choices", "candidates", "output", "role", "content")


def is_chunk(value: Any) -> bool:
    """Whether something is a piece of a reply that was streamed."""
    return isinstance(value, dict) and value.get("object") == CHUNK


def joined(chunks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The reply that was streamed in pieces; of several replies to one request the first."""
    choices = [
        choice
        for chunk in chunks
        for choice in _objects(chunk.get("choices"))
        if choice.get("index") in (0, None)
    ]
    deltas = _objects([choice.get("delta") for choice in choices])
    calls: dict[str, dict[str, Any]] = {}
    for piece in (piece for delta in deltas for piece in _objects(delta.get("tool_calls"))):
        call = calls.setdefault(str(piece.get("index")), {"id": piece.get("id"), "name": "", "arguments": ""})
        for function in _objects([piece.get("function")]):
            for key in ("name", "arguments"):
                call[key] += _text(function.get(key))
    message = {
        "role": "assistant",
        "content": "".join(_text(delta.get("content")) for delta in deltas),
        "tool_calls": list(calls.values()),
    }
    end = next((choice["finish_reason"] for choice in choices if choice.get("finish_reason")), None)
    about = {key: chunks[0].get(key) for key in ("id", "model", "created")}
    return {**about, "object": "chat.completion", "choices": [{"message": message, "finish_reason": end}]}


def _objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; none where it is something else, as in logs that were put together by hand."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _text(value: Any) -> str:
    """A text, which may stand in parts."""
    if isinstance(value, str):
        return value
    return "".join(text for part in _objects(value) if isinstance(text := part.get("text"), str))


class CallLog:
    """Reads records one after the other; what answers an earlier response belongs to its conversation."""

    def __init__(self) -> None:
        self._roots: dict[str, str] = {}

    def shape_of(self, value: dict[str, Any]) -> str | None:
        """What a record is taken for; None where it is no call."""
        if value.get("object") == "thread.message":
            return "thread of an assistant"
        if "custom_id" in value and (_response(value) is not None or _request(value) is not None):
            return "batch of requests"
        response = _response(value)
        if isinstance(response, dict) and (response.get("object") == "response" or "output" in response):
            return "Responses API" if isinstance(response.get("output"), list) else None
        if isinstance(response, dict) and not response.keys().isdisjoint(
            ("choices", "candidates", "content")
        ):
            return "requests and responses"
        return None

    def call(self, value: dict[str, Any], fallback: str, dropped: Counter[str]) -> Call:
        """The call that a record is."""
        if value.get("object") == "thread.message":
            return _of_thread(value, dropped)
        request, response = _request(value) or {}, _response(value)
        answer = response if isinstance(response, dict) else {}
        is_batch = "custom_id" in value
        own = str(
            first(value, "custom_id")
            if is_batch
            else first(answer, "id", "responseId") or first(value, "id") or fallback
        )
        before = first(answer, "previous_response_id") or first(request, "previous_response_id")
        session = first(value, *_SESSIONS) or first(request, *_SESSIONS) or self._roots.get(str(before))
        conversation = str(own if is_batch else session or own)
        self._roots[own] = conversation
        # A record may hold what was asked beside what was answered.
        reply = {key: answer[key] for key in _REPLIES if key in answer} if answer else response
        said = messages_of(reply, "system", dropped)
        time = first(answer, "created", "created_at", "createTime") or first(
            value, "created_at", "timestamp", "time"
        )
        return Call(
            conversation,
            # Of a batch the request comes first, whichever file was read first.
            str(int(response is not None)) if is_batch else moment(time),
            heard=_heard(request, answer, dropped) if request or not is_batch else [],
            said=said,
            turn=known(
                id=None if is_batch else own,
                span_id=own if is_batch else None,
                model=first(answer, "model", "modelVersion") or first(request, "model"),
                time=moment(time),
                finish_reason=_end(answer),
            ),
            is_piece=is_batch,
        )


def _of_thread(value: dict[str, Any], dropped: Counter[str]) -> Call:
    time = moment(value.get("created_at"))
    about = known(id=value.get("id"), time=time, model=value.get("assistant_id"))
    turns = [Message(one.role, one.text, about) for one in messages_of(value, "user", dropped)]
    return Call(str(value.get("thread_id")), time, turns, [], rank=ROW)


def _request(value: dict[str, Any]) -> dict[str, Any] | None:
    """What was asked: under a key of its own, in the body of a batch, or in the record itself."""
    for key in ("request", *_BODIES):
        if isinstance(found := json_text(value.get(key)), dict):
            return next((found[inner] for inner in _BODIES if isinstance(found.get(inner), dict)), found)
    return value if not value.keys().isdisjoint(("messages", "input", "contents")) else None


def _response(value: dict[str, Any]) -> Any:
    """What was answered: under a key of its own, in the result of a batch, or in the record itself."""
    for key in ("response", "result"):
        found = json_text(value.get(key))
        if isinstance(found, list) and found and all(is_chunk(one) for one in found):
            return joined(found)
        if isinstance(found, dict):
            return next(
                (found[inner] for inner in ("body", "message") if isinstance(found.get(inner), dict)), found
            )
    if value.get("object") in ("chat.completion", "response") or (
        not value.keys().isdisjoint(("choices", "candidates")) and "question_id" not in value
    ):
        return value
    return None


def _heard(request: dict[str, Any], answer: dict[str, Any], dropped: Counter[str]) -> list[Message]:
    told = first(request, "system", "instructions", "systemInstruction", "system_instruction") or answer.get(
        "instructions"
    )
    prompts = messages_of(
        told["parts"] if isinstance(told, dict) and "parts" in told else told, "prompt", dropped
    )
    given = next(
        (request[key] for key in ("messages", "input", "contents", "prompt") if request.get(key)), None
    )
    return [*(Message("prompt", one.text) for one in prompts), *messages_of(given, "user", dropped)]


def _end(answer: dict[str, Any]) -> Any:
    """Why the reply ended."""
    choice: Any = next((answer[key][0] for key in ("choices", "candidates") if answer.get(key)), {})
    inner = choice if isinstance(choice, dict) else {}
    reason = first(inner, "finish_reason", "finishReason") or first(answer, "stop_reason")
    cut = (answer.get("incomplete_details") or {}).get("reason")
    return finish_reason(
        reason or cut or (answer.get("status") if answer.get("object") == "response" else None)
    )
