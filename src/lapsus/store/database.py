"""Opening a database: made where there is none, brought up to date where it is older, left alone where it is newer."""

import os
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import ArgumentError, DatabaseError, OperationalError

from lapsus.errors import InputError, LapsusError, UsageError
from lapsus.notices import Notice
from lapsus.store.migrations import STEPS, Step, schema_version, upgrade

POSTGRES = "postgresql+psycopg"
WAIT = 30
"""Seconds to wait for another process that is writing."""
MOST = 20
"""Connections of a process to PostgreSQL. It lets in a hundred in all, unless told otherwise: four processes and some
commands. Whoever comes while all are in use waits for one, which takes milliseconds."""
_LOCK = 0x1A9505
"""Number of the PostgreSQL lock under which one process at a time brings a database up to date."""


def default_database() -> Path:
    """Where the database is unless told otherwise: in the user's data folder."""
    home = Path.home()
    if sys.platform == "darwin":
        base = home / "Library" / "Application Support"
    elif os.name == "nt":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    return base / "lapsus" / "lapsus.sqlite"


def database_url(database: str | Path | None) -> URL:
    """The address of a database given as a path, as a URL, or not at all."""
    if database is None:
        path = default_database()
        path.parent.mkdir(parents=True, exist_ok=True)
        return URL.create("sqlite", database=str(path))
    if isinstance(database, Path) or "://" not in database:
        return URL.create("sqlite", database=str(database))
    try:
        url = make_url(database)
    except ArgumentError as error:
        hint = Notice("like-sqlite-file-postgresql")
        raise UsageError("no-address-database", where=database, hint=hint) from error
    if url.drivername in ("postgresql", "postgres", POSTGRES):
        return url.set(drivername=POSTGRES)
    if url.drivername != "sqlite":
        raise UsageError("no-database-kind-can", hint="known-sqlite-postgresql", drivername=url.drivername)
    return url


def missing_file(database: str | Path | None) -> Path | None:
    """The file of an SQLite database that is not there yet; None where it is, or where it is no file."""
    url = database_url(default_database() if database is None else database)
    path = Path(url.database or "")
    return path if url.drivername == "sqlite" and url.database and not path.exists() else None


def shown_address(url: URL) -> str:
    """A database as `--db` takes it: a path or an address, without the password."""
    if url.drivername == "sqlite":
        return str(url.database)
    return url.set(drivername="postgresql").render_as_string(hide_password=True)


def open_engine(database: str | Path | None) -> Engine:
    """A connection to a database whose tables are there and up to date."""
    engine, path, where = _engine(database)
    with _told(engine, where):
        bring_up_to_date(engine, path)
    return engine


@contextmanager
def connected(database: str | Path | None) -> Iterator[tuple[Connection, str]]:
    """A database as it is, in one transaction in which no other process changes its tables; and its address."""
    engine, _, where = _engine(database)
    with _told(engine, where), _alone(engine) as conn:
        yield conn, where
    engine.dispose()


def _engine(database: str | Path | None) -> tuple[Engine, Path | None, str]:
    """A way to the database, its file where it is one, and its address without the password."""
    url = database_url(database)
    where = url.render_as_string(hide_password=True)
    path = _file(url)
    try:
        engine = create_engine(url, **_settings(url))
    except ModuleNotFoundError as error:
        raise UsageError(
            "postgresql-needs-psycopg", where=where, hint="pip install 'lapsus-eval[postgres]'"
        ) from error
    if path is None:
        _check_encoding(engine, where)
    else:
        _prepare(engine)
    return engine, path, where


@contextmanager
def _told(engine: Engine, where: str) -> Iterator[None]:
    """Raise errors of the database as ours, and close the connection pool."""
    try:
        yield
    except DatabaseError as error:
        engine.dispose()
        raise _trouble(error, where) from error
    except BaseException:
        engine.dispose()
        raise


def _settings(url: URL) -> dict[str, Any]:
    if url.drivername == "sqlite":
        waiting = {"timeout": WAIT, "isolation_level": None}
        return {"pool_size": 10, "max_overflow": 30, "connect_args": waiting}
    encoded = {"client_encoding": "UTF8"}
    return {"pool_size": 10, "max_overflow": MOST - 10, "pool_pre_ping": True, "connect_args": encoded}


