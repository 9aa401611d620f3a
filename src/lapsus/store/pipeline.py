"""Several statements in one round trip to PostgreSQL (pipeline mode).

It is another process, on another machine perhaps; a save that went there and back for each of its statements would
mostly wait. SQLite is in this process, and gets them one by one.
"""

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Dialect, Insert, Select, TypeDecorator, Update
from sqlalchemy.exc import DBAPIError

Values = Mapping[str, Any]
Convert = Callable[[Any], Any] | None


class PipelineStep(NamedTuple):
    """A statement, and its values; a list of them runs it once for each."""

    statement: Select[Any] | Insert | Update
    values: Values | Sequence[Values]


def execute(conn: Connection, steps: Sequence[PipelineStep]) -> list[Sequence[Any]]:
    """Run statements in order, in the transaction that is under way; the rows that each one returned."""
    if conn.dialect.name == "postgresql":
        return _together(conn, steps)
    return [_alone(conn, step) for step in steps]


def _alone(conn: Connection, step: PipelineStep) -> Sequence[Any]:
    result = conn.execute(step.statement, step.values)
    return result.all() if result.returns_rows else ()


class _Compiled(NamedTuple):
    """A statement as the driver takes it: its text, how values go in, and how rows come out."""

    text: str
    binds: tuple[tuple[str, Convert], ...]
    fixed: Values
    """Values that are part of the statement."""
    row: Callable[[Sequence[Any]], Any] | None

    def bound(self, values: Values) -> dict[str, Any]:
        given = {**self.fixed, **values}
        return {name: given[name] if into is None else into(given[name]) for name, into in self.binds}


@lru_cache(maxsize=256)
def _compiled(statement: Select[Any] | Insert | Update, dialect: Dialect) -> _Compiled:
    compiled: Any = statement.compile(dialect=dialect)
    binds = tuple(
        (name, bind.type.dialect_impl(dialect).bind_processor(dialect))
        for bind, name in compiled.bind_names.items()
    )
    fixed = {name: value for name, value in compiled.params.items() if value is not None}
    return _Compiled(str(compiled), binds, fixed, _row_maker(statement, dialect))


def _row_maker(
    statement: Select[Any] | Insert | Update, dialect: Dialect
) -> Callable[[Sequence[Any]], Any] | None:
    if not isinstance(statement, Select):
        return None
    columns = list(statement.selected_columns)
    record = namedtuple("Row", [column.key or "" for column in columns])  # type: ignore[misc]
    # The driver gives plain types as they are; only those of our own have to be made from them.
    own = {
        place: column.type.result_processor(dialect, None)
        for place, column in enumerate(columns)
        if isinstance(column.type, TypeDecorator)
    }

    def make(values: Sequence[Any]) -> Any:
        cells = list(values)
        for place, convert in own.items():
            cells[place] = cells[place] if convert is None else convert(cells[place])
        return record._make(cells)

    return make


def _together(conn: Connection, steps: Sequence[PipelineStep]) -> list[Sequence[Any]]:
    driver: Any = conn.connection.driver_connection
    ready = [_compiled(step.statement, conn.dialect) for step in steps]
    try:
        with driver.pipeline():
            cursors = [send(driver, one, step.values) for one, step in zip(ready, steps, strict=True)]
        return [
            [one.row(values) for values in cursor.fetchall()] if one.row is not None else ()
            for one, cursor in zip(ready, cursors, strict=True)
        ]
    except conn.dialect.loaded_dbapi.Error as error:
        raise _told(conn, error) from error


def send(driver: Any, compiled: _Compiled, values: Values | Sequence[Values]) -> Any:
    """Send a statement; its cursor has the rows once the pipeline is done."""
    cursor = driver.cursor()
    if isinstance(values, Mapping):
        return cursor.execute(compiled.text, compiled.bound(values))
    cursor.executemany(compiled.text, [compiled.bound(one) for one in values])
    return cursor


def _told(conn: Connection, error: Any) -> DBAPIError:
    """The driver's error as SQLAlchemy tells it; a connection that broke is let go of."""
    broken = conn.dialect.is_disconnect(error, conn.connection.driver_connection, None)
    if broken:
        conn.invalidate(error)
    found = DBAPIError.instance(
        None,
        None,
        error,
        conn.dialect.loaded_dbapi.Error,
        connection_invalidated=broken,
        dialect=conn.dialect,
    )
    assert isinstance(found, DBAPIError)  # noqa: S101  the driver's errors become nothing else
    return found
