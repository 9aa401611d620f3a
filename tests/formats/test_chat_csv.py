"""Chat logs as CSV: whose turn, in which order, and every odd text to the letter."""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lapsus.errors import InputError
from lapsus.formats import FORMATS, ReadOptions, Source, read
from lapsus.formats.chat_csv import ChatCsv
from lapsus.model import Document, Entry, Judgment, Segment


def written(folder: Path, content: str, name: str = "log.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode())
    return path


def documents(path: Path, options: ReadOptions | None = None) -> list[Document]:
    entries = ChatCsv().read(Source(path), options or ReadOptions())
    return [entry.document for entry in entries if entry.document]


def error_of(folder: Path, content: str) -> str:
    with pytest.raises(InputError) as caught:
        documents(written(folder, content))
    return str(caught.value)


def there_and_back(folder: Path, *given: Document) -> list[Document]:
    path = folder / "back.chat.csv"
    ChatCsv().write([Entry(document.id, document) for document in given], path)
    return documents(path)


def test_plain_columns(tmp_path: Path) -> None:
    content = 'conversation,turn,role,text\nc1,1,user,Hello\nc1,2,assistant,"Hi,\nyou"\nc2,1,human,やあ\n'
    assert documents(written(tmp_path, content)) == [
        Document("c1", (Segment("1", "user", "Hello"), Segment("2", "system", "Hi,\nyou")), "en"),
        Document("c2", (Segment("1", "user", "やあ"),), "ja"),
    ]


@pytest.mark.parametrize(
    "header",
    [
        "Conversation_ID;Turn Index;Speaker;Utterance",
        "dialogue;index;from;value",
        "SESSION;POSITION;AUTHOR;MESSAGE",
        "id;turn;role;content",
        "document;turn-index;role;text",
    ],
)
def test_other_names_of_columns(tmp_path: Path, header: str) -> None:
    (document,) = documents(written(tmp_path, f"\ufeff{header}\nc;7;bot;x\n"))
    assert document == Document("c", (Segment("7", "system", "x"),), "en")


def test_the_clearer_name_counts_and_the_other_is_kept(tmp_path: Path) -> None:
    content = "id,conversation_id,role,speaker,text\n17,c,user,Ann,x\n"
    (document,) = documents(written(tmp_path, content))
    assert document == Document("c", (Segment("0", "user", "x", None, {"id": "17", "speaker": "Ann"}),), "en")


def test_further_columns_are_metadata_where_they_say_something(tmp_path: Path) -> None:
    content = "conversation\trole\ttext\tMood\tscore\nc\tuser\tx\thappy\t-3\nc\tbot\ty\t\t2\n"
    (document,) = documents(written(tmp_path, content, "log.tsv"))
    assert [(s.id, s.metadata) for s in document.segments] == [
        ("0", {"Mood": "happy", "score": "-3"}),
        ("1", {"score": "2"}),
    ]


def test_language_and_system(tmp_path: Path) -> None:
    content = "conversation,role,text,language,system\nc,user,x,,\nc,bot,y,fr,parrot\nd,user,z,,\n"
    first, second = documents(written(tmp_path, content), ReadOptions(language="de"))
    assert (first.language, first.metadata) == ("fr", {"system": "parrot"})
    assert (second.language, second.metadata) == ("de", {})


def test_what_stands_behind_the_talk_keeps_its_role(tmp_path: Path) -> None:
    content = "conversation,role,text\nc,system,a\nc,user,b\nc,assistant,c\nc,Tool,d\nc,context,e\n"
    (document,) = documents(written(tmp_path, content))
    assert [(s.role, s.metadata) for s in document.segments] == [
        ("prompt", {}),
        ("user", {}),
        ("system", {}),
        ("tool", {"role": "Tool"}),
        ("passage", {"role": "context"}),
    ]


def test_apostrophes_of_others_are_theirs(tmp_path: Path) -> None:
    (document,) = documents(written(tmp_path, "conversation,role,text\nc,user,'-)\nc,s,=1\n"))
    assert [(s.role, s.text) for s in document.segments] == [("user", "'-)"), ("system", "=1")]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("conversation,text\n", "log.csv, line 1: no column for the role (name it one of: role, speaker"),
        ("role,text\n", "line 1: no column for the conversation"),
        ("conversation,role,text,x,x\n", "line 1: two columns are called 'x'"),
        ("conversation,role,text\nc,pirate,x\n", "log.csv, line 2: unknown role 'pirate' (known: assistant"),
        ("conversation,role,text\n,user,x\n", "line 2: names no conversation"),
        (
            "conversation,role,text\nc,user,x\nd,user,x\nc,bot,x\n",
            "line 4: conversation 'c' had ended before",
        ),
        ("conversation,turn,role,text\nc,,user,x\n", "line 2: names no turn"),
        (
            'conversation,turn,role,text\nc,1,user,"x\ny"\nc,1,bot,y\n',
            "line 4: turn '1' of this conversation comes twice",
        ),
        ("conversation,turn,role,text\nc,10,user,x\nc,9,bot,y\n", "line 3: turn 9 comes after turn 10 (sort"),
        ("conversation,role,text,lang\nc,user,x,en\nc,bot,y,ja\n", "line 3: language 'ja' after 'en'"),
        ("conversation,role,text,system\nc,bot,x,a\nc,bot,y,b\n", "line 3: system 'b' after 'a'"),
        (
            "conversation,role,text\nc,system,x\nc,user,y\nc,system,z\n",
            "line 4: 'system' seems to be the one who talks",
        ),
        (
            "conversation,role,text,lapsus\nc,user,x,{\n",
            "line 2: the column 'lapsus' is not as Lapsus writes it",
        ),
        ("conversation,role,text\nc,user\n", "line 2: 2 cells, but the header has 3"),
    ],
)
def test_bad_rows_are_named(tmp_path: Path, content: str, expected: str) -> None:
    assert expected in error_of(tmp_path, content)


