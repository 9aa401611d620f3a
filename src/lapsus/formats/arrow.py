"""Rows of Parquet and Arrow files of any schema, a bundle at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from lapsus.errors import InputError
from lapsus.formats.arrow_library import RecordBatchReader, read_ipc, read_ipc_stream
from lapsus.formats.columnar_check import check_columnar
from lapsus.formats.source import Member
from lapsus.formats.table_parquet import damage_named, open_parquet, opened

_FILE_MAGIC = b"ARROW1"
_STREAM_START = b"\xff\xff\xff\xff"


def arrow_rows(member: Member) -> Iterator[dict[str, Any]]:
    """The rows as plain Python values; lists and structures inside cells stay lists and dicts."""
    with opened(member) as stream:
        reader = _reader(stream, member)
        names = list(reader.schema.names)
        while True:
            with damage_named(member.name):
                batch = next(reader, None)
                if batch is None:
                    return
                columns: list[Any] = [batch.column(place).to_pylist() for place in range(len(names))]
            for cells in zip(*columns, strict=True):
                yield dict(zip(names, cells, strict=True))


def _reader(stream: IO[bytes], member: Member) -> RecordBatchReader:
    if member.name.lower().endswith(".parquet"):
        return open_parquet(stream, member.name)
    start = stream.read(len(_FILE_MAGIC))
    stream.seek(0)
    if not start:
        raise InputError("empty", where=member.name)
    if start != _FILE_MAGIC and not start.startswith(_STREAM_START):
        raise InputError("not-arrow-file", where=member.name)
    check_columnar(stream, member.name, "Arrow")
    with damage_named(member.name, "Arrow"):
        return read_ipc(stream) if start == _FILE_MAGIC else read_ipc_stream(stream)
