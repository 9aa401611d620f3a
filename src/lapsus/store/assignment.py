"""Who judges what: documents are handed out whole, to as many people as the plan asks for, and never more.

The next document for a person is the one that was handed out least often so far; where several were, the person's
own shuffle decides, so that everybody overlaps with everybody. Places are counted by unit: what somebody judged
of a document counts, and only the rest goes back after its time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import count
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    ScalarSelect,
    Select,
    and_,
    bindparam,
    exists,
    insert,
    select,
    update,
)

from lapsus.store import tables as t
from lapsus.store.campaigns import Campaigns
from lapsus.store.checks import number
from lapsus.store.records import Nothing, OwnUnit, Plan, RefusedError, Reservation, UnitPlace
from lapsus.store.rows import campaign_row, ensure_members, plan_of, set_levels
from lapsus.store.shuffling import order_for

HOLDS = ("reserved", "done", "extra")
"""States in which a unit is a person's own."""


class Assignment(Campaigns):
    """Handing out units and taking them back."""

    def next_units(self, person: int, campaign: str) -> Reservation | Nothing:
        """Units for a person to judge: those already held, or else the next documents."""
        who, id = self.person(person), self._campaign_id(campaign)
        if who.disabled is not None:
            raise RefusedError("disabled", "this account is shut", hint="ask a manager")
        return self.write(lambda conn: self._next(conn, id, person))

    def _next(self, conn: Connection, campaign: int, person: int) -> Reservation | Nothing:
        row = campaign_row(conn, campaign, lock="units")
        if row.state != "open":
            return Nothing(row.state)
        plan, now = plan_of(row), self.clock()
        _admit(conn, campaign, person, plan, now)
        for late in _late(conn, campaign, person, now):
            self._release(conn, campaign, late, "units went back after their time", by=None)
        held = _held(conn, campaign, person)
        if not held:
            taken = _take(conn, campaign, person, plan.per_unit, _documents(conn, campaign, person, plan))
            if not taken:
                return Nothing("wait" if _may_come(conn, row, person) else "done")
            self.note(conn, "units handed out", by=person, campaign=campaign, units=taken)
            held = _held(conn, campaign, person)
        until = now + timedelta(minutes=plan.minutes)
        conn.execute(update(t.member).where(_me(t.member, campaign, person)).values(until=until))
        return Reservation(tuple(UnitPlace(u.number, u.name, u.segment or None) for u in held), until)

    def give_back(self, person: int, campaign: str, *, by: int | None = None) -> int:
        """Return to the pool what a person holds and has not submitted; how many units that were."""
        id = self._campaign_id(campaign)

        def work(conn: Connection) -> int:
            campaign_row(conn, id, lock="units")
            return self._release(conn, id, number(person), "units given back", by=by)

        return self.write(work)

    def own_units(self, person: int, campaign: str) -> list[OwnUnit]:
        """All units that are or were a person's in a campaign, in order."""
        query = _units_of(self._campaign_id(campaign), number(person))
        with self.reading() as conn:
            return [
                OwnUnit(row.number, row.name, row.segment or None, row.state, row.revision, row.submitted)
                for row in conn.execute(query)
            ]

    def _release(self, conn: Connection, campaign: int, person: int, what: str, *, by: int | None) -> int:
        mine = _me(t.assignment, campaign, person) & (t.assignment.c.state == "reserved")
        units: list[int] = sorted(conn.scalars(select(t.assignment.c.unit).where(mine)))
        lock_units(conn, campaign, units)
        back = update(t.assignment).where(mine, t.assignment.c.unit.in_(units))
        rows = conn.execute(
            back.values(state="released", place=None).returning(t.assignment.c.unit, t.assignment.c.document)
        ).all()
        change_taken(conn, campaign, rows, -1)
        less = {"until": None, "held": t.member.c.held - len(rows)}
        conn.execute(update(t.member).where(_me(t.member, campaign, person)).values(less))
        if rows:
            self.note(
                conn, what, by=by, campaign=campaign, person=person, units=sorted(row.unit for row in rows)
            )
        return len(rows)


def _me(table: Any, campaign: int, person: int) -> ColumnElement[bool]:
    return and_(table.c.campaign == campaign, table.c.person == person)


def _admit(conn: Connection, campaign: int, person: int, plan: Plan, now: datetime) -> None:
    if plan.who == "everybody":
        ensure_members(conn, campaign, [person], now)
    elif not conn.scalar(select(exists().where(_me(t.member, campaign, person)))):
        raise RefusedError("not-invited", "this campaign is for those who were invited", hint="ask a manager")


def _late(conn: Connection, campaign: int, person: int, now: datetime) -> Sequence[int]:
    """Whose time is over. Not the one who asks: whoever comes back before others need it goes on."""
    others = and_(t.member.c.campaign == campaign, t.member.c.person != person)
    late = others & (t.member.c.until < now) & (t.member.c.held > 0)
    return conn.scalars(select(t.member.c.person).where(late).order_by(t.member.c.person)).all()


def _units_of(campaign: int, person: int) -> Select[Any]:
    mine, place = t.assignment, t.campaign_document
    return (
        select(
            t.unit.c.number, place.c.name, t.unit.c.segment, mine.c.state, mine.c.revision, mine.c.submitted
        )
        .join(t.unit, (t.unit.c.campaign == mine.c.campaign) & (t.unit.c.number == mine.c.unit))
        .join(place, (place.c.campaign == mine.c.campaign) & (place.c.position == mine.c.document))
        .where(_me(mine, campaign, person))
        .order_by(mine.c.unit)
    )


