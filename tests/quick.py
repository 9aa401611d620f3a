"""What costs much in every test and is checked by few: made cheap here, and left dear in processes that tests start.

- A password is hashed in less than a millisecond. `tests/store/test_people.py` holds what it costs a guesser.
- The tables of a new database come from the statements that the migrations ran for the first one.
- SQLite does not wait for the disk: no test of ours pulls the plug. `tests/store/test_database.py` holds that it does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from argon2 import PasswordHasher
from sqlalchemy import Connection, event
from sqlalchemy.pool import Pool

from lapsus.store import access, database, people
from lapsus.store.migrations import STEPS, Step, upgrade

Statement = tuple[str, Any]
_made: dict[str, list[Statement]] = {}
"""By the kind of database: the statements that made its tables."""


USUAL_HASHER = people.HASHER


def make_cheap() -> None:
    people.HASHER = access.HASHER = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    database.upgrade = upgraded
    event.listen(Pool, "checkout", lambda connection, *_: do_not_wait(connection))


def upgraded(conn: Connection, to: str | None = None, steps: Sequence[Step] = STEPS) -> None:
    """As the migrations do it, but for a new database by heart."""
    if to is not None or steps is not STEPS or database.own_tables(conn):
        upgrade(conn, to, steps)
    elif statements := _made.get(conn.dialect.name):
        for statement, parameters in statements:
            conn.exec_driver_sql(statement, parameters)
    else:
        _made[conn.dialect.name] = _watched(conn)


def _watched(conn: Connection) -> list[Statement]:
    """Make the tables by the migrations; what was said to the database to change it."""
    said: list[Statement] = []

    def note(_: Any, __: Any, statement: str, parameters: Any, ___: Any, ____: bool) -> None:
        if not statement.lstrip().upper().startswith(("SELECT", "PRAGMA")):
            said.append((statement, parameters))

    event.listen(conn, "before_cursor_execute", note)
    upgrade(conn)
    event.remove(conn, "before_cursor_execute", note)
    return said


def do_not_wait(connection: Any) -> None:
    if hasattr(connection, "executescript"):  # SQLite's
        connection.execute("PRAGMA synchronous=OFF")
