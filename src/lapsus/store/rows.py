"""Reading and writing rows that several parts of the store share, within an open transaction."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, Literal, TypeVar

import msgspec
from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    Table,
    bindparam,
    exists,
    func,
    insert,
    select,
    text,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DatabaseError

from lapsus.model import Scheme
from lapsus.model.decoders import decoder
from lapsus.schemes import load_scheme, scheme_names
from lapsus.store import tables as t
from lapsus.store.records import Campaign, Plan

R = TypeVar("R", bound=msgspec.Struct)


def record(kind: type[R], row: Row[Any], **more: Any) -> R:
    """The record of a row: a field of each column of its name, and what is given beside."""
    columns = row._mapping
    there = {name: columns[name] for name in kind.__struct_fields__ if name in columns}
    return kind(**there | more)


def part_of_the_data() -> ColumnElement[bool]:
    """Of a document's place: that it is not there for practice or checks alone.

    In a chain other turns of a document that is practised on may be chosen later.
    """
    place, unit = t.campaign_document, t.unit
    mine = (unit.c.campaign == place.c.campaign) & (unit.c.document == place.c.position)
    planned = exists().where(mine, unit.c.wanted < t.FULL)
    return place.c.part.not_in(("training", "checks")) | planned


def campaign_row(conn: Connection, campaign: int, *, lock: Literal["units", "all"] | None = None) -> Row[Any]:
    """A campaign's row. Locked for its units, nobody else hands out or adds any until the transaction ends.

    Locked for all, nobody saves either.
    """
    return conn.execute(_campaign(lock), {"c": campaign}).one()


@cache
def _campaign(lock: Literal["units", "all"] | None) -> Select[Any]:
    """Made once: it is asked for at every page."""
    query = select(t.campaign).where(t.campaign.c.id == bindparam("c"))
    return query if lock is None else query.with_for_update(key_share=lock == "units")


def plan_of(row: Row[Any]) -> Plan:
    """The plan in a campaign's row."""
    return decoder(Plan).decode(row.plan)


def as_campaign(row: Row[Any]) -> Campaign:
    """The record of a campaign's row."""
    return record(Campaign, row, plan=plan_of(row))


def scheme_of(conn: Connection, campaign: int) -> Scheme:
    """The guideline of a campaign, in the version that it was begun with."""
    kept = t.scheme
    content = conn.scalar(
        select(kept.c.content)
        .join(t.campaign, (t.campaign.c.scheme == kept.c.id) & (t.campaign.c.version == kept.c.version))
        .where(t.campaign.c.id == campaign)
    )
    return _as_installed(decoder(Scheme).decode(content or ""))


def _as_installed(kept: Scheme) -> Scheme:
    """The scheme of ours that says the same to annotators, if there is one: what it says of analysis is newer."""
    if kept.id not in scheme_names():
        return kept
    ours = load_scheme(kept.id)
    return ours if ours.version == kept.version and ours.guideline() == kept.guideline() else kept


def insert_rows(conn: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert many rows, all with the same columns. PostgreSQL takes them as a stream, ten times faster."""
    if rows and conn.dialect.name == "postgresql":
        _copy_rows(conn, table, rows)
    elif rows:
        conn.execute(insert(table), list(rows))


def _copy_rows(conn: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    dialect: Any = conn.dialect
    columns = [table.c[name] for name in rows[0]]
    ready = [(c.name, c.type.dialect_impl(dialect).bind_processor(dialect)) for c in columns]
    names = ", ".join(dialect.identifier_preparer.quote(column.name) for column in columns)
    command = f"COPY {dialect.identifier_preparer.quote(table.name)} ({names}) FROM STDIN"
    cursor: Any = conn.connection.cursor()
    try:
        with cursor.copy(command) as stream:
            for row in rows:
                stream.write_row([process(row[name]) if process else row[name] for name, process in ready])
    except dialect.loaded_dbapi.Error as error:
        raise DatabaseError(command, None, error) from error


def analyze_tables(conn: Connection, *tables: Table) -> None:
    """Tell PostgreSQL what it got. It would notice by itself a minute later, and take the wrong index until then."""
    if conn.dialect.name == "postgresql":
        for table in tables:
            conn.execute(text(f"ANALYZE {conn.dialect.identifier_preparer.quote(table.name)}"))


def insert_missing(conn: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> int:
    """Insert the rows that are not there yet; how many that were."""
    if not rows:
        return 0
    dialect = postgresql if conn.dialect.name == "postgresql" else sqlite
    return conn.execute(dialect.insert(table).on_conflict_do_nothing(), list(rows)).rowcount


def ensure_members(conn: Connection, campaign: int, people: Iterable[int], now: datetime) -> None:
    """Make people members of a campaign who are not yet."""
    fresh = {"until": None, "submitted": 0, "drafts": 0, "held": 0, "seconds": 0.0, "last_at": None}
    rows = [{"campaign": campaign, "person": person, "joined": now, **fresh} for person in people]
    insert_missing(conn, t.member, rows)


def set_levels(conn: Connection, campaign: int, documents: Iterable[int]) -> None:
    """Update how often documents were handed out, after places of their units were taken or given back."""
    these = {"c": campaign, "documents": sorted(documents)}
    # Locked first: PostgreSQL must count only when whoever else changes the document is through.
    conn.execute(_LOCK_DOCUMENTS, these).all()
    conn.execute(_SET_LEVELS, these)


# Made once: they are asked for with every document that is handed out.
_THESE = (t.campaign_document.c.campaign == bindparam("c")) & t.campaign_document.c.position.in_(
    bindparam("documents", expanding=True)
)
_LOCK_DOCUMENTS = (
    select(t.campaign_document.c.position)
    .where(_THESE)
    .order_by(t.campaign_document.c.position)
    .with_for_update()
)
_LEAST = select(func.min(t.unit.c.taken)).where(
    t.unit.c.campaign == bindparam("c"), t.unit.c.document == t.campaign_document.c.position, t.unit.c.active
)
_SET_LEVELS = (
    update(t.campaign_document).where(_THESE).values(level=func.coalesce(_LEAST.scalar_subquery(), t.FULL))
)
