"""What all parts of the store share: transactions, the clock, what never changes once read, and the audit trail."""

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Connection, Engine, Executable, Row, insert, select
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from lapsus.model import Document, Scheme
from lapsus.model.frozen import decoder
from lapsus.notices import Notice
from lapsus.registry import did_you_mean
from lapsus.store import tables as t
from lapsus.store.records import RefusedError, StoreError, UnknownNameError
from lapsus.store.rows import ITS_DOCUMENT, scheme_of
from lapsus.store.validation import LARGEST, is_storable, to_json

T = TypeVar("T")

TRIES = 5
"""How often work is tried again that another process got in the way of."""
_CONFLICTS = {"40001", "40P01"}
"""PostgreSQL's words for "somebody else changed it" and "each waits for the other"."""


class UnitRow(NamedTuple):
    """Which segment of which document a unit is. It never changes, so it is cached."""

    document: int
    """Position of its document in the campaign."""
    name: str
    digest: str
    segment: str | None


def utc_now() -> datetime:
    """Now, in UTC."""
    return datetime.now(UTC)


class Database:
    """One database: transactions, the clock, the audit trail, and what never changes once read. All parts share it."""

    def __init__(self, engine: Engine, clock: Callable[[], datetime] = utc_now) -> None:
        self.engine = engine
        self.clock = clock
        self._is_sqlite = engine.dialect.name == "sqlite"
        self.file = DatabaseFile(engine.url.database if self._is_sqlite else None)
        # SQLite has one writer at a time and lets others poll; waiting in line here is quicker and fair.
        self.line = threading.RLock() if self._is_sqlite else nullcontext()
        self.writing_engine = engine.execution_options(lapsus_write=True)
        self._shared = threading.local()
        self.campaign_id = lru_cache(maxsize=1024)(self._find_campaign)
        self.scheme_of = lru_cache(maxsize=1024)(self._find_scheme)
        self.document = lru_cache(maxsize=512)(self._find_document)
        self.unit = lru_cache(maxsize=65536)(self._find_unit)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One state of the database for as long as it takes, whatever others write meanwhile."""
        if (shared := getattr(self._shared, "reading", None)) is not None:
            with told():
                yield shared
            return
        self.file.check()
        with told(), self.engine.connect() as conn:
            if not self._is_sqlite:
                conn.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            with conn.begin():
                yield conn

    @contextmanager
    def reading_together(self) -> Iterator[None]:
        """Whatever this thread reads meanwhile is one state of the database; nothing may be written.

        To begin and to end costs as much as a query, and a page has many.
        """
        with self.reading() as conn:
            self._shared.reading = conn
            try:
                yield
            finally:
                self._shared.reading = None

    def rows(self, query: Executable, values: Mapping[str, Any] | None = None) -> Sequence[Row[Any]]:
        """What a query finds."""
        with self.reading() as conn:
            return conn.execute(query, values).all()

    def row(self, query: Executable, values: Mapping[str, Any] | None = None) -> Row[Any] | None:
        """The one row that a query finds, or None."""
        with self.reading() as conn:
            return conn.execute(query, values).one_or_none()

    def scalar(self, query: Executable) -> Any | None:
        """The first value that a query finds, or None."""
        with self.reading() as conn:
            return conn.scalar(query)

    def scalars(self, query: Executable) -> Sequence[Any]:
        """The first value of each row that a query finds."""
        with self.reading() as conn:
            return conn.scalars(query).all()

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that changes something: all of it or nothing, and on disk at the end."""
        with told(), self.transaction() as conn:
            yield conn

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """The same, with the database's own errors, by which to tell whether to try again."""
        if getattr(self._shared, "reading", None) is not None:
            raise AssertionError("nothing is written while a thread reads together")
        with self.line:
            self.file.check()
            with self.writing_engine.begin() as conn:
                yield conn
            # What went into a file that is gone is not kept, and must not be acknowledged.
            self.file.check_written()

    def write(self, work: Callable[[Connection], T], *, twice: bool = False) -> T:
        """Do something in a transaction, again where another process got in its way.

        A connection that breaks while it commits leaves open whether it did. Only work that may be done `twice`
        is then tried again.
        """
        for left in reversed(range(TRIES)):
            is_done = False
            try:
                with self.transaction() as conn:
                    result = work(conn)
                    is_done = True
            except PoolTimeoutError as error:
                raise trouble(error) from error
            except DBAPIError as error:
                if is_done and error.connection_invalidated and not twice:
                    raise StoreError(
                        "database-went-away-before",
                        hint="look-whether-done-before",
                        orig=str(error.orig).strip(),
                    ) from error
                if not left or not is_conflict(error):
                    raise trouble(error) from error
            else:
                return result
        raise AssertionError("the last try returns or raises")

    def note(
        self,
        conn: Connection,
        what: str,
        *,
        by: int | None = None,
        campaign: int | None = None,
        **details: Any,
    ) -> None:
        """Write a line of the audit trail, in the transaction of what it is about."""
        row = {"at": self.clock(), "person": by, "campaign": campaign, "what": what}
        conn.execute(insert(t.event), row | {"details": to_json(details)})

    def _find_campaign(self, name: str) -> int:
        wanted = select(t.campaign.c.id).where(t.campaign.c.name == name)
        found: int | None = self.scalar(wanted) if is_storable(name) else None
        if found is None:
            names = list(self.scalars(select(t.campaign.c.name).order_by(t.campaign.c.id)))
            hint = did_you_mean(name, names) if names else Notice("lapsus-campaign-create-makes")
            raise UnknownNameError("no-campaign-called", hint=hint, name=name)
        return found

    def _find_scheme(self, campaign: int) -> Scheme:
        with self.reading() as conn:
            return scheme_of(conn, campaign)

    def _find_document(self, digest: str) -> Document:
        content = self.scalar(select(t.document.c.content).where(t.document.c.digest == digest))
        return decoder(Document).decode(content or "")

    def _find_unit(self, campaign: int, number: int) -> UnitRow:
        unit, place = t.unit, t.campaign_document
        query = (
            select(unit.c.document, place.c.name, place.c.digest, unit.c.segment)
            .join(place, ITS_DOCUMENT)
            .where(unit.c.campaign == campaign, unit.c.number == number)
        )
        row = self.row(query) if 0 < number <= LARGEST else None
        if row is None:
            raise RefusedError("unknown-unit", f"the campaign has no unit {number}")
        return UnitRow(row.document, row.name, row.digest, row.segment or None)


