"""Every reader of traces: broken records are named, keys may stand in any order, ids come back as feedback."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from lapsus.errors import InputError
from lapsus.formats import convert, read
from lapsus.model import Entry, Judgment
from tests.formats.traces.test_traces import A1, U1, bundle, otel_span, put, talk

USER, REPLY = {"role": "user", "content": "Hello?"}, {"role": "assistant", "content": "Good day!"}
RECORDS: dict[str, dict[str, Any]] = {
    "otel": bundle(otel_span(1, [U1], [A1])),
    "openinference": {
        "name": "llm",
        "context": {"trace_id": "t1", "span_id": "s1"},
        "span_kind": "LLM",
        "start_time": "2026-01-02T03:04:05Z",
        "attributes": {
            "openinference.span.kind": "LLM",
            "session.id": "visit-1",
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": "Hello?",
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.content": "Good day!",
        },
    },
    "langfuse": {
        "id": "s1",
        "trace_id": "t1",
        "type": "GENERATION",
        "start_time": "2026-01-02T03:04:05.000Z",
        "input": json.dumps([USER]),
        "output": json.dumps(REPLY),
    },
    "langsmith": {
        "id": "s1",
        "trace_id": "t1",
        "run_type": "llm",
        "start_time": "2026-01-02T03:04:05",
        "inputs": {"messages": [USER]},
        "outputs": {"messages": [REPLY]},
    },
    "rasa": {
        "sender_id": "visit-1",
        "events": [
            {"event": "user", "text": "Hello?", "timestamp": 1.0},
            {"event": "bot", "text": "Good day!", "timestamp": 2.0},
        ],
    },
    "dialogflow-cx": {
        "conversation_name": "projects/p/sessions/visit-1",
        "turn_position": 1,
        "request": {"queryInput": {"text": {"text": "Hello?"}}},
        "response": {
            "responseId": "s1",
            "queryResult": {"responseMessages": [{"text": {"text": ["Good day!"]}}]},
        },
    },
    "botpress": {
        "messages": [
            {"id": "m1", "conversationId": "c", "direction": "incoming", "createdAt": "2026-01-02T00:00:00Z"}
            | {"payload": {"text": "Hello?"}},
            {"id": "s1", "conversationId": "c", "direction": "outgoing", "createdAt": "2026-01-02T00:00:01Z"}
            | {"payload": {"text": "Good day!"}},
        ]
    },
    "chat": {"conversation_hash": "c", "model": "m", "conversation": [USER, REPLY]},
}
BROKEN: list[tuple[str, Any]] = [
    ("otel", {"resourceSpans": [3]}),
    ("otel", {"resourceSpans": [{"scopeSpans": [{"spans": ["x"]}]}]}),
    ("openinference", {**RECORDS["openinference"], "attributes": [3]}),
    ("langfuse", {"trace_id": "t2", "type": "GENERATION", "start_time": "x", "input": "a"}),
    ("langsmith", {"id": "s2", "inputs": {}, "outputs": {}}),
    ("langsmith", {"run_type": "llm", "inputs": {}}),
    ("rasa", {"sender_id": "v"}),
    ("rasa", {"sender_id": "v", "events": ["x"]}),
    ("rasa", {"sender_id": "v", "type_name": "user", "data": "no JSON"}),
    ("dialogflow-cx", {"conversation_name": "x", "turn_position": "first", "response": {}}),
    ("dialogflow-cx", {"conversation_name": "x", "turn_position": 1, "response": "no JSON"}),
    ("botpress", {"messages": [{"conversationId": "c", "direction": "incoming"}]}),
    ("botpress", {"messages": 3}),
    ("chat", {"conversation_hash": "d", "conversation": [{"role": "king", "content": "x"}]}),
    ("chat", {"conversation_hash": "d", "conversation": [{"content": "x"}]}),
    ("chat", {"conversation_hash": "d", "conversation": "x"}),
]


@pytest.mark.parametrize(("format", "broken"), BROKEN)
def test_a_broken_record_is_named_with_what_was_expected(format: str, broken: Any, tmp_path: Path) -> None:
    path = put(tmp_path, "x.jsonl", RECORDS[format], broken)
    with pytest.raises(InputError) as caught:
        list(read(path, format))
    assert (caught.value.where or "").startswith("x.jsonl, line 2")
    assert caught.value.hint


@pytest.mark.parametrize("format", RECORDS)
@pytest.mark.parametrize("rest", ["[1, 2]", '{"cut', "\ud800"])
def test_what_is_no_record_at_all(format: str, rest: str, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(json.dumps(RECORDS[format]).encode() + b"\n" + rest.encode("utf-8", "surrogatepass"))
    with pytest.raises(InputError, match=r"x\.jsonl, line 2"):
        list(read(path, format))


def shuffled(value: Any, chance: random.Random) -> Any:
    """The same JSON with the keys of every object in another order."""
    if isinstance(value, dict):
        keys = chance.sample(list(value), len(value))
        return {key: shuffled(value[key], chance) for key in keys}
    return [shuffled(item, chance) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("format", RECORDS)
def test_the_order_of_keys_says_nothing(format: str, tmp_path: Path) -> None:
    for seed in range(5):
        reading = read(put(tmp_path, f"{seed}.jsonl", shuffled(RECORDS[format], random.Random(seed))))
        assert reading.format.name == format
        (entry,) = reading
        assert entry.document is not None
        assert talk(entry.document) == ["u: Hello?", "s: Good day!"]


FEEDBACK = {
    "openinference-annotations": ("span_id", "trace_id"),
    "langfuse-scores": ("observation_id", "trace_id"),
    "langsmith-feedback": ("run_id", "trace_id"),
}


@pytest.mark.parametrize("format", ["otel", "openinference", "langfuse", "langsmith"])
def test_ids_go_from_traces_through_judgments_into_feedback(format: str, tmp_path: Path) -> None:
    """Read, kept as native JSON Lines, judged, and written for every tool."""
    convert(read(put(tmp_path, "traces.jsonl", RECORDS[format])), tmp_path / "kept.jsonl")
    (entry,) = read(tmp_path / "kept.jsonl")
    assert entry.document is not None
    turn = entry.document.segments[1].id
    judged = Entry(
        entry.id, entry.document, (Judgment(entry.id, turn, "ann", "breakdown", "1.0", {"breakdown": "X"}),)
    )
    for name, (span, trace) in FEEDBACK.items():
        convert([judged], tmp_path / name, name)
        (record,) = map(json.loads, (tmp_path / name).read_text().splitlines())
        assert record[span] == "s1"
        assert record.get(trace, "t1") == "t1"
    convert([judged], tmp_path / "otel", "otel-evaluations")
    (bundled,) = map(json.loads, (tmp_path / "otel").read_text().splitlines())
    (record,) = bundled["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
    assert (record["spanId"], record["traceId"]) == ("s1", "t1")
