"""Exports in several files or pieces: batches, threads, benchmarks, preferences, text, archives, streamed replies."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from lapsus.formats.call_shapes import CHUNK, joined
from tests.formats.chat_files import ASKED, MESSAGES, PLAIN, REPLY, opened, put, talk


@pytest.mark.parametrize("service", ["openai", "anthropic"])
def test_a_batch_and_its_input(tmp_path: Path, service: str) -> None:
    body = {"model": "m", "messages": MESSAGES[:1]}
    if service == "openai":
        asked = {"custom_id": "q1", "method": "POST", "url": "/v1/chat/completions", "body": body}
        choices = [{"message": MESSAGES[1], "finish_reason": "length"}]
        said = {
            "custom_id": "q1",
            "response": {"status_code": 200, "body": {"model": "m", "choices": choices}},
        }
    else:
        asked = {"custom_id": "q1", "params": body}
        message = {
            "role": "assistant",
            "content": [{"type": "text", "text": REPLY}],
            "stop_reason": "max_tokens",
        }
        said = {"custom_id": "q1", "result": {"type": "succeeded", "message": message}}
    paths = [put(tmp_path / "a-output.jsonl", said), put(tmp_path / "b-input.jsonl", asked)]
    for data in (tmp_path, paths, [str(path) for path in paths]):
        (document,), taken = opened(data)
        assert (document.id, talk(document)) == ("q1", PLAIN)
        assert document.segments[1].metadata["finish_reason"] == "length"
        assert taken == {"batch of requests"}


def test_a_thread_of_an_assistant_is_put_in_order(tmp_path: Path) -> None:
    def message(time: int, role: str, text: str) -> dict[str, Any]:
        content = [{"type": "text", "text": {"value": text, "annotations": []}}]
        return {
            "id": f"m{time}",
            "object": "thread.message",
            "thread_id": "t",
            "created_at": time,
            "role": role,
            "content": content,
        }

    page = {"object": "list", "data": [message(2, "assistant", REPLY), message(1, "user", ASKED)]}
    (document,), _ = opened(put(tmp_path / "x.json", page))
    assert (document.id, talk(document)) == ("t", PLAIN)


def test_answers_to_a_benchmark_stand_beside_its_questions(tmp_path: Path) -> None:
    put(tmp_path / "question.jsonl", {"question_id": 81, "category": "x", "turns": [ASKED, "Sure?"]})
    answers = tmp_path / "model_answer"
    answers.mkdir()
    for model in ("gpt-x", "other"):
        choices = [{"index": 0, "turns": [REPLY, "Yes."]}]
        put(
            answers / f"{model}.jsonl",
            {"question_id": 81, "model_id": model, "choices": choices, "tstamp": 1.0},
        )
    documents, _ = opened(tmp_path)
    assert [(one.id, one.system) for one in documents] == [("gpt-x-81", "gpt-x"), ("other-81", "other")]
    assert talk(documents[0]) == [*PLAIN, ("user", "Sure?"), ("system", "Yes.")]


@pytest.mark.parametrize(
    ("prompt", "chosen", "rejected"),
    [
        ({"prompt": ASKED}, REPLY, "Four."),
        ({}, MESSAGES, [MESSAGES[0], {"role": "assistant", "content": "Four."}]),
        ({}, f"\n\nHuman: {ASKED}\n\nAssistant: {REPLY}", f"\n\nHuman: {ASKED}\n\nAssistant: Four."),
    ],
)
def test_preferences_are_two_systems(tmp_path: Path, prompt: Any, chosen: Any, rejected: Any) -> None:
    documents, _ = opened(put(tmp_path / "x.jsonl", {**prompt, "chosen": chosen, "rejected": rejected}))
    assert [(one.system, talk(one)) for one in documents] == [
        ("chosen", PLAIN),
        ("rejected", [("user", ASKED), ("system", "Four.")]),
    ]


def test_talk_written_down_as_text(tmp_path: Path) -> None:
    path = tmp_path / "talks.txt"
    first = f"User: {ASKED}\nBot: {REPLY}\nand a half\n"
    path.write_text(f"{first}---\n**ユーザー**：やあ\n[12:03] ボット：はい\n", "utf-8")
    documents, _ = opened(path)
    assert [talk(one) for one in documents] == [
        [("user", ASKED), ("system", f"{REPLY}\nand a half")],
        [("user", "やあ"), ("system", "はい")],
    ]


def test_a_log_of_inspect_in_its_own_archive(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("header.json", json.dumps({"version": 2, "eval": {"model": "m"}}))
        for epoch in (1, 2):
            sample = {"id": f"s{epoch}", "epoch": epoch, "input": ASKED, "messages": MESSAGES}
            archive.writestr(f"samples/s{epoch}.json", json.dumps({**sample, "output": {"model": "m"}}))
    documents, _ = opened(tmp_path / "log.eval")
    assert [(one.id, one.system) for one in documents] == [("s1", "m"), ("s2", "m")]


def test_pieces_of_streamed_replies_are_put_together(tmp_path: Path) -> None:
    def pieces(id: str, *deltas: Any) -> list[dict[str, Any]]:
        return [{"object": CHUNK, "id": id, "choices": [{"delta": delta}]} for delta in deltas]

    said = [{"content": "Three "}, {"content": "nights."}]
    lines = [*pieces("r1", *said), *pieces("r2", {"content": "Yes."}, {})]
    documents, _ = opened(put(tmp_path / "x.jsonl", *lines))
    assert [talk(document) for document in documents] == [[("system", REPLY)], [("system", "Yes.")]]
    called = {"index": 0, "id": "t", "function": {"name": "booking", "arguments": '{"id"'}}
    more = {"index": 0, "function": {"arguments": ":7}"}}
    (choice,) = joined(pieces("r3", {"tool_calls": [called]}, {"tool_calls": [more]}))["choices"]
    assert choice["message"]["tool_calls"] == [{"id": "t", "name": "booking", "arguments": '{"id":7}'}]


def test_pieces_of_streamed_replies_stand_among_other_records(tmp_path: Path) -> None:
    def piece(text: Any, index: int = 0) -> dict[str, Any]:
        choices = [{"index": index, "delta": {"content": text}}]
        return {"object": CHUNK, "id": "r1", "choices": choices}

    streamed = [
        piece("Three "),
        piece("Two ", 1),
        piece([{"type": "text", "text": "nights."}]),
        piece("two.", 1),
    ]
    whole = {"object": "chat.completion", "choices": [{"message": MESSAGES[1]}]}
    others = [whole, {"messages": MESSAGES}, {"messages": MESSAGES}]
    for place in range(len(others) + 1):
        lines = [*others[:place], *streamed, *others[place:]]
        documents, _ = opened(put(tmp_path / "x.jsonl", *lines))
        said = sorted(tuple(talk(document)) for document in documents)
        assert said == [(PLAIN[1],), (PLAIN[1],), tuple(PLAIN), tuple(PLAIN)]


@pytest.mark.parametrize(
    "more",
    [
        {"choices": 3},
        {"choices": [3, {"delta": "x"}, {"delta": {"content": 3, "tool_calls": 3}}]},
        {"choices": [{"delta": {"tool_calls": [3, {"index": [0], "function": "x"}]}}]},
    ],
)
def test_pieces_of_other_types_hold_nothing(tmp_path: Path, more: dict[str, Any]) -> None:
    odd = {"object": CHUNK, "id": "r1", **more}
    (choice,) = joined([odd])["choices"]
    assert choice["message"]["content"] == ""
    for record in (odd, {"id": "r1", "response": [odd]}):
        documents, _ = opened(put(tmp_path / "x.jsonl", record, {"messages": MESSAGES}))
        assert PLAIN in [talk(document) for document in documents]
