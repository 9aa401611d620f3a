"""The long table: which rows there are, and that every judgment comes back from them exactly."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from arro3.core import Array, DataType, RecordBatch
from arro3.io import write_parquet
from hypothesis import given, settings
from hypothesis import strategies as st

from lapsus.errors import InputError, LossError
from lapsus.formats import FORMATS, Format, ReadOptions, Source, convert, read
from lapsus.formats import columnar as module
from lapsus.formats.table import CsvTable, ParquetTable
from lapsus.formats.table_rows import COLUMNS
from lapsus.model import Document, Entry, Judgment, Segment, Span

BOTH = [CsvTable, ParquetTable]
HEADER = "document,segment,scheme,version,annotator,question,kind,answer"


def judgment(answers: dict[str, Any] | None = None, **other: Any) -> Judgment:
    known = {
        "document": "d",
        "segment": "1",
        "annotator": "ann",
        "scheme": "mine",
        "version": "1",
        "answers": answers or {},
    }
    return Judgment(**{**known, **other})


def there_and_back(kind: type[Format], folder: Path, *judgments: Judgment) -> list[Judgment]:
    path = folder / f"table{kind.suffix}"
    kind().write([Entry(j.document, None, (j,)) for j in judgments], path)
    return [j for entry in kind().read(Source(path), ReadOptions()) for j in entry.judgments]


def rows_of(folder: Path, *entries: Entry) -> list[dict[str, str]]:
    path = folder / "rows.csv"
    CsvTable().write(entries, path)
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def read_csv(folder: Path, content: str) -> list[Judgment]:
    path = folder / "x.csv"
    path.write_bytes(content.encode())
    return [j for entry in CsvTable().read(Source(path), ReadOptions()) for j in entry.judgments]


def error_of(folder: Path, content: str) -> str:
    with pytest.raises(InputError) as caught:
        read_csv(folder, content)
    return str(caught.value)


SPANS = (Span("text", 0, 3, "addition"), Span("t0", 4, 9, "omission", "a"), Span("=s", 1, 2, "", "-b"))
JUDGMENTS = [
    judgment({"q": "O"}),
    judgment({"q": ""}),
    judgment({"q": "-3", "r": "'=x", "s": "NULL", "t": "a\r\nb\0"}),
    judgment({"q": 3}),
    judgment({"q": -3}),
    judgment({"q": 3.0}),
    judgment({"q": 1e300, "r": -0.1, "s": 2**70}),
    judgment({"q": "3", "r": "3.0"}),
    judgment({"q": ()}),
    judgment({"q": ("b", "a"), "": ("x",)}),
    judgment({"errors": SPANS}),
    judgment({"errors": ()}, scheme="semantic-errors", segment=None),
    judgment({"q": ("label", *SPANS)}),
    judgment({}),
    judgment({}, distributions={"q": {"O": 1.0}, "": {}}),
    judgment({"q": "O"}, distributions={"q": {"O": 0.1, "=x": 0.9}, "r": {}}),
    judgment({"q": "O"}, distributions={"q": {}}, revision=7, version="", segment=None),
    judgment({"q": "O"}, at=datetime(2024, 2, 29, 12, tzinfo=UTC), seconds=0.1),
    judgment(
        {"q": "O"}, at=datetime(2024, 2, 29, 12, 0, 0, 5, tzinfo=timezone(timedelta(hours=9))), seconds=1e-7
    ),
    judgment({"q": "O"}, at=datetime(2024, 2, 29, 12)),
    judgment({"q": "O", "r": ("a", "b")}, metadata={"a": [1, {"b": None}], "c": "\n"}),
    judgment({"q": "O"}, document="=d", annotator="@ann", scheme="+s", version="-1", segment="'-1"),
]


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("given", JUDGMENTS)
def test_every_judgment_comes_back(kind: type[Format], given: Judgment, tmp_path: Path) -> None:
    assert not list(kind().losses(Entry(given.document, None, (given,))))
    (back,) = there_and_back(kind, tmp_path, given)
    assert back == given
    assert [type(answer) for answer in back.answers.values()] == [type(a) for a in given.answers.values()]


@settings(deadline=None)
@pytest.mark.parametrize("kind", BOTH)
@given(st.lists(st.text(st.characters(exclude_categories=("Cs",)), min_size=1), min_size=1, max_size=3))
def test_every_text_comes_back(kind: type[Format], texts: list[str]) -> None:
    given = judgment(
        {"q": texts[0], "r": tuple(texts)}, document=texts[-1], annotator=texts[0], segment=texts[0]
    )
    with tempfile.TemporaryDirectory() as folder:
        assert there_and_back(kind, Path(folder), given) == [given]


def test_rows_are_for_the_eye_too(tmp_path: Path) -> None:
    document = Document("d", (Segment("1", "system", "I am a cat."),), "en", {"system": "S"})
    given = judgment(
        {"errors": (Span("1", 7, 10, "addition"),), "remark": "odd"}, scheme="semantic-errors", seconds=2.5
    )
    first, second = rows_of(tmp_path, Entry("d", document, (given,)))
    assert list(first) == list(COLUMNS)
    assert {key: cell for key, cell in first.items() if cell} == {
        "document": "d",
        "segment": "1",
        "role": "system",
        "text": "I am a cat.",
        "scheme": "semantic-errors",
        "version": "1",
        "annotator": "ann",
        "revision": "1",
        "question": "errors",
        "kind": "spans",
        "answer": "addition",
        "span_segment": "1",
        "span_start": "7",
        "span_end": "10",
        "quote": "cat",
        "seconds": "2.5",
        "system": "S",
    }
    assert (second["question"], second["kind"], second["answer"], second["seconds"]) == (
        "remark",
        "text",
        "odd",
        "2.5",
    )


def test_kinds_come_from_the_scheme_and_else_from_the_answer(tmp_path: Path) -> None:
    answers = {"breakdown": "O", "comment": "hm"}
    known = rows_of(tmp_path, Entry("d", None, (judgment(answers, scheme="breakdown"),)))
    assert [row["kind"] for row in known] == ["label", "text"]
    (tmp_path / "rows.csv").unlink()
    own = rows_of(
        tmp_path, Entry("d", None, (judgment({**answers, "n": 1, "l": ("a",)}, scheme="own.yaml"),))
    )
    assert [row["kind"] for row in own] == ["text", "text", "scale", "labels"]


def test_only_texts_are_defused(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, Entry("d", None, (judgment({"q": -3, "r": "-3", "s": ("=a",)}),)))
    assert [row["answer"] for row in rows] == ["-3", "'-3", "'=a"]


def test_few_columns_will_do(tmp_path: Path) -> None:
    content = f"{HEADER}\nd,,mine,1,ann,q,label,O\nd,,mine,1,ann,r,scale,4\ne,7,mine,1,ann,q,labels,\n"
    assert read_csv(tmp_path, content) == [
        judgment({"q": "O", "r": 4}, segment=None),
        judgment({"q": ()}, document="e", segment="7"),
    ]


def test_rows_of_a_document_may_stand_in_any_order(tmp_path: Path) -> None:
    content = f"{HEADER}\nd,1,mine,1,ann,q,labels,b\nd,1,mine,1,bob,q,label,O\nd,1,mine,1,ann,q,labels,a\n"
    assert read_csv(tmp_path, content) == [judgment({"q": ("b", "a")}), judgment({"q": "O"}, annotator="bob")]


def test_numbers_as_pandas_writes_them(tmp_path: Path) -> None:
    content = f"{HEADER},revision,span_segment,span_start,span_end\nd,1,mine,1,ann,q,spans,x,2.0,s,0.0,4.0\n"
    assert read_csv(tmp_path, content) == [judgment({"q": (Span("s", 0, 4, "x"),)}, revision=2)]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("document,annotator\n", "x.csv, line 1: no column 'segment' (needed are: document"),
        (
            f"{HEADER},sceme\n",
            "line 1: unknown column 'sceme' (take it out, or rename it; did you mean 'scheme'?",
        ),
        (f"{HEADER},kind\n", "line 1: two columns are called 'kind'"),
        (f"{HEADER}\n,1,mine,1,ann,q,label,O\n", "x.csv, line 2: 'document' is empty"),
        (f"{HEADER}\nd,1,mine,1,,q,label,O\n", "x.csv, line 2: 'annotator' is empty"),
        (f"{HEADER}\nd,1,,1,ann,q,label,O\n", "line 2: 'scheme' is empty"),
        (
            f"{HEADER}\nd,1,mine,1,ann,q,lable,O\n",
            "line 2: unknown kind of answer 'lable' (known: label, labels",
        ),
        (f"{HEADER}\nd,1,mine,1,ann,q,,O\n", "line 2: unknown kind of answer ''"),
        (f"{HEADER}\nd,1,mine,1,ann,q,scale,three\n", "line 2: 'answer' must be a number, not 'three'"),
        (f"{HEADER}\nd,1,mine,1,ann,q,scale,nan\n", "line 2: 'answer' must be a number"),
        (f"{HEADER}\nd,1,mine,1,ann,q,scale,1e999\n", "line 2: 'answer' must be a number"),
        (f"{HEADER}\nd,1,mine,1,ann,q,scale,{'9' * 5000}\n", "line 2: 'answer' must be a number"),
        (f"{HEADER}\nd,1,mine,1,ann,q,label,O\nd,1,mine,1,ann,q,label,X\n", "line 3: 'q' is answered twice"),
        (f"{HEADER}\nd,1,mine,1,ann,q,labels,\nd,1,mine,1,ann,q,labels,X\n", "line 3: 'q' is answered twice"),
        (f"{HEADER}\nd,1,mine,1,ann,q,labels,X\nd,1,mine,1,ann,q,labels,\n", "line 3: 'q' is answered twice"),
        (f"{HEADER}\nd,1,mine,1,ann,q,scale,1\nd,1,mine,1,ann,q,labels,X\n", "line 3: 'q' is answered twice"),
        (f"{HEADER}\nd,1,mine,1,ann,q,spans,x\n", "line 2: a span needs both 'span_start' and 'span_end'"),
        (
            f"{HEADER},span_start,span_end\nd,1,mine,1,ann,q,spans,x,4,4\n",
            "line 2: a span must begin before it ends",
        ),
        (
            f"{HEADER},span_start,span_end\nd,1,mine,1,ann,q,spans,x,0,1.5\n",
            "'span_end' must be a whole number",
        ),
        (f"{HEADER},revision\nd,1,mine,1,ann,q,label,x,0\n", "x.csv, line 2: revisions count from 1"),
        (f"{HEADER},at\nd,1,mine,1,ann,q,label,x,31.5.2024\n", "line 2: 'at' must be a time like 2024-"),
        (
            f'{HEADER},seconds\nd,1,mine,1,ann,q,label,x,"1,5"\n',
            "line 2: 'seconds' must be a number, not '1,5'",
        ),
        (f"{HEADER},metadata\nd,1,mine,1,ann,q,label,x,[]\n", "line 2: 'metadata' must be a JSON object"),
        (
            f"{HEADER},metadata\nd,1,mine,1,ann,q,label,x," + '"' + '{""a"":' * 100_000 + '"\n',
            "line 2: JSON that is nested too deeply",
        ),
        (
            f'{HEADER},metadata\nd,1,mine,1,ann,q,label,x,"{{""a"":{"[" * 700}{"]" * 700}}}"\n',
            "line 2: JSON that is nested",
        ),
        (
            f"{HEADER},distribution\nd,1,mine,1,ann,q,label,x,0.5\n",
            "line 2: 'distribution' must be a JSON object",
        ),
        (
            f"{HEADER},seconds\nd,1,mine,1,ann,q,label,x,1\nd,1,mine,1,ann,r,label,x,2\n",
            "line 3: another 'seconds' than in the first row of the same judgment",
        ),
        (
            f"{HEADER},distribution\nd,1,mine,1,ann,q,labels,x,{{}}\nd,1,mine,1,ann,q,labels,y,\n",
            "line 3: another 'distribution' than in the first row that answers 'q'",
        ),
    ],
)
def test_bad_rows_are_named(tmp_path: Path, content: str, expected: str) -> None:
    assert expected in error_of(tmp_path, content)


@pytest.mark.parametrize("kind", BOTH)
def test_losses(kind: type[Format]) -> None:
    def severity(*judgments: Judgment, document: Document | None = None) -> list[bool]:
        return [loss.severe for loss in kind().losses(Entry("d", document, judgments))]

    document = Document("d", (Segment("1", "system", "x"),))
    assert severity(judgment({"q": "O"})) == []
    assert severity(judgment({"q": "O"}), document=document) == [False]
    assert severity(document=document) == [True]
    assert severity(judgment({"q": "O"}), judgment({"q": "X"})) == [True]
    assert severity(judgment({"q": "O"}), judgment({"q": "X"}, revision=2)) == []
    assert severity(judgment({"q": ("",)})) == [True]
    assert severity(judgment({"q": (Span("s", 0, 1, "x", ""),)})) == [True]
    assert severity(judgment({"q": "O"}, segment="")) == [True]


@pytest.mark.parametrize("kind", BOTH)
def test_what_is_left_after_losses_can_be_read(kind: type[Format], tmp_path: Path) -> None:
    given = [
        judgment({"q": "O"}),
        judgment({"q": "X"}),
        judgment({"q": "O"}, segment=""),
        judgment({"q": ("", "a"), "r": ("",)}, segment="2"),
    ]
    kind().write([Entry("d", None, tuple(given))], tmp_path / f"x{kind.suffix}")
    back = [
        j
        for entry in kind().read(Source(tmp_path / f"x{kind.suffix}"), ReadOptions())
        for j in entry.judgments
    ]
    assert back == [given[0], judgment({"q": ("a",), "r": ()}, segment="2")]


@pytest.mark.parametrize("kind", BOTH)
def test_bundles_of_rows_do_not_cut_judgments(
    kind: type[Format], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "WRITTEN", 2)
    monkeypatch.setattr(module, "GROUP", 3)
    monkeypatch.setattr(module, "ROWS", 2)
    given = [judgment({"q": ("a", "b", "c"), "r": number}, document=f"d{number}") for number in range(7)]
    assert there_and_back(kind, tmp_path, *given) == given


@pytest.mark.parametrize("kind", BOTH)
def test_errors_on_the_way_stay_what_they_are(kind: type[Format], tmp_path: Path) -> None:
    def entries() -> Iterator[Entry]:
        yield Entry("d", None, (JUDGMENTS[0],))
        raise LossError("no more")

    with pytest.raises(LossError, match="no more"):
        kind().write(entries(), tmp_path / f"x{kind.suffix}")


@pytest.mark.parametrize("kind", BOTH)
def test_converting_warns_of_documents(kind: type[Format], tmp_path: Path) -> None:
    document = Document("d", (Segment("1", "system", "x"),))
    FORMATS.get("jsonl")().write([Entry("d", document, (JUDGMENTS[0],))], tmp_path / "in.jsonl")
    done = convert(read(tmp_path / "in.jsonl"), tmp_path / f"out{kind.suffix}")
    assert [loss.what for loss in done.losses] == [
        "documents (a table holds judgments; keep the documents as jsonl)"
    ]
    back = read(tmp_path / f"out{kind.suffix}")
    assert ([entry.judgments for entry in back], back.format.name) == ([(JUDGMENTS[0],)], kind.name)


def test_other_files_are_not_recognised(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("conversation,role,text\nc,user,x\n")
    assert not CsvTable().recognises(Source(tmp_path / "x.csv"))
    write_parquet(
        RecordBatch.from_pydict({"text": Array(["x"], type=DataType.string())}), tmp_path / "x.parquet"
    )
    assert not ParquetTable().recognises(Source(tmp_path / "x.parquet"))


def test_rows_of_a_document_must_stand_together(tmp_path: Path) -> None:
    first, second = (Judgment("a", "0", who, "breakdown", "1.0", {"breakdown": "O"}) for who in "xy")
    other = Judgment("b", "0", "x", "breakdown", "1.0", {"breakdown": "O"})
    path = tmp_path / "scattered.csv"
    CsvTable().write(
        [Entry("a", None, (first,)), Entry("b", None, (other,)), Entry("a", None, (second,))], path
    )
    with pytest.raises(InputError, match="do not stand together"):
        list(CsvTable().read(Source(path), ReadOptions()))
