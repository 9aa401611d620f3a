"""Exports of tracing tools and chatbot platforms, on invented records of their documented shapes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lapsus.errors import InputError
from lapsus.formats import read
from lapsus.model import Document


def put(folder: Path, name: str, *records: Any) -> Path:
    path = folder / name
    path.write_text("\n".join(json.dumps(record, ensure_ascii=False) for record in records), encoding="utf-8")
    return path


def documents(path: Path, format: str) -> list[Document]:
    reading = read(path)
    assert reading.format.name == format
    return [entry.document for entry in reading if entry.document]


def talk(document: Document) -> list[str]:
    return [f"{segment.role[0]}: {segment.text}" for segment in document.segments]


def attributes(**values: Any) -> list[dict[str, Any]]:
    def tagged(value: Any) -> dict[str, Any]:
        return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}

    return [{"key": key.replace("__", "."), "value": tagged(value)} for key, value in values.items()]


def otel_message(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def otel_span(number: int, heard: list[Any], said: list[Any], **more: Any) -> dict[str, Any]:
    return {
        "traceId": f"t{number}",
        "spanId": f"s{number}",
        "startTimeUnixNano": str(1_700_000_000_000_000_000 + number * 10**9),
        "endTimeUnixNano": str(1_700_000_000_500_000_000 + number * 10**9),
        "attributes": attributes(
            gen_ai__conversation__id="c1",
            gen_ai__request__model="parrot-2",
            gen_ai__usage__output_tokens=7,
            gen_ai__input__messages=json.dumps(heard),
            gen_ai__output__messages=json.dumps(said),
            **more,
        ),
    }


def bundle(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": list(spans)}]}]}


U1, A1 = otel_message("user", "Hello?"), otel_message("assistant", "Good day!")
U2, A2 = otel_message("user", "Any trains?"), otel_message("assistant", "At nine.")


class TestOpenTelemetry:
    def test_calls_that_repeat_the_history_make_one_dialogue(self, tmp_path: Path) -> None:
        second = otel_span(
            2, [U1, A1, U2], [A2], gen_ai__system_instructions='[{"type":"text","content":"Be brief."}]'
        )
        path = put(tmp_path, "spans.jsonl", bundle(second), bundle(otel_span(1, [U1], [A1])))
        (document,) = documents(path, "otel")
        said = ["u: Hello?", "s: Good day!", "u: Any trains?", "s: At nine."]
        assert talk(document) == ["p: Be brief.", *said]
        assert document.id == "c1"
        assert document.system == "parrot-2"
        last = document.segments[-1].metadata
        assert (last["span_id"], last["trace_id"], last["output_tokens"]) == ("s2", "t2", 7)

    def test_a_single_object_in_json(self, tmp_path: Path) -> None:
        (document,) = documents(put(tmp_path, "x.json", bundle(otel_span(1, [U1], [A1]))), "otel")
        assert len(document.segments) == 2

    def test_numbered_attributes_of_before(self, tmp_path: Path) -> None:
        span = otel_span(1, [], [])
        span["attributes"] = attributes(
            gen_ai__prompt__0__role="user",
            gen_ai__prompt__0__content="Hello?",
            gen_ai__completion__0__content="Good day!",
        )
        (document,) = documents(put(tmp_path, "x.jsonl", bundle(span)), "otel")
        assert talk(document) == ["u: Hello?", "s: Good day!"]
        assert document.id == "t1"

    def test_messages_as_events(self, tmp_path: Path) -> None:
        span = otel_span(1, [], [])
        span["attributes"] = attributes(gen_ai__request__model="p")
        span["events"] = [
            {"name": "gen_ai.user.message", "attributes": attributes(content="Hello?")},
            {
                "name": "gen_ai.choice",
                "attributes": attributes(message='{"role":"assistant","content":"Good day!"}'),
            },
        ]
        (document,) = documents(put(tmp_path, "x.jsonl", bundle(span)), "otel")
        assert talk(document) == ["u: Hello?", "s: Good day!"]

    def test_an_agent_and_its_model_are_one_call(self, tmp_path: Path) -> None:
        agent = otel_span(1, [U1], [A1], gen_ai__operation__name="invoke_agent")
        inner = otel_span(1, [U1], [A1], gen_ai__operation__name="chat") | {"spanId": "inner"}
        (document,) = documents(put(tmp_path, "x.jsonl", bundle(agent, inner)), "otel")
        assert talk(document) == ["u: Hello?", "s: Good day!"]
        assert document.segments[1].metadata["span_id"] == "inner"

    def test_a_reply_generated_again_takes_the_place_of_the_first(self, tmp_path: Path) -> None:
        again = otel_span(3, [U1, A1, U2], [otel_message("assistant", "At ten.")])
        path = put(
            tmp_path, "x.jsonl", bundle(otel_span(1, [U1], [A1]), otel_span(2, [U1, A1, U2], [A2]), again)
        )
        (document,) = documents(path, "otel")
        assert talk(document)[2:] == ["u: Any trains?", "s: At ten."]

    def test_a_call_of_another_kind_is_left_out_and_said(self, tmp_path: Path) -> None:
        router = otel_span(2, [otel_message("user", "Sort this"), otel_message("user", "Hello?")], [A2])
        reading = read(put(tmp_path, "x.jsonl", bundle(otel_span(1, [U1], [A1]), router)))
        (entry,) = reading
        assert entry.document is not None
        assert len(entry.document.segments) == 2
        assert reading.options.dropped["calls beside the conversation"] == 1

    def test_small_times_are_nanoseconds_too(self, tmp_path: Path) -> None:
        # Guessed by their size, the second would be a year later than the first and the third the earliest.
        times = (90_000_000_000, 100_000_000_000, 100_000_000_001_000)
        calls = [otel_span(1, [U1], [A1]), otel_span(2, [U2], [A2]), otel_span(3, [U1], [A2])]
        spans = [call | {"startTimeUnixNano": str(time)} for call, time in zip(calls, times, strict=True)]
        (document,) = documents(put(tmp_path, "x.jsonl", bundle(*reversed(spans))), "otel")
        assert [one.metadata.get("span_id") for one in document.segments[1::2]] == ["s1", "s2", "s3"]

    def test_tools_stand_before_the_reply_that_follows_them(self, tmp_path: Path) -> None:
        call = {"role": "assistant", "parts": [{"type": "tool_call", "name": "trains"}]}
        result = {"role": "tool", "parts": [{"type": "tool_call_response", "response": "9:00"}]}
        reading = read(put(tmp_path, "x.jsonl", bundle(otel_span(1, [U1, call, result], [A1]))))
        (entry,) = reading
        assert entry.document is not None
        assert [(s.id, s.role, s.text) for s in entry.document.segments] == [
            ("0", "user", "Hello?"),
            ("1.1", "tool", "trains()"),
            ("1.2", "tool", "9:00"),
            ("1", "system", "Good day!"),
        ]
        assert not reading.options.dropped

    def test_a_broken_record_is_named(self, tmp_path: Path) -> None:
        path = put(tmp_path, "x.jsonl", bundle(otel_span(1, [U1], [A1])), {"resourceSpans": [3]})
        with pytest.raises(InputError, match="expected") as caught:
            list(read(path))
        assert caught.value.where == "x.jsonl, line 2"


def test_openinference_spans_of_phoenix(tmp_path: Path) -> None:
    def span(number: int, heard: list[tuple[str, str]], said: str) -> dict[str, Any]:
        flat: dict[str, Any] = {
            "openinference__span__kind": "LLM",
            "session__id": "visit-1",
            "llm__model_name": "parrot-2",
            "llm__output_messages__0__message__role": "assistant",
            "llm__output_messages__0__message__content": said,
        }
        for place, (role, text) in enumerate(heard):
            flat[f"llm__input_messages__{place}__message__role"] = role
            flat[f"llm__input_messages__{place}__message__content"] = text
        return otel_span(number, [], []) | {"attributes": attributes(**flat)}

    first = span(1, [("system", "Be brief."), ("user", "Hello?")], "Good day!")
    second = span(
        2, [("system", "Be brief."), ("user", "Hello?"), ("assistant", "Good day!"), ("user", "Bye.")], "Bye!"
    )
    (document,) = documents(put(tmp_path, "x.jsonl", bundle(first, second)), "openinference")
    assert document.id == "visit-1"
    assert talk(document) == ["p: Be brief.", "u: Hello?", "s: Good day!", "u: Bye.", "s: Bye!"]


def test_openinference_nested_attributes_and_parts(tmp_path: Path) -> None:
    record = {
        "name": "ChatCompletion",
        "context": {"trace_id": "t1", "span_id": "s1"},
        "parent_id": None,
        "start_time": "2026-01-02T03:04:05+00:00",
        "attributes": {
            "openinference": {"span": {"kind": "LLM"}},
            "llm": {
                "input_messages": [
                    {
                        "message": {
                            "role": "user",
                            "contents": [{"message_content": {"type": "text", "text": "Hello?"}}],
                        }
                    }
                ],
                "output_messages": [{"message": {"role": "assistant", "content": "Good day!"}}],
            },
        },
    }
    (document,) = documents(put(tmp_path, "x.jsonl", record), "openinference")
    assert talk(document) == ["u: Hello?", "s: Good day!"]
    assert document.segments[1].metadata["span_id"] == "s1"


def test_langfuse_observations_find_their_session_in_the_traces(tmp_path: Path) -> None:
    folder = tmp_path / "export"
    folder.mkdir()

    def generation(number: int, heard: Any, said: Any) -> dict[str, Any]:
        return {
            "id": f"o{number}",
            "trace_id": f"t{number}",
            "type": "GENERATION",
            "parent_observation_id": None,
            "start_time": f"2026-01-02T03:04:{number:02d}.000Z",
            "input": heard,
            "output": said,
            "provided_model_name": "parrot-2",
        }

    user, reply = {"role": "user", "content": "Hello?"}, {"role": "assistant", "content": "Good day!"}
    put(
        folder,
        "observations.jsonl",
        generation(2, json.dumps({"messages": [user, reply, {"role": "user", "content": "Bye."}]}), "Bye!"),
        generation(1, json.dumps([user]), json.dumps(reply)),
        {**generation(3, "x", "y"), "type": "SPAN", "parent_observation_id": "o1"},
    )
    put(
        folder,
        "traces.jsonl",
        *(
            {"id": f"t{n}", "session_id": "visit-1", "timestamp": "2026-01-02", "input": None, "output": None}
            for n in (1, 2)
        ),
    )
    (document,) = documents(folder, "langfuse")
    assert document.id == "visit-1"
    assert talk(document) == ["u: Hello?", "s: Good day!", "u: Bye.", "s: Bye!"]
    assert document.segments[1].metadata["span_id"] == "o1"


def test_langfuse_traces_alone(tmp_path: Path) -> None:
    trace = {
        "id": "t1",
        "session_id": "v",
        "timestamp": "2026-01-02T00:00:00Z",
        "input": "Hello?",
        "output": "Good day!",
    }
    second = trace | {"id": "t2", "timestamp": "2026-01-02T00:01:00Z", "input": "Bye.", "output": "Bye!"}
    (document,) = documents(put(tmp_path, "x.jsonl", second, trace), "langfuse")
    assert talk(document) == ["u: Hello?", "s: Good day!", "u: Bye.", "s: Bye!"]


def test_langsmith_runs(tmp_path: Path) -> None:
    def lc(name: str, text: str) -> dict[str, Any]:
        return {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "schema", name],
            "kwargs": {"content": text},
        }

    root = {
        "id": "r0",
        "trace_id": "r0",
        "run_type": "chain",
        "inputs": {"input": "Hello?"},
        "outputs": {"output": "x"},
    }
    model = {
        "id": "r1",
        "trace_id": "r0",
        "parent_run_id": "r0",
        "dotted_order": "1.2",
        "run_type": "llm",
        "start_time": "2026-01-02T03:04:05",
        "inputs": {"messages": [[lc("SystemMessage", "Be brief."), lc("HumanMessage", "Hello?")]]},
        "outputs": {"generations": [[{"text": "Good day!", "message": lc("AIMessage", "Good day!")}]]},
        "extra": {"metadata": {"thread_id": "visit-1", "ls_model_name": "parrot-2"}},
    }
    tool = {"id": "r2", "trace_id": "r0", "parent_run_id": "r0", "run_type": "tool", "inputs": {"q": "x"}}
    found = documents(put(tmp_path, "runs.jsonl", model, tool), "langsmith")
    assert [document.id for document in found] == ["visit-1"]
    assert talk(found[0]) == ["p: Be brief.", "u: Hello?", "s: Good day!"]
    (alone,) = documents(put(tmp_path, "root.jsonl", root), "langsmith")
    assert talk(alone) == ["u: Hello?", "s: x"]


def test_rasa_tracker_and_events_table(tmp_path: Path) -> None:
    events = [
        {"event": "session_started", "timestamp": 1.0},
        {"event": "user", "text": "Hello?", "timestamp": 1_700_000_000.5},
        {"event": "action", "name": "utter_greet", "timestamp": 1_700_000_000.6},
        {"event": "bot", "text": "Good day!", "timestamp": 1_700_000_000.7},
    ]
    (document,) = documents(put(tmp_path, "tracker.json", {"sender_id": "visit-1", "events": events}), "rasa")
    assert talk(document) == ["u: Hello?", "s: Good day!"]
    lines = ["sender_id,type_name,timestamp,data"]
    for event in events:
        cell = json.dumps(event).replace('"', '""')
        lines.append(f'visit-1,{event["event"]},{event["timestamp"]},"{cell}"')
    table = tmp_path / "events.csv"
    table.write_text("\n".join(lines), encoding="utf-8")
    (document,) = documents(table, "rasa")
    assert talk(document) == ["u: Hello?", "s: Good day!"]


def test_dialogflow_rows(tmp_path: Path) -> None:
    def row(position: int, heard: str, said: str) -> dict[str, Any]:
        response = {
            "responseId": 2**70 + position,
            "queryResult": {"responseMessages": [{"text": {"text": [said]}}]},
        }
        return {
            "conversation_name": "projects/p/locations/l/agents/a/sessions/visit-1",
            "turn_position": position,
            "request_time": "2026-01-02 03:04:05 UTC",
            "language_code": "ja-JP",
            "request": json.dumps({"queryInput": {"text": {"text": heard}}}),
            "response": json.dumps(response),
        }

    (document,) = documents(
        put(tmp_path, "rows.jsonl", row(2, "電車は？", "九時です。"), row(1, "もしもし", "はい。")),
        "dialogflow-cx",
    )
    assert document.language == "ja"
    assert talk(document) == ["u: もしもし", "s: はい。", "u: 電車は？", "s: 九時です。"]


def test_botpress_messages(tmp_path: Path) -> None:
    def message(number: int, direction: str, payload: Any) -> dict[str, Any]:
        time = f"2026-01-02T03:04:{number:02d}.000Z"
        return {
            "id": f"m{number}",
            "createdAt": time,
            "type": "text",
            "payload": payload,
            "direction": direction,
            "conversationId": "visit-1",
        }

    messages = [message(2, "outgoing", {"text": "Good day!"}), message(1, "incoming", {"text": "Hello?"})]
    (document,) = documents(put(tmp_path, "x.json", {"messages": messages}), "botpress")
    assert talk(document) == ["u: Hello?", "s: Good day!"]
    assert document.segments[1].metadata["span_id"] == "m2"
    (document,) = documents(put(tmp_path, "y.jsonl", *messages), "botpress")
    assert talk(document) == ["u: Hello?", "s: Good day!"]


def test_wildchat_and_lmsys_records(tmp_path: Path) -> None:
    wild = {
        "conversation_hash": "abc",
        "model": "parrot-2",
        "timestamp": "2026-01-02 03:04:05",
        "conversation": [
            {
                "role": "user",
                "content": "Hello?",
                "language": "English",
                "toxic": False,
                "turn_identifier": 1,
            },
            {
                "role": "assistant",
                "content": "Good day!",
                "language": "English",
                "toxic": False,
                "turn_identifier": 1,
            },
        ],
        "language": "English",
    }
    (document,) = documents(put(tmp_path, "x.jsonl", wild), "chat")
    assert document.id == "abc"
    assert document.language == "en"
    assert document.segments[1].metadata["turn_identifier"] == 1


@pytest.mark.parametrize("name", ["x.jsonl", "x.json"])
def test_a_number_that_is_none_is_named(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text('{"id": "a", "traceId": "t", "type": "GENERATION", "startTime": 1e400}')
    with pytest.raises(InputError, match="not sound JSON") as caught:
        read(path)
    assert str(caught.value.where).endswith(" 1")


@pytest.mark.parametrize("time", ["inf", "-Infinity", "1e999", 10**400, "nan", None, [], "once"])
def test_odd_times_neither_hang_nor_break(time: Any, tmp_path: Path) -> None:
    events = [{"event": "bot", "text": "Good day!", "timestamp": time}]
    (document,) = documents(put(tmp_path, "tracker.jsonl", {"sender_id": "v", "events": events}), "rasa")
    assert talk(document) == ["s: Good day!"]
