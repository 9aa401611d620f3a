"""Tables in and out of memory: pandas, polars and DuckDB, by Arrow."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pytest

import lapsus
from lapsus.errors import InputError, LapsusError, UsageError
from lapsus.formats.frame import Frame
from lapsus.model import Document, Entry, Judgment, Segment
from lapsus.samples import sample_path


def through(frame: Frame) -> list[Any]:
    """The table as each library holds it."""
    return [
        frame,
        frame.to_pandas(),
        frame.to_polars(),
        frame.to_polars().lazy(),
        duckdb.sql("select * from frame"),
    ]


@pytest.mark.parametrize("sample", ["pairs-en", "dialogues-ja"])
def test_judgments_go_through_every_library(sample: str) -> None:
    entries = list(lapsus.read(sample_path(sample)))
    for table in through(lapsus.to_frame(entries)):
        back = {entry.id: entry.judgments for entry in lapsus.read(table)}
        for entry in entries:
            assert sorted(back[entry.id], key=repr) == sorted(entry.judgments, key=repr)


@pytest.mark.parametrize("sample", ["pairs-en", "dialogues-ja"])
def test_documents_go_through_every_library(sample: str) -> None:
    documents = [entry.document for entry in lapsus.read(sample_path(sample))]
    for table in through(lapsus.to_frame(documents, of="segments")):
        assert [entry.document for entry in lapsus.read(table)] == documents


def test_metadata_and_what_is_not_there_come_back() -> None:
    turns = (Segment("a", "user", ""), Segment("b", "system", "yes 👩‍👩‍👧", None, {"n": 1}))
    document = Document("d", turns, "en", {"split": "dev"})
    (back,) = lapsus.read(Entry("d", document).to_frame("segments").to_pandas())
    assert back.document == document


def test_no_copy_is_made_for_polars_and_duckdb() -> None:
    """Both take the table itself, not only what is made for them."""
    frame = lapsus.to_frame(sample_path("pairs-en"))
    assert pl.DataFrame(frame).shape == (len(frame), len(frame.columns))
    ((counted,),) = duckdb.sql("select count(*) from frame where kind = 'spans'").fetchall()
    assert counted > 0


def test_without_the_extra_frames_are_made_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """And what needs Arrow says how to get it."""
    monkeypatch.setitem(sys.modules, "arro3.core", None)
    monkeypatch.delitem(sys.modules, "lapsus.formats.columnar", raising=False)
    frame = lapsus.to_frame(sample_path("pairs-en"))
    assert frame.to_pandas().shape == frame.to_polars().shape == (len(frame), len(frame.columns))
    with pytest.raises(UsageError, match="Parquet and Arrow needs arro3") as caught:
        frame.__arrow_c_stream__()
    assert caught.value.hint == "pip install 'lapsus-eval[parquet]'"


def test_pandas_keeps_whole_numbers() -> None:
    frame = lapsus.to_frame(sample_path("pairs-en")).to_pandas()
    assert str(frame["span_start"].dtype) == "Int64"
    assert frame["span_start"].isna().any()


def test_an_entry_is_a_frame_of_its_own() -> None:
    entry = next(iter(lapsus.read(sample_path("pairs-en"))))
    assert set(pl.DataFrame(entry.to_frame())["document"]) == {entry.id}
    assert repr(entry.to_frame()).startswith(f"Frame of {len(entry.to_frame())} rows: document, segment")


MESSAGES = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Ho."}]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_chats_with_a_conversation_a_row(make: Any) -> None:
    table = make(
        {"conversation_id": ["c1", "c2"], "model": ["m", None], "conversation": [MESSAGES, MESSAGES]}
    )
    first, second = lapsus.read(table)
    assert first.document is not None
    assert (first.id, first.document.system, first.document.segments[1].text) == ("c1", "m", "Ho.")
    assert second.document is not None
    assert second.document.system is None


def test_chats_with_a_turn_a_row() -> None:
    """Rows of a conversation may stand apart, as after a join."""
    table = pd.DataFrame(
        {
            "session": [7, 8, 7],
            "role": ["user", "user", "assistant"],
            "text": ["Hi.", "Hm", "Ho."],
            "x": [1, None, 2],
        }
    )
    first, second = lapsus.read(table)
    assert (first.id, second.id) == ("7", "8")
    assert first.document is not None
    assert [segment.role for segment in first.document.segments] == ["user", "system"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": [1]}, "is of no known shape; the keys seen: a"),
        (
            {"document": ["d"], "segment": ["1"], "role": ["king"], "text": ["x"]},
            "row 1: unknown role 'king'",
        ),
        ({"document": ["d"], "segment": ["1"], "role": ["triple"], "text": ["a | b"]}, "is no triple"),
        ({"document": [""], "segment": ["1"], "role": ["user"], "text": ["x"]}, "row 1: 'document' is empty"),
        (
            {"document": ["d"], "segment": ["1"], "role": ["user"], "text": ["x"], "metadata": ["{"]},
            "'metadata' must be a JSON object",
        ),
        ({"session": ["", ""], "role": ["user"] * 2, "text": ["x"] * 2}, "row 1: names no conversation"),
        ({"session": ["a"], "role": ["king"], "text": ["x"]}, "row 1: "),
        ({"conversation": [MESSAGES, "x"]}, "row 2: is of no known shape"),
    ],
)
def test_tables_that_cannot_be_read(columns: dict[str, list[Any]], message: str) -> None:
    with pytest.raises(InputError) as caught:
        list(lapsus.read(pd.DataFrame(columns)))
    assert message in str(caught.value)


def test_what_is_no_table_of_ours() -> None:
    with pytest.raises(UsageError, match="known: judgments, segments"):
        lapsus.to_frame([], of="turns")  # type: ignore[arg-type]


def test_without_the_library_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = lapsus.to_frame(sample_path("pairs-en"))
    monkeypatch.setitem(sys.modules, "pandas", None)
    importlib.invalidate_caches()
    with pytest.raises(LapsusError, match="pip install pandas"):
        frame.to_pandas()


def test_frames_are_what_functions_take() -> None:
    entries = list(lapsus.read(sample_path("dialogues-en")))
    table = lapsus.to_frame(entries).to_polars()
    shown = [str(lapsus.agree(data, scheme="breakdown", bootstrap=None)) for data in (entries, table)]
    first, second = (text.split("fleiss", 1)[1].split() for text in shown)
    assert first == second


def test_a_document_without_judgments_has_no_rows() -> None:
    document = Document("d", (Segment("1", "user", "x"),))
    assert len(lapsus.to_frame(document)) == 0
    judgment = Judgment("d", "1", "a", "breakdown", "1.0", {})
    assert len(Entry("d", document, (judgment,)).to_frame()) == 1