def _held(conn: Connection, campaign: int, person: int) -> Sequence[Row[Any]]:
    return conn.execute(_units_of(campaign, person).where(t.assignment.c.state == "reserved")).all()


def _documents(conn: Connection, campaign: int, person: int, plan: Plan) -> list[int]:
    """The documents to hand out next: begun ones that went back, fresh ones, and what is new in judged ones."""
    mine, place, unit = t.assignment, t.campaign_document, t.unit
    me = _me(mine, campaign, person)
    open_units = (unit.c.campaign == campaign) & unit.c.active & (unit.c.taken < plan.per_unit)
    holds = exists().where(me, mine.c.unit == unit.c.number, mine.c.state.in_(HOLDS))

    def in_documents(seen: ScalarSelect[Any] | Select[Any]) -> Select[Any]:
        missing = select(unit.c.document).where(open_units, unit.c.document.in_(seen), ~holds)
        return missing.distinct().order_by(unit.c.document)

    order = order_for(plan.seed, person).place if plan.order == "random" else place.c.position
    fresh = (
        select(place.c.position)
        .where(place.c.campaign == campaign, place.c.level < plan.per_unit)
        .where(place.c.position.not_in(select(mine.c.document).where(me)))
        .order_by(place.c.level, order, place.c.position)
    )
    begun = in_documents(select(mine.c.document).where(me, mine.c.state == "released"))
    found: dict[int, None] = {}
    for query in (begun, fresh, in_documents(select(mine.c.document).where(me))):
        if len(found) < plan.batch:
            found.update(dict.fromkeys(conn.scalars(query.limit(plan.batch))))
    return list(found)[: plan.batch]


def _take(conn: Connection, campaign: int, person: int, per_unit: int, documents: list[int]) -> list[int]:
    """Give a person a place in every open unit of these documents."""
    mine, unit = t.assignment, t.unit
    open_units = (unit.c.campaign == campaign) & unit.c.active & (unit.c.taken < per_unit)
    rows = conn.execute(
        select(unit.c.number.label("unit"), unit.c.document)
        .where(open_units, unit.c.document.in_(documents))
        .order_by(unit.c.number)
        .with_for_update()
    ).all()
    numbers = [row.unit for row in rows]
    query = select(mine.c.unit, mine.c.state).where(_me(mine, campaign, person), mine.c.unit.in_(numbers))
    states: dict[int, str] = {row.unit: row.state for row in conn.execute(query)}
    rows = [row for row in rows if states.get(row.unit) not in HOLDS]
    free = free_places(conn, campaign, [row.unit for row in rows])
    new = [
        {
            "campaign": campaign, "unit": row.unit, "person": person, "document": row.document,
            "place": free[row.unit], "state": "reserved", "revision": 0, "submitted": 0,
        }
        for row in rows if row.unit not in states
    ]  # fmt: skip
    if new:
        conn.execute(insert(mine), new)
    again = [{"its": row.unit, "free": free[row.unit]} for row in rows if row.unit in states]
    if again:
        back = update(mine).where(_me(mine, campaign, person), mine.c.unit == bindparam("its"))
        conn.execute(back.values(state="reserved", place=bindparam("free")), again)
    change_taken(conn, campaign, rows, 1)
    more = {"held": t.member.c.held + len(rows)}
    conn.execute(update(t.member).where(_me(t.member, campaign, person)).values(more))
    return [row.unit for row in rows]


def lock_units(conn: Connection, campaign: int, units: Iterable[int]) -> None:
    """Keep others from changing these units until the transaction ends; always in the same order."""
    mine = (t.unit.c.campaign == campaign) & t.unit.c.number.in_(units)
    conn.execute(select(t.unit.c.number).where(mine).order_by(t.unit.c.number).with_for_update()).all()


def free_places(conn: Connection, campaign: int, units: Sequence[int]) -> dict[int, int]:
    """The lowest place of each unit that nobody has."""
    mine = t.assignment
    query = select(mine.c.unit, mine.c.place).where(mine.c.campaign == campaign, mine.c.unit.in_(units))
    used: dict[int, set[int]] = defaultdict(set)
    for row in conn.execute(query.where(mine.c.place.is_not(None))):
        used[row.unit].add(row.place)
    return {unit: next(place for place in count() if place not in used[unit]) for unit in units}


def change_taken(conn: Connection, campaign: int, rows: Sequence[Row[Any]], by: int) -> None:
    """Keep count of places taken or given back; rows name unit and document."""
    if rows:
        mine = (t.unit.c.campaign == campaign) & t.unit.c.number.in_([row.unit for row in rows])
        conn.execute(update(t.unit).where(mine).values(taken=t.unit.c.taken + by))
        set_levels(conn, campaign, {row.document for row in rows})


def _may_come(conn: Connection, row: Row[Any], person: int) -> bool:
    """Whether there may be work later: others hold units that could come back, or votes that choose some are open."""
    theirs, mine = t.assignment, t.assignment.alias()
    holds = exists().where(_me(mine, row.id, person), mine.c.unit == theirs.c.unit, mine.c.state.in_(HOLDS))
    working = and_(t.member.c.campaign == theirs.c.campaign, t.member.c.person == theirs.c.person)
    held = (
        select(theirs.c.unit)
        .join(t.member, working & (t.member.c.held > 0))
        .where(theirs.c.campaign == row.id, theirs.c.person != person, theirs.c.state == "reserved", ~holds)
        .limit(1)
    )
    if conn.scalar(held) is not None:
        return True
    if row.source is None or campaign_row(conn, row.source).state == "closed":
        return False
    total = t.campaign_total
    unfinished = (total.c.campaign == row.source) & (total.c.complete < total.c.units)
    return bool(conn.scalar(select(exists().where(unfinished))))
