"""Exports of the same tools in the other shapes that they have had, or have beside the usual one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lapsus.errors import InputError
from lapsus.formats import read
from tests.formats.traces.test_traces import A1, U1, attributes, bundle, documents, otel_span, put, talk

USER, REPLY = {"role": "user", "content": "Hello?"}, {"role": "assistant", "content": "Good day!"}
TALK = ["u: Hello?", "s: Good day!"]


def log_record(span: str, second: int, name: str, body: dict[str, Any]) -> dict[str, Any]:
    values = [{"key": key, "value": tagged(value)} for key, value in body.items()]
    record = {
        "timeUnixNano": str(1_700_000_000_000_000_000 + second * 10**9),
        "eventName": name,
        "traceId": "t1",
        "spanId": span,
        "attributes": attributes(gen_ai__system="parrots"),
        "body": {"kvlistValue": {"values": values}},
    }
    return {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}


def tagged(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [{"key": key, "value": tagged(one)} for key, one in value.items()]}}
    return {"stringValue": value}


def test_log_records_of_a_span_are_one_call(tmp_path: Path) -> None:
    path = put(
        tmp_path,
        "logs.jsonl",
        log_record("s1", 1, "gen_ai.user.message", {"content": "Hello?"}),
        log_record("s1", 2, "gen_ai.choice", {"message": REPLY}),
        log_record("s2", 8, "gen_ai.user.message", {"content": "Hello?"}),
        log_record("s2", 8, "gen_ai.assistant.message", {"content": "Good day!"}),
        log_record("s2", 8, "gen_ai.user.message", {"content": "Bye."}),
        log_record("s2", 9, "gen_ai.choice", {"message": {"content": "Bye!"}}),
    )
    reading = read(path)
    (entry,) = reading
    assert entry.document
    assert talk(entry.document) == [*TALK, "u: Bye.", "s: Bye!"]
    assert [segment.metadata.get("span_id") for segment in entry.document.segments] == [
        None,
        "s1",
        None,
        "s2",
    ]
    assert not reading.options.mended


@pytest.mark.parametrize(
    ("format", "kind"), [("otel", {}), ("openinference", {"openinference__span__kind": "LLM"})]
)
def test_a_collector_may_begin_with_spans_of_other_programs(
    format: str, kind: dict[str, str], tmp_path: Path
) -> None:
    other = otel_span(0, [], []) | {"attributes": attributes(http__request__method="GET")}
    call = otel_span(1, [U1], [A1])
    if kind:
        call["attributes"] = attributes(input__value="Hello?", output__value="Good day!", **kind)
    (document,) = documents(put(tmp_path, "x.jsonl", bundle(other), bundle(call)), format)
    assert talk(document) == TALK


def test_ids_of_a_console_lose_their_prefix(tmp_path: Path) -> None:
    span = {
        "context": {"trace_id": "0xa1", "span_id": "0xb2"},
        "attributes": {"gen_ai.prompt": "Hello?", "gen_ai.completion": "Good day!"},
    }
    (document,) = documents(put(tmp_path, "x.jsonl", span), "otel")
    assert document.segments[1].metadata == {"trace_id": "a1", "span_id": "b2"}


def phoenix_span() -> dict[str, Any]:
    """As Phoenix's interface gives it: the kind beside the attributes."""
    return {
        "context": {"trace_id": "t1", "span_id": "s1"},
        "span_kind": "LLM",
        "start_time": "2026-01-02T03:04:05Z",
        "attributes": {
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": "Hello?",
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.content": "Good day!",
        },
    }


def langfuse_observation(**more: Any) -> dict[str, Any]:
    return {
        "id": "s1",
        "trace_id": "t1",
        "type": "GENERATION",
        "start_time": "2026-01-02 03:04:05.000000",
        "user_id": "ada",
        "input": json.dumps([USER]),
        "output": json.dumps(REPLY),
        "usage_details": json.dumps({"input": 3, "output": 2}),
        **more,
    }


def langsmith_run(**more: Any) -> dict[str, Any]:
    run = {"id": "s1", "trace_id": "s1", "run_type": "llm", "inputs": {"messages": [USER]}, "outputs": REPLY}
    return run | more


