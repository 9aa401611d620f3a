"""Chats in Parquet and Arrow, whole and damaged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lapsus.errors import InputError
from lapsus.formats import read
from tests.formats.traces.test_traces import documents, talk


def arrow_table() -> Any:
    """Two conversations of two messages."""
    from arro3.core import Array, DataType, Field, Table, list_array, struct_array

    text = DataType.string()
    roles, contents = Array(["user", "assistant"] * 2, text), Array(["Hello?", "Good day!"] * 2, text)
    messages = struct_array([roles, contents], fields=[Field("role", text), Field("content", text)])
    conversations = list_array(Array([0, 2, 4], DataType.int32()), messages)
    return Table({"conversation_id": Array(["a", "b"], text), "conversation": conversations})


def test_chats_in_parquet_and_saved_data_sets(tmp_path: Path) -> None:
    from arro3.io import write_ipc_stream, write_parquet

    write_parquet(arrow_table(), tmp_path / "lmsys.parquet")
    assert [document.id for document in documents(tmp_path / "lmsys.parquet", "chat")] == ["a", "b"]
    saved = tmp_path / "saved"
    saved.mkdir()
    write_ipc_stream(arrow_table(), saved / "data-00000-of-00001.arrow")
    (saved / "state.json").write_text('{"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}')
    (saved / "dataset_info.json").write_text("{}")
    first, _ = documents(saved, "chat")
    assert talk(first) == ["u: Hello?", "s: Good day!"]


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda whole: whole[:-20], "cut off"),
        (lambda whole: whole[:300] + b"?" * 200 + whole[500:], "not a sound Parquet file"),
        (lambda whole: b"", "cut off"),
    ],
)
def test_a_damaged_table_is_not_of_an_unknown_format(
    damage: Callable[[bytes], bytes], said: str, tmp_path: Path
) -> None:
    from arro3.io import write_parquet

    path = tmp_path / "x.parquet"
    write_parquet(arrow_table(), path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(InputError, match=said):
        read(path)


def test_a_table_without_rows_says_so(tmp_path: Path) -> None:
    from arro3.io import write_parquet

    write_parquet(arrow_table().slice(0, 0), tmp_path / "x.parquet")
    with pytest.raises(InputError, match="has no rows"):
        read(tmp_path / "x.parquet")


def test_damaged_arrow_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.arrow"
    path.write_bytes(b"ARROW1\0\0 and nothing that follows")
    with pytest.raises(InputError, match=r"x\.arrow"):
        list(read(path, "chat"))