def _file(url: URL) -> Path | None:
    """The file of an SQLite database; made where there is none, readable by nobody else."""
    if url.drivername != "sqlite":
        return None
    if not url.database or url.database == ":memory:" or url.database.startswith("file:"):
        raise UsageError("store-needs-file", where=str(url), hint="give-path")
    path = Path(url.database)
    if not path.parent.is_dir():
        raise UsageError("no-folder", where=str(path.parent), hint="make-first")
    if path.is_dir():
        raise UsageError("folder", where=str(path), hint="give-name-file")
    path.touch(mode=0o600, exist_ok=True)
    return path


def _prepare(engine: Engine) -> None:
    @event.listens_for(engine, "connect")
    def settings(connection: sqlite3.Connection, record: object) -> None:
        for pragma in (
            "journal_mode=WAL",
            "synchronous=FULL",
            "foreign_keys=ON",
            f"busy_timeout={WAIT * 1000}",
        ):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # Whoever will write says so at once: a reader that becomes a writer midway may be refused by SQLite.
        writes = connection.get_execution_options().get("lapsus_write")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _check_encoding(engine: Engine, where: str) -> None:
    @event.listens_for(engine, "connect")
    def check(connection: Any, record: object) -> None:
        # What a server makes that was set up without a language holds no Japanese, or not as text. One with campaigns
        # in it has held what it was given so far, and still opens.
        encoding = connection.info.parameter_status("server_encoding")
        if encoding != "UTF8" and _is_new(connection):
            connection.close()
            hint = Notice("make-createdb-encoding-utf8")
            raise UsageError("keeps-text-not-utf8", where=where, hint=hint, encoding=encoding)


def _is_new(connection: Any) -> bool:
    """Whether a PostgreSQL database has no tables of Lapsus."""
    (found,) = connection.execute("SELECT to_regclass('campaign') IS NULL").fetchone()
    connection.rollback()
    return bool(found)


def _trouble(error: DatabaseError, where: str) -> LapsusError:
    if isinstance(error, OperationalError):
        return UsageError(
            "cannot-opened", where=where, hint="running-address-right", orig=str(error.orig).strip()
        )
    return InputError("cannot-read", where=where, hint="database-lapsus", error=str(error.orig).strip())


def bring_up_to_date(engine: Engine, path: Path | None, steps: Sequence[Step] = STEPS) -> None:
    """Make or change the tables where need be; an SQLite file is copied before it is changed."""
    newest = steps[-1].version
    where = engine.url.render_as_string(hide_password=True)
    with engine.connect() as conn:
        if schema_version(conn) == newest:
            return
    with _alone(engine) as conn:
        version = schema_version(conn)
        if version == newest:
            return
        if version is None and (tables := own_tables(conn)):
            raise InputError(
                "holds-tables-another-program",
                where=where,
                hint="give-another-one",
                tables=", ".join(tables[:3]),
            )
        if version is not None and version not in {step.version for step in steps}:
            raise InputError(
                "made-newer-lapsus-database", where=where, hint="update-lapsus", version=version, head=newest
            )
        if version is not None and path is not None:
            copy_before_change(path, version)
        upgrade(conn, steps=steps)


def own_tables(conn: Connection) -> list[str]:
    """The tables that are in a database."""
    return sorted(inspect(conn).get_table_names())


@contextmanager
def _alone(engine: Engine) -> Iterator[Connection]:
    """A transaction in which no other process changes the tables."""
    with engine.execution_options(lapsus_write=True).begin() as conn:
        if conn.dialect.name == "postgresql":
            conn.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": _LOCK})
        yield conn


def copy_before_change(path: Path, version: str) -> Path:
    """Copy an SQLite file beside itself. Others may read it meanwhile, but nobody writes."""
    moment = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
    target = path.with_name(f"{path.name}.version-{version}.{moment}")
    target.touch(mode=0o600, exist_ok=False)
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(target)) as copy:
        source.backup(copy)
    return target
