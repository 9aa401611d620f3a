"""Parquet and Arrow: the long table in them, and rows of any such file.

A file of a stranger is looked through in a process of its own before it is read in this one: the library prints a
trace and panics at some damaged files, and a few kilobytes can stand for gigabytes.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final, cast

from lapsus.errors import InputError, UsageError
from lapsus.formats import columnar_process
from lapsus.formats.columnar_process import ROWS
from lapsus.formats.source import Member
from lapsus.formats.table_rows import COLUMNS, DECIMAL, WHOLE, Row, places
from lapsus.notices import Notice

try:
    from arro3.core import Array, DataType, Field, RecordBatch, RecordBatchReader, Schema, Table
    from arro3.io import read_ipc, read_ipc_stream, read_parquet, write_parquet
except ModuleNotFoundError as error:
    raise UsageError(
        "needs",
        hint="pip install 'lapsus-eval[parquet]'",
        purpose=Notice("parquet-and-arrow"),
        package="arro3",
    ) from error

__all__ = [
    "Array",
    "DataType",
    "Field",
    "RecordBatch",
    "RecordBatchReader",
    "Schema",
    "Table",
    "read_ipc",
    "read_ipc_stream",
    "read_parquet",
    "write_parquet",
]


SECONDS: Final = 600
_KEPT: Final = 1000
_sound: OrderedDict[tuple[int, int, int, int], None] = OrderedDict()
"""Files that were found sound, as they were then."""
GROUP = 50_000
"""Rows in a row group."""
WRITTEN = 10_000
"""Rows that are handed on at a time."""
_MAGIC = b"PAR1"
_FILE_MAGIC = b"ARROW1"
_STREAM_START = b"\xff\xff\xff\xff"


def check_columnar(stream: IO[bytes], name: str, kind: str = "Parquet") -> None:
    """Complain of a file that cannot be read through. The stream stands where it stood."""
    found = os.fstat(stream.fileno())
    key = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
    if key in _sound:
        return
    place = os.lseek(stream.fileno(), 0, os.SEEK_CUR)
    try:
        done = subprocess.run(  # noqa: S603  our own words
            [sys.executable, "-I", columnar_process.__file__, *filter(None, sys.path)],
            stdin=stream.fileno(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
        )
        found_wrong = json.loads(done.stdout) if done.stdout else Notice("ends-middle")
    except subprocess.TimeoutExpired:
        found_wrong = Notice("takes-longer", seconds=SECONDS)
    finally:
        # The other process shares the place in the file, and what is buffered here goes by it.
        os.lseek(stream.fileno(), place, os.SEEK_SET)
    if isinstance(found_wrong, dict):
        found_wrong = Notice("rows-unpack-bytes", **found_wrong)
    if found_wrong is not None:
        raise InputError("not-sound-file", where=name, kind=kind, said=found_wrong)
    _sound[key] = None
    while len(_sound) > _KEPT:
        _sound.popitem(last=False)


def _type_of(column: str) -> DataType:
    if column in WHOLE:
        return DataType.int64()
    return DataType.float64() if column in DECIMAL else DataType.string()


SCHEMA = Schema([Field(column, _type_of(column), nullable=True) for column in COLUMNS])


def write_rows(rows: Iterable[Row], path: Path) -> None:
    """Write a file without ever holding all of it."""
    with path.open("xb", buffering=0) as stream:
        target = _Target(stream)
        batches = _Batches(rows, target)
        reader = RecordBatchReader.from_batches(SCHEMA, batches)
        try:
            write_parquet(reader, cast(IO[bytes], target), max_row_group_size=GROUP, compression="zstd(3)")
        except Exception:
            # The library turns errors of ours, such as a loss, into words; here they are themselves again.
            if batches.error is None:
                raise
        if error := target.error or batches.error:
            raise error


class _Target(io.RawIOBase):
    """A file to write to. An error such as a full disk is kept: the library would panic at it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.error: OSError | None = None

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, content: Any) -> int:
        """Write on until something goes wrong."""
        if self.error is None:
            try:
                self._write_all(content)
            except OSError as error:
                self.error = error
        return len(content)

    def _write_all(self, content: Any) -> None:
        left = memoryview(content)
        while left:
            left = left[self.stream.write(left) :]


