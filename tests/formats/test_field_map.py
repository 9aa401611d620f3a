"""Chats whose keys or columns have names of their own: told by a map, or where the names leave no doubt."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pandas
import pytest

from lapsus.errors import InputError
from lapsus.formats import read
from lapsus.formats.field_map import FieldMap, field_map
from tests.formats.chat_files import ASKED, MESSAGES, PLAIN, REPLY, opened, put, talk


def test_a_table_with_a_turn_a_row_under_any_names(tmp_path: Path) -> None:
    path = tmp_path / "tickets.csv"
    path.write_text(
        f"ticket,sender,body\nA,customer,{ASKED}\nA,agent,{REPLY}\nB,customer,Hi\nB,agent,Hello\n"
    )
    reading = read(path)
    documents = [entry.document for entry in reading if entry.document]
    assert [(one.id, talk(one)) for one in documents] == [
        ("A", PLAIN),
        ("B", [("user", "Hi"), ("system", "Hello")]),
    ]
    assert str(reading.options.map) == "--map text=body,speaker=sender,dialogue=ticket"


ROWS = [
    {"ticket": 1, "who": "Mary", "note": {"body": ASKED}, "at": 5},
    {"ticket": 2, "who": "Mary", "note": {"body": "Hi"}, "at": 6},
    {"ticket": 1, "who": "Robi", "note": {"body": REPLY}, "at": 7},
]
MAP = {
    "text": "note.body",
    "speaker": "who",
    "dialogue": "ticket",
    "time": "at",
    "system": "robi",
    "user": ["Mary"],
}


def test_a_map_says_how_records_are_read(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", *ROWS)
    for data in (path, ROWS):
        first, second = [entry.document for entry in read(data, map=MAP) if entry.document]
        assert (first.id, talk(first)) == ("1", PLAIN)
        assert (second.id, talk(second)) == ("2", [("user", "Hi")])
    assert ROWS[0]["note"] == {"body": ASKED}


def test_a_map_of_a_prompt_and_a_reply_or_of_messages() -> None:
    (pair,) = read([{"q": ASKED, "a": REPLY, "n": 1}], map="prompt=q,reply=a")
    assert pair.document is not None
    assert (talk(pair.document), pair.document.metadata) == (PLAIN, {"n": 1})
    log = {"log": [{"who": "me", "t": ASKED}, {"who": "bot", "t": REPLY}]}
    (whole,) = read([log], map={"messages": "log", "speaker": "who", "text": "t", "user": "me"})
    assert whole.document is not None
    assert talk(whole.document) == PLAIN


def test_an_unknown_shape_ends_with_its_keys_and_a_map_that_would_do(tmp_path: Path) -> None:
    path = put(
        tmp_path / "x.jsonl", *({"ticket": n // 2, "sender": f"p{n % 2}", "body": "x" * n} for n in range(6))
    )
    with pytest.raises(InputError) as caught:
        read(path)
    assert caught.value.what == "is of no known shape; the keys seen: ticket, sender, body"
    assert "--map text=body,speaker=sender,dialogue=ticket" in str(caught.value.hint)


@pytest.mark.parametrize(
    "known",
    [
        FieldMap(text="発話", speaker="話者", system=("Care Bot",), user=("O'Neil", "guest")),
        FieldMap(prompt="Customer's message", reply="a'; echo broken #", dialogue="$(id)"),
        FieldMap(text="*", speaker="~who", system=("`id`",)),
    ],
)
def test_a_map_is_printed_as_a_shell_takes_it(known: FieldMap) -> None:
    words = subprocess.run(
        ["sh", "-c", f'printf "%s\\n" {known}'], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    given = dict(zip(words[::2], words[1::2], strict=True))
    assert field_map(given.get("--map"), given.get("--system"), given.get("--user")) == known


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        (
            "turns.csv",
            "対話ID,発話番号,話者,発話\n1,1,ユーザー,何泊？\n1,2,システム,三泊です。\n2,1,ユーザー,何泊？\n2,2,システム,三泊です。\n",
            "--map text=発話,speaker=話者,dialogue=対話ID",
        ),
        (
            "pairs.tsv",
            "Ticket\tCustomer message\tBot reply\nT1\t何泊？\t三泊です。\nT2\t何泊？\t三泊です。\n",
            "--map 'dialogue=Ticket,prompt=Customer message,reply=Bot reply'",
        ),
        ("pairs.csv", "質問,回答\n何泊？,三泊です。\n何泊？,三泊です。\n", "--map prompt=質問,reply=回答"),
    ],
)
def test_a_table_whose_columns_leave_no_doubt_opens_alone_and_in_a_folder(
    tmp_path: Path, name: str, text: str, told: str
) -> None:
    expected = [("user", "何泊？"), ("system", "三泊です。")]
    folder = tmp_path / "mixed"
    folder.mkdir()
    (folder / name).write_text(text, "utf-8")
    reading = read(folder / name)
    assert [talk(entry.document) for entry in reading if entry.document] == [expected] * 2
    assert str(reading.options.map) == told
    put(folder / "a.jsonl", {"messages": MESSAGES})
    (folder / "README.md").write_text("# Notes: these are logs\n", "utf-8")
    documents, _ = opened(folder)
    assert sorted(map(len, map(talk, documents))) == [2, 2, 2]
    assert expected in map(talk, documents)


def test_exchanges_of_one_conversation_are_one_talk(tmp_path: Path) -> None:
    path = tmp_path / "exchanges.csv"
    path.write_text(
        "conversation_id,Customer message,Bot reply,shop,score\n"
        "c1,How many nights?,Three nights.,Kyoto,1\nc2,Hello,Good morning.,Nara,2\n"
        "c1,And a bike?,No bikes.,Kyoto,3\n",
        "utf-8",
    )
    reading = read(path)
    first, second = [entry.document for entry in reading if entry.document]
    assert (first.id, second.id) == ("c1", "c2")
    assert talk(first) == [*PLAIN, ("user", "And a bike?"), ("system", "No bikes.")]
    assert [segment.id for segment in first.segments] == ["0", "1", "2", "3"]
    assert first.metadata == {"shop": "Kyoto"}
    assert [dict(segment.metadata) for segment in first.segments] == [{"score": one} for one in "1133"]
    assert (talk(second)[1], second.metadata) == (("system", "Good morning."), {"shop": "Nara", "score": "2"})


@pytest.mark.parametrize(
    ("record", "keys", "suggested"),
    [
        (
            {"ticket": 9, "items": [{"sender": "agent", "body": REPLY}]},
            "ticket, items[].sender, items[].body",
            "--map text=body,speaker=sender,dialogue=ticket,messages=items",
        ),
        ({"in": {"q": ASKED}, "out": {"resp": REPLY}}, "in.q, out.resp", "--map prompt=in.q,reply=out.resp"),
        ({"ticket": 9, "sender": "kim", "body": REPLY}, "ticket, sender, body", "text=body,speaker=sender"),
    ],
)
def test_the_keys_of_what_is_nested_are_seen(tmp_path: Path, record: Any, keys: str, suggested: str) -> None:
    with pytest.raises(InputError) as caught:
        list(read(put(tmp_path / "x.jsonl", record)))
    assert caught.value.what == f"is of no known shape; the keys seen: {keys}"
    assert suggested in str(caught.value.hint)


def test_a_map_reaches_messages_in_a_list_of_any_name() -> None:
    record = {"ticket": 9, "items": [{"sender": "me", "body": ASKED}, {"sender": "robi", "body": REPLY}]}
    names = {"system": "robi", "user": "me"}
    (entry,) = read([record], map={"text": "body", "speaker": "sender", "dialogue": "ticket", **names})
    assert entry.document is not None
    assert (entry.id, talk(entry.document), entry.document.metadata) == ("9", PLAIN, {})


def test_python_takes_records_lists_of_messages_and_splits() -> None:
    class Split(list[Any]):
        column_names = ("messages",)

    given = {"messages": list(MESSAGES)}
    for data in ([given], given, [MESSAGES], {"train": Split([given])}):
        (document,), _ = opened(data)
        assert talk(document) == PLAIN
    assert given == {"messages": MESSAGES}


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (
            [{"Customer message": ASKED, "Bot reply": REPLY}],
            "--map 'prompt=Customer message,reply=Bot reply'",
        ),
        (
            [
                {"ticket": number, "sender": sender, "body": text}
                for number in (1, 2)
                for sender, text in (("customer", ASKED), ("agent", REPLY))
            ],
            "--map text=body,speaker=sender,dialogue=ticket",
        ),
    ],
)
def test_records_in_memory_whose_keys_leave_no_doubt(rows: list[dict[str, Any]], told: str) -> None:
    for data in (rows, pandas.DataFrame(rows)):
        reading = read(data)
        assert {tuple(talk(entry.document)) for entry in reading if entry.document} == {tuple(PLAIN)}
        assert str(reading.options.map) == told


def test_a_frame_of_questions_and_answers_is_no_table_of_judgments() -> None:
    (document,), _ = opened(pandas.DataFrame({"question": [ASKED], "answer": [REPLY]}))
    assert talk(document) == PLAIN


CHATS = [{"id": "a", "messages": MESSAGES}, {"id": "b", "messages": MESSAGES}]
TICKETS = [
    {"ticket": name, "sender": who, "body": said}
    for name in ("a", "b")
    for who, said in (("customer", ASKED), ("agent", REPLY))
]


@pytest.mark.parametrize(
    ("value", "ids"),
    [
        ({"export": {"version": 2, "data": {"count": 2, "chats": CHATS}}}, ["a", "b"]),
        ({"export": {"data": {"rows": TICKETS}}}, ["a", "b"]),
        ({"data": {"chats": [MESSAGES, MESSAGES]}}, ["x-1", "x-2"]),
        ({"a": MESSAGES, "b": MESSAGES}, ["a", "b"]),
        ({"a": MESSAGES}, ["a"]),
        ({"export": {"chats": {"a": MESSAGES, "b": MESSAGES}}}, ["a", "b"]),
        ({"a": {"messages": MESSAGES}, "b": {"messages": MESSAGES}}, ["a", "b"]),
    ],
)
def test_talks_further_in_and_by_their_ids(tmp_path: Path, value: Any, ids: list[str]) -> None:
    documents, _ = opened(put(tmp_path / "x.json", value))
    assert [document.id for document in documents] == ids
    assert [talk(document) for document in documents] == [PLAIN] * len(ids)


def test_the_map_that_is_suggested_for_talks_by_their_ids_does(tmp_path: Path) -> None:
    turns = [{"who": "guest", "said": ASKED}, {"who": "desk", "said": REPLY}]
    path = put(tmp_path / "x.json", {"a": turns, "b": turns})
    with pytest.raises(InputError, match="--map text=said,speaker=who,dialogue=dialogue,messages=messages"):
        opened(path)
    said = field_map("text=said,speaker=who,dialogue=dialogue,messages=messages", "desk", "guest")
    documents = [entry.document for entry in read(path, map=said) if entry.document]
    assert [document.id for document in documents] == ["a", "b"]
    assert [talk(document) for document in documents] == [PLAIN, PLAIN]


def test_of_two_lists_further_in_none_is_chosen(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is of no known shape"):
        opened(put(tmp_path / "x.json", {"export": {"old": {"chats": CHATS}, "new": {"chats": CHATS}}}))


@pytest.mark.parametrize(
    ("asking", "answering"), [("End user", "AI agent"), ("USER", "SYSTEM"), ("user_1", "bot_2")]
)
def test_speakers_are_known_by_a_word_of_their_names(tmp_path: Path, asking: str, answering: str) -> None:
    rows = [(asking, ASKED), (answering, REPLY)]
    table = tmp_path / "odd.csv"
    table.write_text(
        "Ticket;Author;Said\n" + "".join(f"7;{who};{said}\n" for who, said in rows), encoding="utf-8"
    )
    lines = put(
        tmp_path / "odd.jsonl", *({"session": 7, "who": who, "utterance": said} for who, said in rows)
    )
    for file in (table, lines):
        (entry,) = read(file)
        assert entry.document is not None
        assert talk(entry.document) == PLAIN


@pytest.mark.parametrize(
    ("names", "sides"),
    [
        (("U1", "B0CAREBOT"), "--system B0CAREBOT --user U1"),
        (("visitor", "Robi"), "--system Robi"),
        (("Mary", "agent"), "--user Mary"),
        (("Help Bot", "Bo Lee"), "--user 'Bo Lee'"),
    ],
)
def test_the_map_that_an_unknown_shape_prints_opens_it(
    tmp_path: Path, names: tuple[str, str], sides: str
) -> None:
    rows = [{"convId": n // 4, "who": names[n % 2], "txt": f"words {n}"} for n in range(8)]
    path = put(tmp_path / "x.jsonl", *rows)
    with pytest.raises(InputError) as caught:
        read(path)
    printed = re.search(r"(--map .*?) \(", str(caught.value.hint))
    assert printed is not None
    words = shlex.split(printed[1])
    given = dict(zip(words[::2], words[1::2], strict=True))
    assert printed[1] == f"--map text=txt,speaker=who,dialogue=convId {sides}"
    known = field_map(given["--map"], given.get("--system"), given.get("--user"))
    documents = [entry.document for entry in read(path, map=known) if entry.document]
    assert [len(talk(one)) for one in documents] == [4, 4]
    assert {role for one in documents for role, _ in talk(one)} == {"user", "system"}


def test_an_unknown_role_is_told_with_the_names_that_come_close_and_what_to_give() -> None:
    with pytest.raises(InputError) as caught:
        list(read([{"t": ASKED, "who": "custmer", "d": 1}], map="text=t,speaker=who,dialogue=d"))
    assert str(caught.value.hint) == (
        "known: customer, user and others; name it with --system custmer if its turns are judged, "
        "else with --user custmer"
    )
