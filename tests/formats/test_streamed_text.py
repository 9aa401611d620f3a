"""Replies kept as they were streamed, and talks as text whose speakers have names of their own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lapsus.errors import InputError
from lapsus.formats import read
from tests.formats.chat_files import ASKED, PLAIN, REPLY, talk


def events(*values: dict[str, Any]) -> str:
    return "".join(f"event: {one.get('type', 'x')}\ndata: {json.dumps(one)}\n\n" for one in values)


def chunk(**delta: str) -> dict[str, Any]:
    return {"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [{"delta": delta}]}


def block(number: int, **delta: str) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": number, "delta": delta}


TOOL = {"type": "tool_use", "id": "t", "name": "find", "input": {}}
CLAUDE = (
    {"type": "message_start", "message": {"id": "m1", "role": "assistant", "model": "m", "content": []}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "ping"},
    block(0, type="text_delta", text=REPLY[:3]),
    block(0, type="text_delta", text=REPLY[3:]),
    {"type": "content_block_start", "index": 1, "content_block": TOOL},
    block(1, type="input_json_delta", partial_json='{"city"'),
    block(1, type="input_json_delta", partial_json=': "Kyoto"}'),
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
    {"type": "message_stop"},
)
RESPONSE = {
    "id": "r",
    "object": "response",
    "model": "m",
    "output": [{"role": "assistant", "content": REPLY}],
}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            events(chunk(role="assistant", content=REPLY[:3]), chunk(content=REPLY[3:])) + "data: [DONE]\n",
            [("system", REPLY)],
        ),
        (events(*CLAUDE), [("system", REPLY)]),
        (
            events(
                {"type": "response.created", "response": {}},
                {"type": "response.output_text.delta", "delta": REPLY},
                {"type": "response.completed", "response": RESPONSE},
            ),
            [("system", REPLY)],
        ),
    ],
)
def test_a_reply_as_it_was_streamed(tmp_path: Path, text: str, said: list[tuple[str, str]]) -> None:
    path = tmp_path / "stream.txt"
    path.write_text(text, "utf-8")
    (document,) = [entry.document for entry in read(path) if entry.document]
    assert talk(document) == said
    assert document.metadata["system"] == "m"


@pytest.mark.parametrize("start", ["", "[10:01] ", "2026-01-31 10:01 ", "31/1/26, 10:01 AM - "])
def test_a_talk_of_people_with_names_says_how_it_opens_and_then_opens(tmp_path: Path, start: str) -> None:
    path = tmp_path / "talk.log"
    path.write_text(
        "".join(
            f"{start}{one}\n" for one in (f"Anna: {ASKED}", f"HelpBot: {REPLY}", "Anna: Hm", "HelpBot: So")
        )
    )
    with pytest.raises(InputError) as caught:
        read(path)
    assert str(caught.value.hint) == "say who speaks: --system HelpBot --user Anna"
    (document,) = [
        entry.document for entry in read(path, map={"system": "HelpBot", "user": "Anna"}) if entry.document
    ]
    assert talk(document) == [*PLAIN, ("user", "Hm"), ("system", "So")]


def test_a_text_without_speakers_says_what_a_talk_looks_like(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Nothing is said here.\n")
    with pytest.raises(InputError) as caught:
        read(path)
    assert "`User: …`" in str(caught.value.hint)