class StorePart:
    """One part of the store, with one job, on the database that all parts share."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.clock = database.clock
        self.reading, self.writing, self.write = database.reading, database.writing, database.write
        self.rows, self.row, self.scalar = database.rows, database.row, database.scalar
        self.scalars, self.note = database.scalars, database.note
        self._campaign_id, self._scheme_of = database.campaign_id, database.scheme_of
        self._document, self._unit = database.document, database.unit


@contextmanager
def told() -> Iterator[None]:
    """Raise the database's errors as `StoreError`."""
    try:
        yield
    except (DBAPIError, PoolTimeoutError) as error:
        raise trouble(error) from error


def trouble(error: DBAPIError | PoolTimeoutError) -> StoreError:
    """The `StoreError` for an error of the database or of its connection pool."""
    why = str(error.orig).strip() if isinstance(error, DBAPIError) else "too many wait for it"
    return StoreError("database", hint="try-again-acknowledged-kept", why=why)


def is_conflict(error: DBAPIError) -> bool:
    """Whether a retry may succeed: a conflict with another process, or a broken connection."""
    return (
        isinstance(error, IntegrityError)
        or error.connection_invalidated
        or (isinstance(error, OperationalError) and getattr(error.orig, "sqlstate", None) in _CONFLICTS)
    )


class DatabaseFile:
    """A file by its identity on disk. Without a path, as for PostgreSQL, there is nothing to watch."""

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._identity = None if path is None else _identity(path)
        self._has_log: bool | None = None
        """Whether there is a log beside the file; on some network drives there is none."""

    def check(self) -> None:
        """Complain where another file, or none, stands at the path. While it is open nothing else has its number."""
        if self._path is not None and _identity(self._path) != self._identity:
            raise _gone(self._path)

    def check_written(self) -> None:
        """The same for what was just committed: until it is copied over, it stands in the log beside the file."""
        self.check()
        if self._path is None:
            return
        is_there = _identity(f"{self._path}-wal") is not None
        if self._has_log is None:
            self._has_log = is_there
        if self._has_log and not is_there:
            raise _gone(f"{self._path}-wal")


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116  once for every transaction, and half the time of a Path
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _gone(path: str) -> StoreError:
    return StoreError("database-file-deleted-replaced", where=path, hint="put-back-stop-program")