class _Batches:
    """Rows in bundles, made when they are asked for."""

    def __init__(self, rows: Iterable[Row], target: _Target) -> None:
        self.rows = iter(rows)
        self.target = target
        self.error: BaseException | None = None

    def __iter__(self) -> _Batches:
        return self

    def __next__(self) -> RecordBatch:
        try:
            batch = self._next()
        except BaseException as error:
            self.error = error
            raise
        if batch is None:
            raise StopIteration
        return batch

    def _next(self) -> RecordBatch | None:
        if self.target.error is not None:
            raise self.target.error
        if not (bundle := list(islice(self.rows, WRITTEN))):
            return None
        columns = zip(COLUMNS, zip(*bundle, strict=True), strict=True)
        return RecordBatch.from_arrays([_array(column, cells) for column, cells in columns], schema=SCHEMA)


def _array(column: str, cells: tuple[Any, ...]) -> Array:
    if column == "answer":
        cells = tuple(repr(cell) if isinstance(cell, int | float) else cell for cell in cells)
    elif column in DECIMAL:
        cells = tuple(None if cell is None else float(cell) for cell in cells)
    return Array(cells, type=_type_of(column))


@contextmanager
def opened(member: Member) -> Iterator[IO[bytes]]:
    """A member to jump about in, as Parquet needs it. In a zip one cannot, so it is copied out first."""
    with member.open() as stream:
        if stream.seekable():
            yield stream
            return
        with tempfile.TemporaryFile() as copy:
            shutil.copyfileobj(stream, copy)
            copy.seek(0)
            yield copy


def column_names(stream: IO[bytes], name: str) -> list[str]:
    """The names of a file's columns."""
    return list(open_parquet(stream, name).schema.names)


def read_rows(stream: IO[bytes], name: str) -> Iterator[tuple[str, Row]]:
    """The rows of a file, each with its place."""
    reader = open_parquet(stream, name)
    standing = places(list(reader.schema.names), name)
    for column in reader.schema.names:
        if DataType.is_nested(reader.schema.field(column).type):
            raise InputError("column-holds-lists-like", where=name, column=column)
    number = 0
    while True:
        with damage_named(name):
            batch = next(reader, None)
            if batch is None:
                return
            columns = [_cells(batch, place) for place in standing]
        for cells in zip(*columns, strict=True):
            number += 1
            yield f"{name}, row {number}", Row._make(cells)


def _cells(batch: RecordBatch, place: int | None) -> list[Any]:
    if place is None:
        return [None] * batch.num_rows
    cells: Any = batch.column(place).to_pylist()  # a list, whatever its stub says
    # Not a number is what pandas has for an empty cell.
    return [None if isinstance(cell, float) and cell != cell else cell for cell in cells]


def open_parquet(stream: IO[bytes], name: str) -> RecordBatchReader:
    """The bundles of a Parquet file; an error where it is none."""
    _check_ends(stream, name)
    check_columnar(stream, name)
    with damage_named(name):
        return read_parquet(stream, batch_size=ROWS)


def _check_ends(stream: IO[bytes], name: str) -> None:
    """Catch what is no Parquet file, or cut off, before the library does, which prints a trace."""
    start = stream.read(len(_MAGIC))
    size = stream.seek(0, 2)
    stream.seek(max(size - 8, 0))
    end = stream.read(8)
    stream.seek(0)
    footer = int.from_bytes(end[:4], "little")
    if start != _MAGIC or end[4:] != _MAGIC or not 0 < footer <= size - 12:
        raise InputError("not-parquet-file-one", where=name)


@contextmanager
def damage_named(name: str, kind: str = "Parquet") -> Iterator[None]:
    """Turn what the library raises over damaged files, panics too, into an error that names the file."""
    try:
        yield
    except BaseException as error:
        # The library panics at some damaged files; its panics are no ordinary exceptions.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError("not-sound-file", where=name, kind=kind, said=reason) from error


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
