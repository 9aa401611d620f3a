"""Parquet: columns with types, files of others, and damage that is told without a trace."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from arro3.core import Array, DataType, Field, RecordBatch, Schema, Table
from arro3.io import read_parquet, write_parquet

from lapsus.errors import InputError
from lapsus.formats import ReadOptions, Source, convert, read
from lapsus.formats.table import ParquetTable
from lapsus.formats.table_rows import COLUMNS
from lapsus.model import Entry, Judgment
from tests.formats.test_table import JUDGMENTS, judgment, there_and_back
from tests.patience import LONG


def test_parquet_columns_have_types(tmp_path: Path) -> None:
    there_and_back(ParquetTable, tmp_path, judgment({"q": 1}))
    schema = read_parquet(tmp_path / "table.parquet").schema
    assert list(schema.names) == list(COLUMNS)
    types = {name: schema.field(name).type for name in COLUMNS}
    assert {name for name, kind in types.items() if kind == DataType.int64()} == {
        "revision",
        "span_start",
        "span_end",
    }
    assert {name for name, kind in types.items() if kind == DataType.float64()} == {"seconds"}
    assert sum(kind == DataType.string() for kind in types.values()) == len(COLUMNS) - 4


def test_a_disk_that_fills_up_while_a_table_is_written_is_an_error_in_words(tmp_path: Path) -> None:
    entries = [Entry("d", None, tuple(judgment({"q": 1}, annotator=f"a{n}") for n in range(30_000)))]
    program = (
        "import resource, sys; from lapsus.cli import main; "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)); main()"
    )
    convert(entries, tmp_path / "long.jsonl")
    arguments = ["convert", str(tmp_path / "long.jsonl"), str(tmp_path / "out.parquet")]
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=LONG, check=False
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "error: File too large"
    assert "panicked" not in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["long.jsonl"]


def foreign_parquet(path: Path, **columns: Array) -> Path:
    texts = {
        "document": "d",
        "segment": "1",
        "scheme": "mine",
        "version": "1",
        "annotator": "ann",
        "question": "q",
    }
    known = {name: Array([text], type=DataType.string()) for name, text in texts.items()}
    known |= {
        "kind": Array(["label"], type=DataType.string()),
        "answer": Array(["O"], type=DataType.string()),
    }
    known |= columns
    schema = Schema([Field(name, array.type, nullable=True) for name, array in known.items()])
    write_parquet(Table.from_batches([RecordBatch.from_arrays(list(known.values()), schema=schema)]), path)
    return path


def read_parquet_table(path: Path) -> list[Judgment]:
    return [j for entry in ParquetTable().read(Source(path), ReadOptions()) for j in entry.judgments]


def test_parquet_as_others_write_it(tmp_path: Path) -> None:
    text = DataType.string()
    moment = Array([1_700_000_000_000_000], type=DataType.int64()).cast(DataType.timestamp("us", tz="UTC"))
    path = foreign_parquet(
        tmp_path / "x.parquet",
        document=Array([5], type=DataType.int64()),
        answer=Array(["O"], type=text).cast(DataType.dictionary(DataType.int32(), text)),
        annotator=Array(["ann"], type=text).cast(DataType.large_string()),
        scheme=Array(["mine"], type=text).cast(DataType.string_view()),
        revision=Array([2.0], type=DataType.float64()),
        span_start=Array([float("nan")], type=DataType.float64()),
        at=moment,
    )
    at = datetime.fromtimestamp(1_700_000_000, UTC)
    assert read_parquet_table(path) == [judgment({"q": "O"}, document="5", revision=2, at=at)]


def test_parquet_of_other_kinds_is_refused(tmp_path: Path) -> None:
    binary = foreign_parquet(tmp_path / "a.parquet", answer=Array([b"O"], type=DataType.binary()))
    with pytest.raises(InputError, match=r"a\.parquet, row 1: 'answer' must be a text"):
        read_parquet_table(binary)
    answers = RecordBatch.from_pydict({"x": Array(["O"], type=DataType.string())}).to_struct_array()
    nested = foreign_parquet(tmp_path / "b.parquet", answer=answers)
    with pytest.raises(InputError, match=r"b\.parquet: column 'answer' holds lists"):
        read_parquet_table(nested)
    further = foreign_parquet(tmp_path / "c.parquet", mood=Array([1], type=DataType.int64()))
    with pytest.raises(InputError, match=r"c\.parquet: unknown column 'mood'"):
        read_parquet_table(further)


def test_damaged_parquet_is_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    there_and_back(ParquetTable, tmp_path, JUDGMENTS[0])
    whole = (tmp_path / "table.parquet").read_bytes()
    path = tmp_path / "x.parquet"
    for content in (b"", b"PAR1", b"PAR1PAR1", whole[:-9], whole[5:], whole[:-8] + b"\xff\xff\xff\x7fPAR1"):
        path.write_bytes(content)
        assert not ParquetTable().recognises(Source(path))
        with pytest.raises(InputError, match=r"x\.parquet: not a Parquet file, or one that is cut off"):
            read_parquet_table(path)
    assert capfd.readouterr().err == ""


def test_no_damage_ends_in_anything_but_our_error(tmp_path: Path) -> None:
    there_and_back(ParquetTable, tmp_path, JUDGMENTS[0])
    whole = (tmp_path / "table.parquet").read_bytes()
    path = tmp_path / "x.parquet"
    refused = 0
    for at in range(4, len(whole) - 8, 97):
        path.write_bytes(whole[:at] + b"\xff\x00\xff" + whole[at + 3 :])
        try:
            read_parquet_table(path)
        except InputError:
            refused += 1
    assert refused > 10


def test_parquet_in_a_zip(tmp_path: Path) -> None:
    there_and_back(ParquetTable, tmp_path, *JUDGMENTS[:1])
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(tmp_path / "table.parquet", "a/table.parquet")
    reading = read(tmp_path / "x.zip")
    assert [entry.judgments for entry in reading] == [(JUDGMENTS[0],)]
    assert reading.format.name == "parquet"
