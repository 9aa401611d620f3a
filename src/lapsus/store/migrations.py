"""Schema migrations: steps from one version to the next, run in order within one transaction."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from sqlalchemy import Column, Connection, MetaData, Table, Text, insert, inspect, select, update

from lapsus.store.tables import metadata

VERSION: Final = Table("schema_version", MetaData(), Column("version", Text, nullable=False))
"""Its one row says which version the other tables have."""


class Step(NamedTuple):
    """A change of the tables, and the version that they have after it."""

    version: str
    upgrade: Callable[[Connection], None]


STEPS: Final[Sequence[Step]] = (Step("1", metadata.create_all),)
"""A released step never changes. Before a second one is added, the current tables are written into the first."""
HEAD: Final = STEPS[-1].version


def schema_version(conn: Connection) -> str | None:
    """The version of the tables in a database; None where there are none of ours."""
    if not inspect(conn).has_table(VERSION.name):
        return None
    found: str | None = conn.scalar(select(VERSION.c.version))
    return found


def upgrade(conn: Connection, to: str | None = None, steps: Sequence[Step] = STEPS) -> None:
    """Bring the tables to a version, the newest unless another is named, within the transaction that is under way."""
    versions = [step.version for step in steps]
    now = schema_version(conn)
    if now is None:
        VERSION.create(conn)
        conn.execute(insert(VERSION), {"version": ""})
    first = 0 if now is None else versions.index(now) + 1
    last = len(steps) if to is None else versions.index(to) + 1
    for step in steps[first:last]:
        step.upgrade(conn)
        conn.execute(update(VERSION), {"version": step.version})
