"""Who judges what: documents are handed out whole, to as many people as the plan asks for, and never more.

The next document for a person is the one that was handed out least often so far; where several were, the person's
own shuffle decides, so that everybody overlaps with everybody. Places are counted by unit: what somebody judged
of a document counts, and only the rest goes back after its time.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, Row, Select, and_, bindparam, exists, func, insert, select, update

from lapsus.store import tables as t
from lapsus.store.base import Database, StorePart
from lapsus.store.document_choice import HOLDS, PLANNED, DocumentChoice, had_planned
from lapsus.store.people import People
from lapsus.store.records import Nothing, OwnUnit, Plan, RefusedError, Reservation, UnitPlace
from lapsus.store.rows import (
    ITS_UNIT,
    campaign_row,
    change_taken,
    ensure_members,
    free_places,
    lock_units,
    plan_of,
    release,
    set_levels,
)
from lapsus.store.rows import of_person as _me
from lapsus.store.validation import number

AHEAD: Final = 10
"""How many units somebody gets who works ahead."""


class Assignment(StorePart):
    """Handing out units and taking them back."""

    def __init__(self, database: Database, people: People) -> None:
        super().__init__(database)
        self.people = people

    def next_units(self, person: int, campaign: str, *, ahead: bool = False) -> Reservation | Nothing:
        """Units for a person to judge: those already held, or else the next documents.

        `ahead`: whatever the plan's batch, enough documents for some units at once, for whoever may lose the network.
        """
        with self.database.reading_together(), self.reading() as conn:
            who, id = self.people.get(person), self._campaign_id(campaign)
            is_any_late = bool(_late(conn, id, person, self.clock()))
        if who.disabled is not None:
            raise RefusedError("disabled", "this account is shut", hint="ask a manager")
        if is_any_late:
            # By itself: units are locked in the order of their numbers within a transaction, so that no two wait for
            # each other, and those that go back need not come before those that are handed out.
            self._release_late(id, person)
        return self.write(lambda conn: self._next(conn, id, person, ahead=ahead))

    def _release_late(self, campaign: int, person: int) -> None:
        """Return to the pool what others hold whose time is over."""

        def work(conn: Connection) -> None:
            if campaign_row(conn, campaign, lock="units").state != "open":
                return
            late = _late(conn, campaign, person, self.clock())
            held = t.assignment.c.person.in_(late) & (t.assignment.c.state == "reserved")
            query = select(t.assignment.c.unit).where(t.assignment.c.campaign == campaign, held)
            lock_units(conn, campaign, list(conn.scalars(query)))
            for one in late:
                self.take_back(conn, campaign, one, "units went back after their time", by=None)

        self.write(work)

    def _next(self, conn: Connection, campaign: int, person: int, *, ahead: bool) -> Reservation | Nothing:
        row = campaign_row(conn, campaign, lock="units")
        if row.state != "open":
            return Nothing(row.state)
        plan, now = plan_of(row), self.clock()
        if plan.collect is not None:
            # Those who talk judge their own talk, nobody another's.
            return Nothing("done")
        if (reason := admit(conn, campaign, person, plan, now)) is not None:
            return reason
        held = _held(conn, campaign, person)
        while not held or (ahead and _may_have_more(conn, campaign, plan, held)):
            taken = _take(conn, campaign, person, DocumentChoice(conn, campaign, person, plan).documents())
            if not taken:
                break
            self.note(conn, "units handed out", by=person, campaign=campaign, units=taken)
            held = _held(conn, campaign, person)
        if not held:
            return Nothing("wait" if _may_come(conn, row, person, plan) else "done")
        until = now + timedelta(minutes=plan.minutes)
        conn.execute(_HOLD_UNTIL, {"c": campaign, "p": person, "to": until})
        return Reservation(tuple(UnitPlace(u.number, u.name, u.segment or None) for u in held), until)

    def give_back(self, person: int, campaign: str, *, by: int | None = None) -> int:
        """Return to the pool what a person holds and has not submitted; how many units that were."""
        id = self._campaign_id(campaign)

        def work(conn: Connection) -> int:
            campaign_row(conn, id, lock="units")
            return self.take_back(conn, id, number(person), "units given back", by=by)

        return self.write(work)

    def own_units(self, person: int, campaign: str, *, held: bool = False) -> list[OwnUnit]:
        """All units that are or were a person's in a campaign, or those held and not judged, in order."""
        me = {"c": self._campaign_id(campaign), "p": number(person)}
        return [
            OwnUnit(row.number, row.name, row.segment or None, row.state, row.revision, row.submitted)
            for row in self.rows(_HELD if held else _UNITS, me)
        ]

    def take_back(self, conn: Connection, campaign: int, person: int, what: str, *, by: int | None) -> int:
        """Return the units that a person holds, in a transaction under way; how many."""
        units = release(conn, campaign, person)
        if units:
            self.note(conn, what, by=by, campaign=campaign, person=person, units=units)
        return len(units)


def admit(conn: Connection, campaign: int, person: int, plan: Plan, now: datetime) -> Nothing | None:
    """Admit a person to the campaign, or raise why not."""
    me = {"c": campaign, "p": person}
    member = conn.execute(_MEMBER, me).one_or_none()
    if member is None and plan.who == "everybody":
        ensure_members(conn, campaign, [person], now)
        member = conn.execute(_MEMBER, me).one_or_none()
    if member is None:
        raise RefusedError("not-invited", "this campaign is for those who were invited", hint="ask a manager")
    if member.stopped is not None:
        return Nothing("stopped")
    if member.begun is None and (plan.consent or plan.instructions):
        return Nothing("begin")
    return None