@pytest.mark.parametrize(
    ("format", "key", "record"),
    [
        ("openinference", "data", phoenix_span()),
        ("langfuse", "data", langfuse_observation()),
        ("langsmith", "runs", langsmith_run()),
    ],
)
@pytest.mark.parametrize("name", ["page.json", "pages.jsonl"])
def test_answers_of_interfaces_hold_a_list_of_records(
    name: str, format: str, key: str, record: dict[str, Any], tmp_path: Path
) -> None:
    (document,) = documents(put(tmp_path, name, {key: [record], "next_cursor": None}), format)
    assert talk(document) == TALK
    assert document.segments[1].metadata["span_id"] == "s1"


def test_langfuse_tokens_and_user_of_an_observation(tmp_path: Path) -> None:
    (document,) = documents(put(tmp_path, "x.jsonl", langfuse_observation()), "langfuse")
    assert document.metadata["user"] == "ada"
    assert (
        document.segments[1].metadata["input_tokens"],
        document.segments[1].metadata["output_tokens"],
    ) == (3, 2)


def test_langfuse_without_generations_is_read_from_the_outermost_observations(tmp_path: Path) -> None:
    root = langfuse_observation(type="AGENT", input='{"wish": "Hello?"}', output="Good day!")
    inner = langfuse_observation(id="s2", type="TOOL", parent_observation_id="s1")
    score = {"id": "c1", "trace_id": "t1", "name": "ok", "value": 1, "data_type": "NUMERIC"}
    reading = read(put(tmp_path, "x.jsonl", root, inner, score))
    (entry,) = reading
    assert entry.document
    assert talk(entry.document) == TALK
    assert reading.options.dropped == {"observations that are no generation": 1, "scores": 1}


def test_langchain_generations_keep_their_message(tmp_path: Path) -> None:
    message = {"lc": 1, "id": ["langchain", "schema", "AIMessage"], "kwargs": {"content": "Good day!"}}
    generation = {"text": "Good day!", "type": "ChatGeneration", "message": message}
    run = langsmith_run(outputs={"generations": [[generation]], "type": "LLMResult"})
    (document,) = documents(put(tmp_path, "x.jsonl", run), "langsmith")
    assert talk(document) == TALK


@pytest.mark.parametrize("around", [{"parent_run_id": "s1"}, {"parent_run_ids": ["s1"]}, {}])
def test_inner_runs_of_langsmith_are_no_turns(around: dict[str, Any], tmp_path: Path) -> None:
    outer = langsmith_run(run_type="chain")
    inner = langsmith_run(id="s2", run_type="chain", inputs={"input": "inside"}, **around)
    (document,) = documents(put(tmp_path, "x.jsonl", outer, inner), "langsmith")
    assert talk(document) == TALK


def test_a_message_without_words_says_nothing(tmp_path: Path) -> None:
    span = phoenix_span()
    del span["attributes"]["llm.output_messages.0.message.content"]
    span["attributes"]["llm.output_messages.1.message.content"] = "Good day!"
    (document,) = documents(put(tmp_path, "x.jsonl", span), "openinference")
    assert talk(document) == TALK


def test_rasa_events_of_a_broker_with_their_model(tmp_path: Path) -> None:
    events = [
        {"sender_id": "v", "event": "user", "text": "Hello?", "timestamp": 1.0},
        {
            "sender_id": "v",
            "event": "bot",
            "text": "Good day!",
            "timestamp": 2.0,
            "metadata": {"model_id": "parrot"},
        },
    ]
    (document,) = documents(put(tmp_path, "x.jsonl", *events), "rasa")
    assert talk(document) == TALK
    assert document.system == "parrot"


def test_a_log_of_which_nothing_is_left_says_why(tmp_path: Path) -> None:
    event = {"sender_id": "v", "event": "slot", "name": "drink", "timestamp": 1.0}
    with pytest.raises(InputError, match="nothing of format") as caught:
        list(read(put(tmp_path, "x.jsonl", event)))
    assert caught.value.hint == "what was found was left out, most of it as: events that are no words"
