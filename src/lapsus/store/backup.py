"""The whole database in one file that any database can be restored from: SQLite from PostgreSQL and the other way.

A zip with a line of JSON a row, a file a table, and `backup.json`, which is written last and says how many rows
each table has: a file without it, or with other numbers, is not whole.
"""

import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import Column, Connection, MetaData, Table, func, select, text
from sqlalchemy.exc import DBAPIError

from lapsus.errors import InputError, UsageError
from lapsus.formats.packed import DAMAGE
from lapsus.formats.sink import put_in_place
from lapsus.model.frozen import decoder
from lapsus.notices import Notice
from lapsus.store.base import StorePart
from lapsus.store.database import connected, database_url, own_tables
from lapsus.store.migrations import HEAD, STEPS, VERSION, schema_version, upgrade
from lapsus.store.rows import analyze_tables, insert_rows
from lapsus.store.validation import chunks
from lapsus.text_files import refuse_pipe
from lapsus.version import __version__

HEADER = "backup.json"
CHUNK = 1000
LONGEST_LINE = 1 << 28
"""Bytes of one row."""


class Backup(msgspec.Struct, frozen=True):
    """What a backup holds."""

    lapsus: str
    version: str
    """The version of the tables."""
    made: datetime
    rows: Mapping[str, int]
    """How many rows each table has, in the order in which they are restored."""


class Backups(StorePart):
    """Out of one database, to be put into another."""

    def backup(self, path: Path, *, overwrite: bool = False) -> Backup:
        """Write everything to a file, as of one moment. It holds password hashes: nobody else may read it."""
        with put_in_place(path, overwrite=overwrite) as draft:
            draft.touch(mode=0o600)
            with self.reading() as conn, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
                counts = {table.name: _dump(conn, table, archive) for table in _tables(conn)}
                version = schema_version(conn) or HEAD
                header = Backup(__version__, version, self.clock(), counts)
                archive.writestr(HEADER, msgspec.json.encode(header))
        return header


def restore(path: Path, database: str | Path | None) -> Backup:
    """Fill a new database from a backup, all or nothing, and bring it up to date. Nothing is ever overwritten."""
    with _opened(path) as archive, _nothing_left(database):
        header = _header(archive, path)
        with connected(database) as (conn, where):
            if tables := own_tables(conn):
                raise UsageError(
                    "holds-tables-already", where=where, hint="restore-into-new-database", count=len(tables)
                )
            upgrade(conn, header.version)
            for table in _tables(conn):
                _fill(conn, table, archive, header, path)
                analyze_tables(conn, table)
            upgrade(conn)
    return header


@contextmanager
def _nothing_left(database: str | Path | None) -> Iterator[None]:
    """Remove the database file again if restoring fails, unless it was there before."""
    url = database_url(database)
    file = Path(url.database) if url.drivername == "sqlite" and url.database else None
    was_there = file is None or file.exists()
    try:
        yield
    except BaseException:
        if file is not None and not was_there:
            for ending in ("", "-wal", "-shm"):
                file.with_name(file.name + ending).unlink(missing_ok=True)
        raise


def _tables(conn: Connection) -> list[Table]:
    """The tables as they are in the database, whichever version it has; what is referred to comes first."""
    found = MetaData()
    found.reflect(conn)
    return [table for table in found.sorted_tables if table.name != VERSION.name]


def _dump(conn: Connection, table: Table, archive: zipfile.ZipFile) -> int:
    encoder, count = msgspec.json.Encoder(), 0
    query = select(table).order_by(*table.primary_key.columns)
    with archive.open(f"{table.name}.jsonl", "w", force_zip64=True) as member:
        for row in conn.execute(query, execution_options={"yield_per": CHUNK}).mappings():
            member.write(encoder.encode(dict(row)) + b"\n")
            count += 1
    return count


def _opened(path: Path) -> zipfile.ZipFile:
    refuse_pipe(path)
    try:
        return zipfile.ZipFile(path)
    except FileNotFoundError as error:
        raise InputError("no-file", where=str(path)) from error
    except DAMAGE as error:
        raise InputError("no-backup", where=str(path), error=error) from error


def _header(archive: zipfile.ZipFile, path: Path) -> Backup:
    try:
        header = decoder(Backup).decode(archive.read(HEADER))
    except _DAMAGED as error:
        raise InputError("no-whole-backup", where=str(path), why=_why(error)) from error
    if header.version not in {step.version for step in STEPS}:
        raise InputError(
            "made-newer-lapsus-database",
            where=str(path),
            hint="update-lapsus",
            version=header.version,
            head=HEAD,
        )
    return header


def _fill(conn: Connection, table: Table, archive: zipfile.ZipFile, header: Backup, path: Path) -> None:
    count = 0
    try:
        for rows in chunks(_rows(archive, table), CHUNK):
            insert_rows(conn, table, rows)
            count += len(rows)
    except (*_DAMAGED, DBAPIError) as error:
        raise InputError(
            "is-damaged", where=Notice("two-places", outer=path, inner=table.name), why=_why(error)
        ) from error
    if count != header.rows.get(table.name):
        wanted = header.rows.get(table.name)
        raise InputError(
            "damaged-rows-instead",
            where=Notice("two-places", outer=path, inner=table.name),
            count=count,
            wanted=wanted,
        )
    if conn.dialect.name == "postgresql" and count and "id" in table.c and table.name not in _NAMED:
        _count_on(conn, table)


_NAMED = {"document", "scheme"}
"""Tables whose `id` is a name, not a number."""


def _rows(archive: zipfile.ZipFile, table: Table) -> Iterator[dict[str, Any]]:
    decoder = msgspec.json.Decoder(dict[str, Any])
    kinds = {column.name: _kind(column) for column in table.columns}
    with archive.open(f"{table.name}.jsonl") as member:
        while line := member.readline(LONGEST_LINE + 1):
            if len(line) > LONGEST_LINE:
                raise ValueError(f"a row has more than {LONGEST_LINE:,} bytes")
            row = decoder.decode(line)
            if row.keys() != kinds.keys():
                odd = sorted(row.keys() ^ kinds.keys())
                raise ValueError(f"a row has other columns: {', '.join(odd)[:100]}")
            for name, value in row.items():
                if value is not None and not isinstance(value, kinds[name]):
                    raise ValueError(f"{name} is {value!r:.40}")
            yield row


def _kind(column: Column[Any]) -> tuple[type, ...]:
    """The JSON values that a column's type takes."""
    kind = column.type.python_type
    return {bool: (bool, int), int: (int, bool), float: (float, int)}.get(kind, (kind,))


_DAMAGED = (*DAMAGE, msgspec.DecodeError, RecursionError, NotImplementedError, OverflowError, TypeError)


def _why(error: Exception) -> str:
    said = str(error.orig) if isinstance(error, DBAPIError) else str(error)
    return said.strip() or type(error).__name__


def _count_on(conn: Connection, table: Table) -> None:
    """Let PostgreSQL number new rows after those that were put in with their numbers."""
    last = conn.scalar(select(func.max(table.c.id)))
    sequence = text("SELECT setval(pg_get_serial_sequence(:name, 'id'), :last)")
    conn.execute(sequence, {"name": table.name, "last": last})