def _late(conn: Connection, campaign: int, person: int, now: datetime) -> Sequence[int]:
    """People whose reservation has expired, except the one who asks."""
    return conn.scalars(_LATE, {"c": campaign, "p": person, "now": now}).all()


def _may_have_more(conn: Connection, campaign: int, plan: Plan, held: Sequence[Row[Any]]) -> bool:
    """Whether somebody who holds units may work further ahead: not beyond what is left for each, so that nobody
    waits for another, and not in a practice, where each answer is told of before the next unit comes.
    """
    if len(held) >= AHEAD:
        return False
    place, total = t.campaign_document, t.campaign_total
    its = (place.c.campaign == campaign) & place.c.name.in_([unit.name for unit in held])
    if conn.scalar(select(exists().where(its, place.c.part == "training"))):
        return False
    places = total.c.wanted - total.c.done + total.c.surplus
    left: int = conn.scalar(select(places).where(total.c.campaign == campaign)) or 0
    working = (t.member.c.campaign == campaign) & t.member.c.stopped.is_(None)
    if plan.who == "named":
        people: int = conn.scalar(select(func.count()).select_from(t.member).where(working)) or 1
        return len(held) < left // people
    # Nobody knows how many will come: half of what nobody holds stays for them.
    taken: int = conn.scalar(select(func.sum(t.member.c.held)).where(working)) or 0
    return len(held) < (left - taken) // 2


def _units_of() -> Select[Any]:
    mine, place = t.assignment, t.campaign_document
    return (
        select(
            t.unit.c.number, place.c.name, t.unit.c.segment, mine.c.state, mine.c.revision, mine.c.submitted
        )
        .join(t.unit, ITS_UNIT)
        .join(place, (place.c.campaign == mine.c.campaign) & (place.c.position == mine.c.document))
        .where(mine.c.campaign == bindparam("c"), mine.c.person == bindparam("p"))
        .order_by(mine.c.unit)
    )


def _held(conn: Connection, campaign: int, person: int) -> Sequence[Row[Any]]:
    return conn.execute(_HELD, {"c": campaign, "p": person}).all()


# Made once, since they are asked for whenever somebody wants a unit.
_UNITS = _units_of()
_HELD = _UNITS.where(t.assignment.c.state == "reserved")
_MEMBER = select(t.member.c.begun, t.member.c.stopped).where(
    t.member.c.campaign == bindparam("c"), t.member.c.person == bindparam("p")
)
_HOLD_UNTIL = (
    update(t.member)
    .where(t.member.c.campaign == bindparam("c"), t.member.c.person == bindparam("p"))
    .values(until=bindparam("to"))
)
_HOLD_MORE = (
    update(t.member)
    .where(t.member.c.campaign == bindparam("c"), t.member.c.person == bindparam("p"))
    .values(held=t.member.c.held + bindparam("more"))
)
_OPEN = (
    select(t.unit.c.number.label("unit"), t.unit.c.document)
    .where(t.unit.c.campaign == bindparam("c"), t.unit.c.active, t.unit.c.taken < t.unit.c.wanted)
    .where(t.unit.c.document.in_(bindparam("documents", expanding=True)))
    .order_by(t.unit.c.number)
    .with_for_update()
)
_KNOWN = select(t.assignment.c.unit, t.assignment.c.state).where(
    t.assignment.c.campaign == bindparam("c"),
    t.assignment.c.person == bindparam("p"),
    t.assignment.c.unit.in_(bindparam("units", expanding=True)),
)
_LATE = (
    select(t.member.c.person)
    .where(t.member.c.campaign == bindparam("c"), t.member.c.person != bindparam("p"))
    .where(t.member.c.until < bindparam("now"), t.member.c.held > 0)
    .order_by(t.member.c.person)
)


def _take(conn: Connection, campaign: int, person: int, documents: list[int]) -> list[int]:
    """Give a person a place in every open unit of these documents."""
    mine, me = t.assignment, {"c": campaign, "p": person}
    rows = conn.execute(_OPEN, {"c": campaign, "documents": documents}).all()
    theirs = conn.execute(_KNOWN, {**me, "units": [row.unit for row in rows]})
    states: dict[int, str] = {row.unit: row.state for row in theirs}
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
    conn.execute(_HOLD_MORE, {**me, "more": len(rows)})
    set_levels(conn, campaign, {row.document for row in rows})
    return [row.unit for row in rows]


def _may_come(conn: Connection, row: Row[Any], person: int, plan: Plan) -> bool:
    """Whether there may be work later: others hold units that could come back, or votes that choose some are open."""
    if plan.per_person and had_planned(conn, row.id, person) >= plan.per_person:
        return False
    theirs, mine = t.assignment, t.assignment.alias()
    holds = exists().where(_me(mine, row.id, person), mine.c.unit == theirs.c.unit, mine.c.state.in_(HOLDS))
    working = and_(t.member.c.campaign == theirs.c.campaign, t.member.c.person == theirs.c.person)
    place = t.campaign_document
    planned = and_(place.c.campaign == theirs.c.campaign, place.c.position == theirs.c.document)
    held = (
        select(theirs.c.unit)
        .join(t.member, working & (t.member.c.held > 0))
        .join(place, planned & place.c.part.in_(PLANNED))
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
