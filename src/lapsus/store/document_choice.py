"""Which documents a person is given next: practice first, then the plan's own, with checks among them.

The statements are made once: to make them costs more than to ask them.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Select,
    and_,
    bindparam,
    case,
    exists,
    func,
    or_,
    select,
)

from lapsus.store import tables as t
from lapsus.store.plan import Plan
from lapsus.store.random_order import ORDERED, order_for
from lapsus.store.rows import one_of

HOLDS = ("reserved", "done", "extra")
"""States in which a unit is a person's own."""
PLANNED = ("pilot", "main")
"""Parts of a campaign whose judgments are counted."""


def had_planned(conn: Connection, campaign: int, person: int) -> int:
    """How many of the plan's own documents a person has or had."""
    return conn.scalar(_had(PLANNED), {"c": campaign, "p": person}) or 0


class DocumentChoice:
    """What there is for one person."""

    def __init__(self, conn: Connection, campaign: int, person: int, plan: Plan) -> None:
        self.conn, self.campaign, self.plan = conn, campaign, plan
        self.is_random = plan.order == "random"
        self.values: dict[str, Any] = {"c": campaign, "p": person, "often": plan.per_unit}
        if plan.pilot is not None:
            self.values["pilot_often"] = plan.pilot_per_unit
        if self.is_random:
            self.values |= order_for(plan.seed, person)._asdict()

    def documents(self) -> list[int]:
        """The documents to hand out next, by position; none where there is nothing for this person."""
        plan = self.plan
        found = self._of(_BEGUN, plan.batch)
        if not found and plan.training is not None:
            found = self._of(_unseen("training", self.is_random), plan.batch)
        # A check comes in one batch with others, where there are batches: by itself it would be known for one.
        if not found and plan.checks is not None:
            due = self._checks_due(plan.checks.every)
            found = self._of(_unseen("checks", self.is_random, plan.show_votes), due)
        room = self._room(found)
        if not found or (len(found) < room and not self._is_practice(found)):
            unsure_first = plan.learn is not None and plan.learn.uncertain_first
            for query in (
                _fresh(self.is_random, plan.pilot is not None, unsure_first),
                _MISSING,
                _ASKED_AGAIN,
            ):
                if len(found) < room:
                    found = list(dict.fromkeys([*found, *self._of(query, room)]))[:room]
        return found

    def _of(self, query: Select[Any], many: int) -> list[int]:
        return list(self.conn.scalars(query, {**self.values, "many": many})) if many > 0 else []

    def _had(self, *parts: str) -> int:
        return self.conn.scalar(_had(parts), self.values) or 0

    def _checks_due(self, every: int) -> int:
        """How many checks come now: as many as belong into a batch, until all that are due were handed out."""
        due = self._had(*PLANNED) // every - self._had("checks")
        return min(due, -(-self.plan.batch // (every + 1)))

    def units_of_checks(self) -> int:
        """Units of the attention checks that the person has got or will get among the plan's own documents."""
        if self.plan.checks is None:
            return 0
        checks = self.conn.execute(_checks(self.is_random), self.values).all()
        due = (self.conn.scalar(_OPEN_DOCUMENTS, self.values) or 0) // self.plan.checks.every
        return sum(row.units for place, row in enumerate(checks) if place < due or row.is_seen)

    def _room(self, found: list[int]) -> int:
        """How many documents may be handed out now, with those that were found already."""
        if not self.plan.per_person:
            return self.plan.batch
        checks = len(found) - len(self._parts(found, PLANNED))
        left = self.plan.per_person - self._had(*PLANNED) + checks
        return max(0, min(self.plan.batch, left))

    def _is_practice(self, found: list[int]) -> bool:
        """Whether it is practice, which people are told: then nothing else is handed out with it."""
        return self.plan.training is not None and bool(self._parts(found, ("training",)))

    def _parts(self, found: list[int], parts: Sequence[str]) -> list[int]:
        """The documents that belong to some parts of the campaign."""
        place = t.campaign_document
        mine = and_(place.c.campaign == self.campaign, place.c.position.in_(found))
        query = select(place.c.position).where(mine, one_of(place.c.part, parts))
        return list(self.conn.scalars(query)) if found else []


_ME = (t.assignment.c.campaign == bindparam("c")) & (t.assignment.c.person == bindparam("p"))
_MINE = select(t.assignment.c.document).where(_ME)
_MANY = bindparam("many", type_=Integer)


@cache
def _had(parts: Sequence[str]) -> Select[Any]:
    """How many documents of these parts a person has or had."""
    mine, place = t.assignment, t.campaign_document
    its = (place.c.campaign == mine.c.campaign) & (place.c.position == mine.c.document)
    query = select(func.count(mine.c.document.distinct())).join(place, its)
    return query.where(_ME, one_of(mine.c.state, HOLDS), one_of(place.c.part, parts))


def _in_documents(seen: Select[Any]) -> Select[Any]:
    """Documents that the person has seen and that have units which the person does not have."""
    mine, unit = t.assignment, t.unit
    open_units = (unit.c.campaign == bindparam("c")) & unit.c.active & (unit.c.taken < unit.c.wanted)
    holds = exists().where(_ME, mine.c.unit == unit.c.number, one_of(mine.c.state, HOLDS))
    missing = select(unit.c.document).where(open_units, unit.c.document.in_(seen), ~holds)
    return missing.distinct().order_by(unit.c.document).limit(_MANY)


def _in_order(is_random: bool) -> ColumnElement[int]:
    return ORDERED if is_random else t.campaign_document.c.position


@cache
def _unseen(part: str, is_random: bool, with_votes: bool = False) -> Select[Any]:
    """Documents of a part that everybody gets, practice in the order given.

    `with_votes`: people see the votes by which units were chosen, so only those come that have all of theirs.
    """
    place = t.campaign_document
    mine = and_(place.c.campaign == bindparam("c"), place.c.part == part, place.c.level < t.FULL)
    unseen = select(place.c.position).where(mine, place.c.position.not_in(_MINE))
    if with_votes:
        source, its = t.unit.alias(), t.unit
        same = (source.c.campaign == t.campaign.c.source) & (source.c.number == its.c.number)
        lacks = exists().where(
            t.campaign.c.id == bindparam("c"), its.c.campaign == bindparam("c"), its.c.active,
            its.c.document == place.c.position, same, source.c.done < source.c.wanted,
        )  # fmt: skip
        unseen = unseen.where(~lacks)
    order = () if part == "training" else (_in_order(is_random),)
    return unseen.order_by(*order, place.c.position).limit(_MANY)


@cache
def _checks(is_random: bool) -> Select[Any]:
    """Documents with attention checks, with how many units each has; first those that the person has got."""
    place, unit, known = t.campaign_document, t.unit, t.unit.alias()
    its = (t.expected.c.campaign == known.c.campaign) & (t.expected.c.unit == known.c.number)
    documents = select(known.c.document).join(t.expected, its)
    documents = documents.where(t.expected.c.campaign == bindparam("c"), t.expected.c.block == "checks")
    units = select(func.count()).where(
        unit.c.campaign == place.c.campaign, unit.c.document == place.c.position,
        unit.c.active, unit.c.wanted >= t.FULL,
    )  # fmt: skip
    is_seen = place.c.position.in_(_MINE).label("is_seen")
    query = select(units.scalar_subquery().label("units"), is_seen)
    query = query.where(place.c.campaign == bindparam("c"), place.c.position.in_(documents))
    return query.order_by(is_seen.desc(), _in_order(is_random), place.c.position)


def _open_documents() -> Select[Any]:
    """How many documents of the plan's own are open. Counted by the index, without practice and checks."""
    place, known = t.campaign_document, t.unit.alias()
    its = (t.expected.c.campaign == known.c.campaign) & (t.expected.c.unit == known.c.number)
    beside = select(func.count(known.c.document.distinct())).join(t.expected, its)
    beside = beside.where(t.expected.c.campaign == bindparam("c"), t.expected.c.block != "gold")
    open_ones = select(func.count()).where(place.c.campaign == bindparam("c"), place.c.level < t.FULL)
    return select(open_ones.scalar_subquery() - beside.scalar_subquery())


@cache
def _fresh(is_random: bool, has_pilot: bool, unsure_first: bool) -> Select[Any]:
    """Documents that the person has not seen; the pilot's first, then those handed out least often.

    Among these come those of which the campaign's own judge is least sure, where the plan says so.
    """
    place = t.campaign_document
    is_open: ColumnElement[bool] = and_(place.c.part == "main", place.c.level < bindparam("often"))
    first: tuple[Any, ...] = ()
    if has_pilot:
        pilot = and_(place.c.part == "pilot", place.c.level < bindparam("pilot_often"))
        is_open, first = or_(is_open, pilot), (case((place.c.part == "pilot", 0), else_=1),)
    query = (
        select(place.c.position)
        .where(place.c.campaign == bindparam("c"), is_open)
        .where(place.c.position.not_in(_MINE))
    )
    unsure: tuple[Any, ...] = ()
    if unsure_first:
        found = t.learned_document
        its = (found.c.campaign == place.c.campaign) & (found.c.document == place.c.position)
        query, unsure = query.join(found, its, isouter=True), (func.coalesce(found.c.doubt, 0).desc(),)
    ordered = query.order_by(*first, place.c.level, *unsure, _in_order(is_random), place.c.position)
    return ordered.limit(_MANY)


def _asked_again() -> Select[Any]:
    """Documents that are through but for some units that one more person is asked about."""
    unit = t.unit
    wanted = unit.c.active & (unit.c.taken < unit.c.wanted) & (unit.c.wanted < t.FULL)
    query = select(unit.c.document).where(unit.c.campaign == bindparam("c"), wanted)
    return query.where(unit.c.document.not_in(_MINE)).distinct().order_by(unit.c.document).limit(_MANY)


_OPEN_DOCUMENTS = _open_documents()
_BEGUN = _in_documents(_MINE.where(t.assignment.c.state == "released"))
"""What was begun and went back."""
_MISSING = _in_documents(_MINE)
_ASKED_AGAIN = _asked_again()