@pytest.mark.parametrize("depth", [700, 100_000])
def test_deep_json_is_refused(tmp_path: Path, depth: int) -> None:
    cell = '{""turn"":{""x"":' + "[" * depth + "]" * depth + "}}"
    message = error_of(tmp_path, f'conversation,role,text,lapsus\nc,user,x,"{cell}"\n')
    assert "line 2: the column 'lapsus' is nested too deeply" in message


def test_documents_are_written_for_spreadsheets(tmp_path: Path) -> None:
    segments = (Segment("0", "user", "-3"), Segment("x", "system", "no", None, {"time": 1}))
    there_and_back(tmp_path, Document("=c", segments, "en", {"system": "@s", "split": "dev"}))
    with (tmp_path / "back.chat.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))
    assert rows == [
        ["conversation", "turn", "role", "text", "language", "system", "lapsus"],
        ["'=c", "0", "user", "'-3", "en", "'@s", '{"document":{"split":"dev"}}'],
        ["'=c", "x", "assistant", "no", "en", "'@s", '{"turn":{"time":1}}'],
    ]


AWKWARD = Document(
    "'=x",
    (
        Segment("9", "system", "'=x", None, {"role": "odd", "lapsus": [], "": "empty"}),
        Segment("1", "passage", "no role known"),
        Segment("=2", "prompt", "unknown role", None, {"role": "narrator"}),
        Segment("3", "prompt", "own word", None, {"role": "system"}),
        Segment("4", "tool", "", None, {"role": "Tool", "kind": "call"}),
        Segment("5", "system", 'a"b\r\nc\rd\ne,f;g\th\0 \u2028\u0085 '),
    ),
    None,
    {"system": 5, "language": "ja", "model": "m"},
)


def test_awkward_documents_come_back(tmp_path: Path) -> None:
    empty_name = Document("y", (Segment("0", "user", "こんにちは"),), None, {"system": ""})
    assert there_and_back(tmp_path, AWKWARD, empty_name) == [AWKWARD, empty_name]


@settings(deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=("Cs",))), min_size=1, max_size=4))
def test_every_text_comes_back(texts: list[str]) -> None:
    segments = tuple(Segment(str(place), "user", text, None, {"x": text}) for place, text in enumerate(texts))
    document = Document("d", segments, None, {"system": texts[0]})
    with tempfile.TemporaryDirectory() as folder:
        assert there_and_back(Path(folder), document) == [document]


@pytest.mark.parametrize(
    "content",
    [
        "id,author,text\n1,user,x\n",
        "document,segment,role,text,scheme,annotator,question\nd,0,system,x,s,a,q\n",
        "text,emotion\nx,joy\n",
        "",
    ],
)
def test_other_tables_are_not_recognised(tmp_path: Path, content: str) -> None:
    assert not ChatCsv().recognises(Source(written(tmp_path, content)))


def test_what_is_wrong_with_the_first_row_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"line 2.*unknown role 'Alice'"):
        list(read(written(tmp_path, "conversation,role,text\nc,Alice,x\n")))
    with pytest.raises(InputError, match="nothing of format 'chat-csv' is in it"):
        list(read(written(tmp_path, "conversation,role,text\n")))


def test_chats_are_recognised_by_this_format_alone(tmp_path: Path) -> None:
    path = written(tmp_path, "Dialogue ID;Speaker;Utterance\nc;U;x\n")
    assert [kind.name for kind in FORMATS if kind.reads and kind().recognises(Source(path))] == ["chat-csv"]


def test_losses(tmp_path: Path) -> None:
    turn = Segment("0", "system", "x")
    judgment = Judgment("d", "0", "ann", "breakdown", "1", {"breakdown": "O"})
    judged = Entry("d", Document("d", (turn,)), (judgment,))
    pair = Entry("d", Document("d", (turn, Segment("text", "text", "x"))))
    empty = Entry("d", Document("d", ()))
    for entry in (judged, pair, empty):
        assert [loss.severe for loss in ChatCsv().losses(entry)] == [True]
    assert not list(ChatCsv().losses(Entry("d", Document("d", (turn,)))))
    assert there_and_back(tmp_path, pair.document or AWKWARD) == [Document("d", (turn,))]
