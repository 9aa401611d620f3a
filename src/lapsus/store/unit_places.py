"""Places of units: which are free, and giving them back. Within a transaction that is under way."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, and_, bindparam, func, literal_column, select, update

from lapsus.store import tables as t
from lapsus.store.rows import set_levels

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
