"""Every shape in which chats are exported opens as it is, and says what it was taken for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lapsus.errors import InputError
from lapsus.formats import read
from lapsus.formats.call_shapes import CHUNK
from tests.formats.chat_files import ASKED, MESSAGES, PLAIN, PROMPTED, REPLY, WITH_TOOL, opened, put, talk


def chatgpt(role: str, text: str, **more: Any) -> dict[str, Any]:
    return {"author": {"role": role}, "content": {"content_type": "text", "parts": [text]}, **more}


CHATGPT = [
    {
        "title": "A booking",
        "conversation_id": "c1",
        "default_model_slug": "gpt-x",
        "current_node": "n4",
        "mapping": {
            "n1": {"message": None, "parent": None, "children": ["n2"]},
            "n2": {
                "message": chatgpt("user", ASKED, create_time=17),
                "parent": "n1",
                "children": ["n3", "n4"],
            },
            "n3": {"message": chatgpt("assistant", "An earlier try."), "parent": "n2", "children": []},
            "n4": {
                "message": chatgpt(
                    "assistant",
                    REPLY,
                    metadata={"model_slug": "gpt-x", "finish_details": {"type": "max_tokens"}},
                ),
                "parent": "n2",
                "children": [],
            },
        },
    }
]


def test_an_account_of_chatgpt(tmp_path: Path) -> None:
    (document,), taken = opened(put(tmp_path / "conversations.json", CHATGPT))
    assert (document.id, document.system, talk(document)) == ("c1", "gpt-x", PLAIN)
    assert document.segments[0].metadata["time"] == "1970-01-01T00:00:17+00:00"
    assert document.segments[1].metadata["finish_reason"] == "length"
    assert taken == {"ChatGPT account export"}


def test_a_tree_that_goes_round_in_circles_ends(tmp_path: Path) -> None:
    nodes = {
        "a": {"message": chatgpt("user", ASKED), "parent": "b"},
        "b": {"message": chatgpt("assistant", REPLY), "parent": "a"},
    }
    documents, _ = opened(put(tmp_path / "x.json", [{"id": "c", "current_node": "b", "mapping": nodes}]))
    assert len(documents) == 1


CALL = {"name": "booking", "arguments": '{"id":7}'}
SHAPES: dict[str, tuple[Any, list[tuple[str, str]]]] = {
    "claude-account": (
        [
            {
                "uuid": "u1",
                "name": "A booking",
                "chat_messages": [
                    {"uuid": "m1", "sender": "human", "text": ASKED, "created_at": "2026-01-02T03:04:05Z"},
                    {"uuid": "m2", "sender": "assistant", "text": REPLY},
                ],
            }
        ],
        PLAIN,
    ),
    "openai-pair": (
        {
            "request": {"model": "m", "messages": [{"role": "system", "content": "Be brief."}, MESSAGES[0]]},
            "response": {"id": "r1", "choices": [{"message": MESSAGES[1], "finish_reason": "stop"}]},
        },
        PROMPTED,
    ),
    "openai-tools": (
        {
            "messages": [
                MESSAGES[0],
                {"role": "assistant", "content": None, "tool_calls": [{"id": "t", "function": CALL}]},
                {"role": "tool", "tool_call_id": "t", "content": '{"nights":3}'},
                MESSAGES[1],
            ]
        },
        WITH_TOOL,
    ),
    "responses-api": (
        {
            "request": {"instructions": "Be brief.", "input": ASKED},
            "response": {
                "id": "resp_1",
                "object": "response",
                "model": "m",
                "output": [
                    {"type": "reasoning", "summary": []},
                    {
                        "type": "message",
                        "role": "assistant",
                        "content": [{"type": "output_text", "text": REPLY}],
                    },
                ],
            },
        },
        PROMPTED,
    ),
    "anthropic": (
        {
            "model": "m",
            "system": "Be brief.",
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": ASKED}]},
                {"role": "assistant", "content": [{"type": "text", "text": REPLY}]},
            ],
        },
        PROMPTED,
    ),
    "anthropic-tools": (
        {
            "messages": [
                MESSAGES[0],
                {
                    "role": "assistant",
                    "content": [{"type": "tool_use", "id": "t", "name": "booking", "input": {"id": 7}}],
                },
                {
                    "role": "user",
                    "content": [{"type": "tool_result", "tool_use_id": "t", "content": '{"nights":3}'}],
                },
                MESSAGES[1],
            ]
        },
        WITH_TOOL,
    ),
    "gemini": (
        {
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "contents": [
                {"role": "user", "parts": [{"text": ASKED}]},
                {"role": "model", "parts": [{"text": REPLY}]},
            ],
        },
        PROMPTED,
    ),
    "gemini-pair": (
        {
            "request": {"contents": [{"role": "user", "parts": [{"text": ASKED}]}]},
            "response": {
                "candidates": [
                    {"content": {"role": "model", "parts": [{"text": REPLY}]}, "finishReason": "STOP"}
                ]
            },
        },
        PLAIN,
    ),
    "langchain": (
        {
            "messages": [
                {"type": "human", "data": {"content": ASKED}},
                {"lc": 1, "type": "constructor", "id": ["x", "AIMessage"], "kwargs": {"content": REPLY}},
            ]
        },
        PLAIN,
    ),
    "inspect": (
        {
            "version": 2,
            "eval": {"model": "m"},
            "samples": [
                {"id": 1, "epoch": 1, "input": ASKED, "messages": MESSAGES, "output": {"model": "m"}}
            ],
        },
        PLAIN,
    ),
    "tau-bench": ({"task_id": 3, "trial": 0, "reward": 0.0, "traj": MESSAGES}, PLAIN),
    "tau-bench-text": (
        {"messages_display": f"user: {ASKED}\nassistant: None\ntool: 3\nassistant: {REPLY}"},
        None,
    ),
    "tau2": (
        {
            "info": {"agent_info": {"llm": "m"}},
            "simulations": [{"id": "s1", "task_id": "1", "messages": MESSAGES}],
        },
        PLAIN,
    ),
    "history-of-pairs": ({"history": [[ASKED, REPLY]]}, PLAIN),
    "history-of-objects": ({"history": [{"user": ASKED, "bot": REPLY}]}, PLAIN),
    "history-and-more": ({"history": [["Hi", "Hello"]], "instruction": ASKED, "output": REPLY}, None),
    "prompt-completion": ({"prompt": ASKED, "completion": REPLY}, PLAIN),
    "prompt-completion-messages": ({"prompt": MESSAGES[:1], "completion": MESSAGES[1:]}, PLAIN),
    "alpaca": ({"instruction": "How many", "input": "nights?", "output": REPLY, "history": []}, None),
    "rag": ({"question": ASKED, "contexts": ["3 nights"], "answer": REPLY}, None),
    "user-bot": ({"user": ASKED, "bot": REPLY}, PLAIN),
    "input-output": ({"input": ASKED, "output": REPLY}, PLAIN),
    "streamed": (
        {
            "request": {"messages": MESSAGES[:1]},
            "response": [
                {"object": CHUNK, "id": "r", "choices": [{"delta": {"content": piece}}]}
                for piece in REPLY.partition(" ")
            ],
        },
        PLAIN,
    ),
    "page-of-conversations": ({"conversations": [{"uuid": "a", "messages": MESSAGES}]}, PLAIN),
    "langchain-list": (
        [
            {"type": "human", "data": {"content": ASKED}},
            {"type": "ai", "data": {"content": REPLY}},
        ],
        PLAIN,
    ),
    "bare-list": (MESSAGES, PLAIN),
    "logged-messages": ({"id": "t", "input": {"messages": MESSAGES[:1]}, "output": MESSAGES[1]}, PLAIN),
    "bedrock": (
        {
            "modelId": "m",
            "input": {"inputBodyJson": {"messages": [{"role": "user", "content": [{"text": ASKED}]}]}},
            "output": {
                "outputBodyJson": {
                    "output": {"message": {"role": "assistant", "content": [{"text": REPLY}]}},
                    "stopReason": "end_turn",
                }
            },
        },
        PLAIN,
    ),
    "opentelemetry": (
        {
            "gen_ai.input.messages": json.dumps(
                [{"role": "user", "parts": [{"type": "text", "content": ASKED}]}]
            ),
            "gen_ai.output.messages": json.dumps(
                [{"role": "assistant", "parts": [{"type": "text", "content": REPLY}]}]
            ),
        },
        PLAIN,
    ),
    "vercel": (
        {
            "messages": [
                {"role": "user", "parts": [{"type": "text", "text": ASKED}]},
                {
                    "role": "assistant",
                    "parts": [
                        {"type": "step-start"},
                        {
                            "type": "tool-booking",
                            "toolCallId": "t",
                            "input": {"id": 7},
                            "output": {"nights": 3},
                        },
                        {"type": "text", "text": REPLY},
                    ],
                },
            ]
        },
        WITH_TOOL,
    ),
    "sharegpt": (
        {
            "conversations": [{"from": "human", "value": ASKED}, {"from": "gpt", "value": REPLY}],
            "system": "Be brief.",
        },
        PROMPTED,
    ),
}
OTHERWISE = {
    "tau-bench-text": [("user", ASKED), ("tool", "3"), ("system", REPLY)],
    "history-and-more": [("user", "Hi"), ("system", "Hello"), *PLAIN],
    "alpaca": [("user", "How many\n\nnights?"), ("system", REPLY)],
    "rag": [("user", ASKED), ("passage", "3 nights"), ("system", REPLY)],
}


@pytest.mark.parametrize("ending", [".json", ".jsonl"])
@pytest.mark.parametrize("name", SHAPES)
def test_a_shape(tmp_path: Path, name: str, ending: str) -> None:
    value, expected = SHAPES[name]
    values = value if isinstance(value, list) and ending == ".jsonl" else [value]
    (document,), taken = opened(put(tmp_path / f"x{ending}", *values))
    assert talk(document) == (expected or OTHERWISE[name])
    assert len(taken) == 1


def test_a_folder_may_mix_shapes(tmp_path: Path) -> None:
    for name, (value, _) in SHAPES.items():
        put(tmp_path / f"{name}.json", value)
    documents, taken = opened(tmp_path)
    assert len(documents) == len(SHAPES)
    assert len(taken) > 9


def test_calls_of_one_session_are_one_talk(tmp_path: Path) -> None:
    first = {"session_id": "v", "messages": MESSAGES[:1], "choices": [{"message": MESSAGES[1]}], "created": 1}
    more = [*MESSAGES, {"role": "user", "content": "Sure?"}]
    second = {
        "session_id": "v",
        "messages": more,
        "choices": [{"message": {"role": "assistant", "content": "Yes."}, "finish_reason": "length"}],
        "created": 2,
    }
    (document,), _ = opened(put(tmp_path / "log.jsonl", first, second))
    assert talk(document) == [*PLAIN, ("user", "Sure?"), ("system", "Yes.")]
    assert document.segments[-1].metadata["finish_reason"] == "length"


def test_an_answer_to_a_response_goes_on_with_its_talk(tmp_path: Path) -> None:
    def record(id: str, before: str | None, asked: str, said: str) -> dict[str, Any]:
        output = [
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": said}]}
        ]
        response = {"id": id, "object": "response", "previous_response_id": before, "output": output}
        return {"request": {"input": asked}, "response": response}

    path = put(tmp_path / "x.jsonl", record("r1", None, ASKED, REPLY), record("r2", "r1", "Sure?", "Yes."))
    (document,), taken = opened(path)
    assert talk(document) == [*PLAIN, ("user", "Sure?"), ("system", "Yes.")]
    assert taken == {"Responses API"}


def test_preferences_as_openai_takes_them(tmp_path: Path) -> None:
    record = {
        "input": {"messages": MESSAGES[:1]},
        "preferred_output": MESSAGES[1:],
        "non_preferred_output": [{"role": "assistant", "content": "No."}],
    }
    documents, taken = opened(put(tmp_path / "x.jsonl", record))
    assert [talk(document) for document in documents] == [PLAIN, [PLAIN[0], ("system", "No.")]]
    assert [document.system for document in documents] == ["chosen", "rejected"]
    assert taken == {"preferences (chosen and rejected)"}


def test_an_account_with_a_chat_that_was_never_begun(tmp_path: Path) -> None:
    chats = [*SHAPES["claude-account"][0], {"uuid": "u2", "name": "", "chat_messages": []}]
    documents, _ = opened(put(tmp_path / "conversations.json", chats))
    assert [(document.id, len(document.segments)) for document in documents] == [("u1", 2), ("u2", 0)]


def test_what_a_message_returns_comes_after_its_own_calls(tmp_path: Path) -> None:
    content = [
        {"type": "tool_use", "name": "booking", "input": {"id": 7}},
        {"type": "tool_result", "content": '{"nights":3}'},
        {"type": "text", "text": REPLY},
    ]
    record = {"messages": [MESSAGES[0], {"role": "assistant", "content": content}]}
    (document,), _ = opened(put(tmp_path / "x.jsonl", record))
    assert talk(document) == WITH_TOOL


@pytest.mark.parametrize(
    "value",
    [
        {"mapping": {"a": 3}, "current_node": "a"},
        {"simulations": [{"messages": [3]}]},
        {"samples": [3], "eval": {}},
        {"question_id": 1, "choices": [{"turns": 3}]},
        {"messages": [{"role": "narrator", "content": "x"}]},
        {"messages": [{"role": "user", "content": 3}]},
    ],
)
def test_a_broken_record_is_named(tmp_path: Path, value: Any) -> None:
    with pytest.raises(InputError) as caught:
        list(read(put(tmp_path / "x.jsonl", {"messages": MESSAGES}, value)))
    assert str(caught.value.where).startswith("x.jsonl, line 2")
