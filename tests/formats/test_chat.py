"""Chat logs as JSON: what becomes of roles, parts and keys, and that nothing is lost on the way back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lapsus.errors import InputError, LossError
from lapsus.formats import FORMATS, Loss, ReadOptions, Source, convert, read, recognise
from lapsus.formats import records as module
from lapsus.formats.chat import Chat
from lapsus.model import Document, Entry, Judgment, Role, Segment, UnitRule, units

OPENAI = {
    "id": "c1",
    "model": "parrot-2",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello, who are you?", "timestamp": 17},
        {"role": "assistant", "content": "A parrot.", "name": "polly"},
    ],
}


def written(folder: Path, *conversations: Any, name: str = "log.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(item, ensure_ascii=False) + "\n" for item in conversations), "utf-8")
    return path


def documents(path: Path, options: ReadOptions | None = None) -> list[Document]:
    entries = Chat().read(Source(path), options or ReadOptions())
    return [entry.document for entry in entries if entry.document]


def error_of(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        documents(path)
    return str(caught.value)


def there_and_back(folder: Path, *given: Document) -> list[Document]:
    path = folder / "back.chat.jsonl"
    Chat().write([Entry(document.id, document) for document in given], path)
    return documents(path)


def test_openai_spelling(tmp_path: Path) -> None:
    (document,) = documents(written(tmp_path, OPENAI))
    assert document == Document(
        "c1",
        (
            Segment("0", "prompt", "Be brief."),
            Segment("1", "user", "Hello, who are you?", None, {"time": "1970-01-01T00:00:17+00:00"}),
            Segment("2", "system", "A parrot.", None, {"name": "polly"}),
        ),
        "en",
        {"model": "parrot-2", "system": "parrot-2"},
    )


def test_sharegpt_spelling(tmp_path: Path) -> None:
    turns = [
        {"from": "human", "value": "やあ"},
        {"from": "gpt", "value": "こんにちは"},
        {"from": "tool", "value": "42"},
    ]
    (document,) = documents(written(tmp_path, {"conversations": turns, "source": "x"}))
    assert [(s.id, s.role, s.text, s.metadata) for s in document.segments] == [
        ("0", "user", "やあ", {}),
        ("1", "system", "こんにちは", {}),
        ("2", "tool", "42", {"kind": "result"}),
    ]
    assert (document.id, document.language, document.metadata) == ("log-1", "ja", {"source": "x"})


def test_the_prompt_beside_a_sharegpt_conversation_is_a_segment(tmp_path: Path) -> None:
    (document,) = documents(
        written(tmp_path, {"conversations": [{"from": "human", "value": "Hi"}], "system": "Sing."})
    )
    assert document.segments[0] == Segment("prompt", "prompt", "Sing.")
    assert document.segments[1].id == "0"
    assert document.system is None


@pytest.mark.parametrize("role", ["assistant", "gpt", "bot", "model", "Assistant"])
def test_names_of_the_system(tmp_path: Path, role: str) -> None:
    (document,) = documents(written(tmp_path, {"messages": [{"role": role, "content": "x"}]}))
    assert document.segments == (Segment("0", "system", "x"),)


@pytest.mark.parametrize(
    ("role", "expected", "metadata"),
    [
        ("system", "prompt", {}),
        ("developer", "prompt", {"role": "developer"}),
        ("tool", "tool", {"kind": "result"}),
        ("function", "tool", {"kind": "result", "role": "function"}),
        ("observation", "tool", {"kind": "result", "role": "observation"}),
        ("passage", "passage", {}),
        ("document", "passage", {"role": "document"}),
    ],
)
def test_what_stands_behind_the_talk_has_roles_of_its_own(
    tmp_path: Path, role: str, expected: Role, metadata: dict[str, str]
) -> None:
    (document,) = documents(written(tmp_path, {"messages": [{"role": role, "content": "x"}]}))
    assert document.segments == (Segment("0", expected, "x", None, metadata),)
    assert there_and_back(tmp_path, document) == [document]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"id": 7}, "7"),
        ({"conversation_id": "a"}, "a"),
        ({"dialogue_id": "b", "id": ""}, "b"),
        ({"id": None}, "log-1"),
        ({}, "log-1"),
    ],
)
def test_ids(tmp_path: Path, keys: dict[str, Any], expected: str) -> None:
    (document,) = documents(written(tmp_path, {**keys, "messages": [{"role": "user", "content": "x"}]}))
    assert document.id == expected


def test_ids_count_lines_and_leave_out_the_whole_ending(tmp_path: Path) -> None:
    turn = {"messages": [{"role": "user", "content": "x"}]}
    path = written(tmp_path, turn, turn, name="log.chat.jsonl")
    path.write_text("\n" + path.read_text())
    assert [document.id for document in documents(path)] == ["log-2", "log-3"]


def test_an_id_that_is_not_used_is_kept(tmp_path: Path) -> None:
    line = {"id": "a", "conversation_id": "b", "messages": [{"role": "user", "content": "x"}]}
    (document,) = documents(written(tmp_path, line))
    assert (document.id, document.metadata) == ("a", {"conversation_id": "b"})


def test_a_given_system_is_not_replaced_by_the_model(tmp_path: Path) -> None:
    (document,) = documents(written(tmp_path, {**OPENAI, "system": "mine"}))
    assert document.metadata == {"model": "parrot-2", "system": "mine"}


def test_the_line_knows_its_language_best(tmp_path: Path) -> None:
    options = ReadOptions(language="en")
    (said,) = documents(written(tmp_path, {**OPENAI, "language": "de-CH"}), options)
    assert (said.language, "language" in said.metadata) == ("de-CH", False)
    (named,) = documents(written(tmp_path, {**OPENAI, "language": "Swiss German"}), options)
    assert (named.language, named.metadata["language"]) == ("en", "Swiss German")


PARTS = [
    {"type": "text", "text": "Look:"},
    {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}},
    {"type": "input_audio", "input_audio": {"data": "…"}},
    {"type": ["odd"]},
]


def test_parts_of_text_are_joined(tmp_path: Path) -> None:
    parts = [{"type": "text", "text": "one"}, {"type": "input_text", "text": "two"}, "three"]
    (document,) = documents(written(tmp_path, {"messages": [{"role": "user", "content": parts}]}))
    assert document.segments == (Segment("0", "user", "one\ntwo\nthree"),)


def test_other_parts_are_named_in_the_text_and_kept(tmp_path: Path) -> None:
    (document,) = documents(written(tmp_path, {"messages": [{"role": "user", "content": PARTS}]}))
    (segment,) = document.segments
    assert segment.text == "Look:\n[image]\n[audio]\n[part]"
    assert json.loads(msgspec.json.encode(segment.metadata["content"])) == PARTS
    assert there_and_back(tmp_path, document) == [document]
    again = json.loads((tmp_path / "back.chat.jsonl").read_text("utf-8"))
    assert again["messages"][0]["content"] == PARTS


BOOKING = {
    "id": "b1",
    "language": "en",
    "messages": [
        {"role": "user", "content": "How many nights?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "t1", "type": "function", "function": {"name": "booking", "arguments": '{"id":7}'}},
                {"id": "t2", "type": "function", "function": {"name": "clock", "arguments": ""}},
            ],
        },
        {"role": "tool", "content": '{"nights": 3}', "tool_call_id": "t1", "name": "booking"},
        {"role": "tool", "content": "noon", "tool_call_id": "t2"},
        {"role": "assistant", "content": "Three nights.", "finish_reason": "stop"},
        {
            "role": "assistant",
            "content": "One moment.",
            "tool_calls": [
                {"id": "t3", "type": "function", "function": {"name": "clock", "arguments": "{}"}}
            ],
        },
    ],
}


def test_a_message_that_only_calls_tools_is_no_reply(tmp_path: Path) -> None:
    (document,) = documents(written(tmp_path, BOOKING))
    assert [(s.id, s.role, s.text, s.metadata) for s in document.segments] == [
        ("0", "user", "How many nights?", {}),
        (
            "1",
            "tool",
            'booking({"id":7})',
            {"kind": "call", "name": "booking", "arguments": {"id": 7}, "call_id": "t1"},
        ),
        ("1.1", "tool", "clock()", {"kind": "call", "name": "clock", "call_id": "t2"}),
        ("2", "tool", '{"nights": 3}', {"kind": "result", "name": "booking", "call_id": "t1"}),
        ("3", "tool", "noon", {"kind": "result", "call_id": "t2"}),
        ("4", "system", "Three nights.", {"finish_reason": "stop"}),
        ("5", "system", "One moment.", {}),
        ("5.1", "tool", "clock({})", {"kind": "call", "name": "clock", "arguments": {}, "call_id": "t3"}),
    ]
    judged = [unit.key.segment for unit in units(document, UnitRule("system"))]
    assert judged == ["4", "5"]


def test_calls_of_tools_go_out_as_they_came_in(tmp_path: Path) -> None:
    (document,) = documents(written(tmp_path, BOOKING))
    assert there_and_back(tmp_path, document) == [document]
    line = json.loads((tmp_path / "back.chat.jsonl").read_text("utf-8"))
    assert line == {**BOOKING, "lapsus": {"format": 1}}


def test_what_came_in_goes_out(tmp_path: Path) -> None:
    """Messages are written as others have them; the key `lapsus` says only what has no place."""
    (document,) = documents(written(tmp_path, OPENAI))
    there_and_back(tmp_path, document)
    line = json.loads((tmp_path / "back.chat.jsonl").read_text("utf-8"))
    hello = {"role": "user", "content": "Hello, who are you?", "time": "1970-01-01T00:00:17+00:00"}
    first, _, last = OPENAI["messages"]
    told = {"language": "en", "messages": [first, hello, last], "system": "parrot-2", "lapsus": {"format": 1}}
    assert line == {**OPENAI, **told}


AWKWARD = Document(
    "x/y",
    (
        Segment(
            "seven",
            "system",
            "",
            None,
            {"role": "odd", "content": "odd", "lapsus": 1, "from": "f", "value": 2},
        ),
        Segment("1", "tool", "neither call nor result"),
        Segment("0", "prompt", "unknown role", None, {"role": "narrator"}),
        Segment("3", "passage", "role of another kind", None, {"role": 5}),
        Segment("4", "tool", "capitals", None, {"role": "Tool"}),
        Segment("4.1", "tool", "f", None, {"kind": "call", "name": "g"}),
        Segment("4.2", "tool", "g(1)", None, {"kind": "call", "name": "g", "cost": 2}),
        Segment("5", "user", "=1+1\u2028\u0085\0 👩‍👩‍👧‍👦", None, {"content": ["not", "the", "text"]}),
        Segment("6", "user", "[image]", None, {"content": [{"type": "image"}]}),
        Segment("7", "user", "[audio]", None, {"content": [{"type": "image"}]}),
    ),
    None,
    {
        "id": "z",
        "language": "ja",
        "messages": [],
        "lapsus": {},
        "conversations": [],
        "model": "m",
        "conversation_id": 1,
    },
)


def test_awkward_documents_come_back(tmp_path: Path) -> None:
    empty = Document("empty", ())
    assert there_and_back(tmp_path, AWKWARD, empty) == [AWKWARD, empty]
    assert read(tmp_path / "back.chat.jsonl").format.name == "chat"


def test_nothing_is_guessed_in_a_file_of_ours(tmp_path: Path) -> None:
    document = Document("d", (Segment("0", "user", "こんにちは"),), None, {"model": "m"})
    assert there_and_back(tmp_path, document) == [document]


def test_json_files_hold_one_conversation_or_a_list(tmp_path: Path) -> None:
    turn = {"messages": [{"role": "user", "content": "x"}]}
    assert [d.id for d in documents(written(tmp_path, turn, name="a.json"))] == ["a-1"]
    path = written(tmp_path, [turn, turn], name="b.json")
    assert [d.id for d in documents(path)] == ["b-1", "b-2"]
    assert recognise(Source(path)).name == "chat"


def test_a_single_json_object_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_OBJECT", 20)
    assert "is it a file of lines" in error_of(written(tmp_path, OPENAI, name="a.json"))
    assert len(documents(written(tmp_path, [OPENAI], name="b.json"))) == 1


def test_bad_items_of_a_list_are_named(tmp_path: Path) -> None:
    path = written(tmp_path, [OPENAI, {"messages": [3]}], name="a.json")
    assert "a.json, record 2, message 1: not a JSON object" in error_of(path)
    path.write_text('{"messages": []}\n{"messages": []}\n')
    assert "an object a line must be named .jsonl" in error_of(path)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("{", "log.jsonl, line 1: not sound JSON:"),
        ("[1]", "log.jsonl, line 1: is "),
        ('{"messages": "x"}', "log.jsonl, line 1: is "),
        ('{"messages": ["x"]}', "log.jsonl, line 1, message 1: not a JSON object"),
        ('{"messages": [{"content": "x"}]}', "log.jsonl, line 1, message 1: no role"),
        ('{"messages": [{"role": "user"}]}', "log.jsonl, line 1, message 1: no text"),
        (
            '{"messages": [{"role": "user", "content": 3}]}',
            "line 1, message 1: its content is neither text nor",
        ),
        (
            '{"messages": [{"role": "pirate", "content": "x"}]}',
            "message 1: unknown role 'pirate' (known: assistant",
        ),
        ('{"messages": [], "lapsus": 3}', "line 1: the key 'lapsus' is not as Lapsus writes it"),
        ('{"messages": [], "lapsus": {"format": 2}}', "line 1: written by a newer Lapsus (format 2"),
        ('{"messages": [], "lapsus": {"format": 1}, "language": 3}', "line 1: the language must be a text"),
        ("[" * 100_000, "line 1: is nested too deeply"),
        ('{"messages": [], "x": ' + "[" * 700 + "]" * 700 + "}", "line 1: is nested too deeply"),
    ],
)
def test_bad_lines_are_named(tmp_path: Path, line: str, expected: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(line + "\n", "utf-8")
    assert expected in error_of(path)


def test_two_messages_with_one_id_are_named(tmp_path: Path) -> None:
    line = {
        "messages": OPENAI["messages"],
        "lapsus": {"format": 1, "turns": {"0": [{"id": "2", "role": "user", "text": "x"}]}},
    }
    assert "line 1, document 'log-1': two segments have the id '2'" in error_of(written(tmp_path, line))


@pytest.mark.parametrize(
    "line",
    [
        {"lapsus": 1},
        {"dialogue_history": [], "messages": "x"},
        {"messages": [{"text": "x"}]},
        {"messages": [3]},
        {"conversations": {"from": "human"}},
        {"text": 'says "messages"'},
        ["messages"],
    ],
)
def test_other_files_are_not_recognised(tmp_path: Path, line: Any) -> None:
    assert not Chat().recognises(Source(written(tmp_path, line)))
    assert not Chat().recognises(Source(written(tmp_path, line, name="x.json")))


@pytest.mark.parametrize(
    ("first", "said"),
    [
        ('{"messages": [{"role": "pirate", "content": "x"}]}', "line 1, .*unknown role 'pirate'"),
        ('{"messages": [{"role": "user", "content": NaN}]}', "line 1: not sound JSON"),
        ('{"messages": [{"role": "user"}]}', "line 1"),
        ('{"messages": [', "line 1: not sound JSON"),
    ],
)
def test_what_is_wrong_with_the_first_line_is_said(tmp_path: Path, first: str, said: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(f"{first}\n{json.dumps(OPENAI)}\n")
    with pytest.raises(InputError, match=said):
        list(read(path))


def test_a_first_conversation_without_turns_is_one(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(f'{{"messages": []}}\n{json.dumps(OPENAI)}\n')
    assert [len(entry.document.segments) > 0 for entry in read(path) if entry.document] == [False, True]


@pytest.mark.parametrize("name", ["LOG.JSONL", "log.ndjson", "Log.Json"])
def test_endings_in_any_case_are_read(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(json.dumps(OPENAI))
    (entry,) = read(tmp_path)
    assert entry.document is not None


def test_files_of_one_name_are_told_apart_by_their_folder(tmp_path: Path) -> None:
    line = json.dumps({"messages": [{"role": "user", "content": "x"}]})
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "log.jsonl").write_text(line)
    (tmp_path / "other.jsonl").write_text(line)
    ids = [entry.id for entry in read(tmp_path)]
    assert ids == ["other-1", f"{tmp_path.name}/a/log-1", f"{tmp_path.name}/b/log-1"]


def test_ids_that_come_twice_are_told_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(json.dumps({"id": name, "messages": []}) for name in ("a", "b", "a")))
    with pytest.raises(InputError, match=r"a \(x.jsonl, line 1; x.jsonl, line 3\)"):
        list(read(path))


def test_others_spellings_are_recognised_by_chat_alone(tmp_path: Path) -> None:
    for line in (OPENAI, {"conversations": [{"from": "human", "value": "x"}]}):
        path = written(tmp_path, line)
        assert [kind.name for kind in FORMATS if kind.reads and kind().recognises(Source(path))] == ["chat"]


def test_judgments_are_not_lost_in_silence(tmp_path: Path) -> None:
    document = Document("d", (Segment("0", "system", "x"),))
    judgment = Judgment("d", "0", "ann", "breakdown", "1", {"breakdown": "O"})
    assert [loss.severe for loss in Chat().losses(Entry("d", document, (judgment,)))] == [True]
    assert [loss.severe for loss in Chat().losses(Entry("d", None, (judgment,)))] == [True]
    FORMATS.get("jsonl")().write([Entry("d", document, (judgment,))], tmp_path / "in.jsonl")
    with pytest.raises(LossError):
        convert(read(tmp_path / "in.jsonl"), tmp_path / "out.chat.jsonl")
    done = convert(read(tmp_path / "in.jsonl"), tmp_path / "out.chat.jsonl", lossy=True)
    assert list(done.losses) == [Loss("judgments (a chat holds conversations only)", severe=True)]
    assert documents(tmp_path / "out.chat.jsonl") == [document]


def test_what_is_no_turn_is_a_loss(tmp_path: Path) -> None:
    document = Document("d", (Segment.triple("t", "a", "b", "c"), Segment("text", "text", "x")))
    assert any(loss.severe for loss in Chat().losses(Entry("d", document)))
    assert there_and_back(tmp_path, document) == [Document("d", ())]
