"""Reading and writing rows that several parts of the store share, within an open transaction.

A place of a unit is what one person has of it: which are free, and giving them back.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from itertools import count
from typing import Any, Final, Literal, TypeVar

import msgspec
from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    Table,
    and_,
    bindparam,
    exists,
    func,
    insert,
    literal_column,
    select,
    text,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DatabaseError

from lapsus.model import Answer, Scheme
from lapsus.model.frozen import decoder
from lapsus.schemes import load_scheme, scheme_names
from lapsus.store import tables as t
from lapsus.store.records import Campaign, Plan

R = TypeVar("R", bound=msgspec.Struct)

ANSWERS: Final[msgspec.json.Decoder[dict[str, Answer]]] = msgspec.json.Decoder(dict[str, Answer])
ITS_UNIT: Final = (t.unit.c.campaign == t.assignment.c.campaign) & (t.unit.c.number == t.assignment.c.unit)
"""Joins assignments and units."""
ITS_DOCUMENT: Final = and_(
    t.campaign_document.c.campaign == t.unit.c.campaign, t.campaign_document.c.position == t.unit.c.document
)
"""Joins units and the places of their documents."""


def record(kind: type[R], row: Row[Any], **more: Any) -> R:
    """The record of a row: a field of each column of its name, and what is given beside."""
    columns = row._mapping
    there = {name: columns[name] for name in kind.__struct_fields__ if name in columns}
    return kind(**there | more)


def part_of_the_data() -> ColumnElement[bool]:
    """Whether a document is more than practice or checks.

    In a chain other turns of a document that is practised on may be chosen later.
    """
    place, unit = t.campaign_document, t.unit
    planned = exists().where(ITS_DOCUMENT, unit.c.wanted < t.FULL)
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
    """The installed scheme where it says the same to annotators: its settings for analysis are newer."""
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
    """Update PostgreSQL's statistics; by itself it does so a minute later, and takes the wrong index until then."""
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


SAME_PLACE: Final = and_(
    t.judgment.c.campaign == t.assignment.c.campaign,
    t.judgment.c.unit == t.assignment.c.unit,
    t.judgment.c.person == t.assignment.c.person,
)
"""Joins assignments and judgments: all revisions of what a person said about a unit."""
SUBMITTED: Final = SAME_PLACE & (t.judgment.c.revision == t.assignment.c.submitted)
"""Joins them, too: only the newest submitted revision."""


def of_person(table: Any, campaign: int, person: int) -> ColumnElement[bool]:
    """What is one person's in a campaign."""
    return and_(table.c.campaign == campaign, table.c.person == person)


def planned_units(campaign: int) -> ColumnElement[bool]:
    """Of a unit: it is to be judged in this campaign, and not for practice or a check."""
    return (t.unit.c.campaign == campaign) & t.unit.c.active & (t.unit.c.wanted < t.FULL)


def one_of(column: ColumnElement[str], words: Iterable[str]) -> ColumnElement[bool]:
    """Whether a column has one of a few constants.

    They are written out: as values they would be put into the statement anew each time it is asked.
    """
    return column.in_([literal_column(f"'{word}'") for word in words])


def release(conn: Connection, campaign: int, person: int) -> list[int]:
    """Return to the pool what a person holds and has not submitted; the numbers of those units."""
    mine = of_person(t.assignment, campaign, person) & (t.assignment.c.state == "reserved")
    units: list[int] = sorted(conn.scalars(select(t.assignment.c.unit).where(mine)))
    lock_units(conn, campaign, units)
    back = update(t.assignment).where(mine, t.assignment.c.unit.in_(units))
    rows = conn.execute(
        back.values(state="released", place=None).returning(t.assignment.c.unit, t.assignment.c.document)
    ).all()
    change_taken(conn, campaign, rows, -1)
    less = {"until": None, "held": t.member.c.held - len(rows)}
    conn.execute(update(t.member).where(of_person(t.member, campaign, person)).values(less))
    set_levels(conn, campaign, {row.document for row in rows})
    return sorted(row.unit for row in rows)


def lock_units(conn: Connection, campaign: int, units: Iterable[int]) -> None:
    """Keep others from changing these units until the transaction ends; always in the same order."""
    mine = (t.unit.c.campaign == campaign) & t.unit.c.number.in_(units)
    conn.execute(select(t.unit.c.number).where(mine).order_by(t.unit.c.number).with_for_update()).all()


def free_places(conn: Connection, campaign: int, units: Sequence[int]) -> dict[int, int]:
    """The lowest place of each unit that nobody has."""
    counted = {row.unit: row for row in conn.execute(_COUNTED, {"c": campaign, "units": units})}
    # Mostly the places are filled from the first on; only where one came back they are looked at one by one.
    gaps = [unit for unit, row in counted.items() if row.many <= row.last]
    used: dict[int, set[int]] = defaultdict(set)
    for row in conn.execute(_USED, {"c": campaign, "units": gaps}) if gaps else ():
        used[row.unit].add(row.place)
    free = {unit: row.many for unit, row in counted.items()}
    free |= {unit: next(place for place in count() if place not in used[unit]) for unit in gaps}
    return {unit: free.get(unit, 0) for unit in units}


def change_taken(conn: Connection, campaign: int, rows: Sequence[Row[Any]], by: int) -> None:
    """Count places taken or given back; rows name unit and document.

    How often documents were handed out is said anew last of all, after the members: in the order of saves.
    """
    if rows:
        conn.execute(_CHANGE_TAKEN, {"c": campaign, "units": [row.unit for row in rows], "by": by})


# Made once: they are asked for whenever somebody wants a unit, and to make them costs more than to ask.
_HELD = (
    (t.assignment.c.campaign == bindparam("c"))
    & t.assignment.c.unit.in_(bindparam("units", expanding=True))
    & t.assignment.c.place.is_not(None)
)
_USED = select(t.assignment.c.unit, t.assignment.c.place).where(_HELD)
_COUNTED = (
    select(t.assignment.c.unit, func.count().label("many"), func.max(t.assignment.c.place).label("last"))
    .where(_HELD)
    .group_by(t.assignment.c.unit)
)
_CHANGE_TAKEN = (
    update(t.unit)
    .where(t.unit.c.campaign == bindparam("c"), t.unit.c.number.in_(bindparam("units", expanding=True)))
    .values(taken=t.unit.c.taken + bindparam("by"))
)
