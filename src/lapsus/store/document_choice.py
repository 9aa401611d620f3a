"""Which documents a person is given next: practice first, then the plan's own, with checks among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, case, exists, func, or_, select

from lapsus.store import tables as t
from lapsus.store.plan import Plan
from lapsus.store.random_order import order_for
from lapsus.store.unit_places import of_person

HOLDS = ("reserved", "done", "extra")
"""States in which a unit is a person's own."""
PLANNED = ("pilot", "main")
"""Parts of a campaign whose judgments are counted."""


def had(conn: Connection, me: ColumnElement[bool], parts: Sequence[str]) -> int:
    """How many documents of these parts a person has or had."""
    mine, place = t.assignment, t.campaign_document
    its = (place.c.campaign == mine.c.campaign) & (place.c.position == mine.c.document)
    query = select(func.count(mine.c.document.distinct())).join(place, its)
    return conn.scalar(query.where(me, mine.c.state.in_(HOLDS), place.c.part.in_(parts))) or 0


def had_planned(conn: Connection, campaign: int, person: int) -> int:
    """How many of the plan's own documents a person has or had."""
    return had(conn, of_person(t.assignment, campaign, person), PLANNED)


def next_documents(conn: Connection, campaign: int, person: int, plan: Plan) -> list[int]:
    """The documents to hand out next, by position; none where there is nothing for this person."""
    return _Choice(conn, campaign, person, plan).documents()


class _Choice:
    """What there is for one person."""

    def __init__(self, conn: Connection, campaign: int, person: int, plan: Plan) -> None:
        self.conn, self.campaign, self.plan = conn, campaign, plan
        self.me = of_person(t.assignment, campaign, person)
        place = t.campaign_document
        own_order = order_for(plan.seed, person).place
        self.order: Any = own_order if plan.order == "random" else place.c.position

    def documents(self) -> list[int]:
        found = self._of(self._begun(), self.plan.batch)
        if not found and self.plan.training is not None:
            found = self._of(self._unseen("training"), self.plan.batch)
        if not found and self.plan.checks is not None and self._check_is_due(self.plan.checks.every):
            found = self._of(self._unseen("checks"), 1)
        room = self._room()
        if not found or (len(found) < room and self._all_planned(found)):
            for query in (self._fresh(), self._in_documents(self._mine()), self._asked_again()):
                if len(found) < room:
                    found = list(dict.fromkeys([*found, *self._of(query, room)]))[:room]
        return found

    def _of(self, query: Select[Any], many: int) -> list[int]:
        return list(self.conn.scalars(query.limit(many))) if many > 0 else []

    def _mine(self) -> Select[Any]:
        return select(t.assignment.c.document).where(self.me)

    def _begun(self) -> Select[Any]:
        """What was begun and went back."""
        return self._in_documents(self._mine().where(t.assignment.c.state == "released"))

    def _in_documents(self, seen: Select[Any]) -> Select[Any]:
        """Documents that the person has seen and that have units which the person does not have."""
        mine, unit = t.assignment, t.unit
        open_units = (unit.c.campaign == self.campaign) & unit.c.active & (unit.c.taken < unit.c.wanted)
        holds = exists().where(self.me, mine.c.unit == unit.c.number, mine.c.state.in_(HOLDS))
        missing = select(unit.c.document).where(open_units, unit.c.document.in_(seen), ~holds)
        return missing.distinct().order_by(unit.c.document)

    def _unseen(self, part: str) -> Select[Any]:
        """Documents of a part that everybody gets, practice in the order given."""
        place = t.campaign_document
        mine = and_(place.c.campaign == self.campaign, place.c.part == part, place.c.level < t.FULL)
        unseen = select(place.c.position).where(mine, place.c.position.not_in(self._mine()))
        return unseen.order_by(*(() if part == "training" else (self.order,)), place.c.position)

    def _fresh(self) -> Select[Any]:
        """Documents that the person has not seen; the pilot's first, then those handed out least often.

        Among these come those of which the campaign's own judge is least sure, where the plan says so.
        """
        place = t.campaign_document
        is_open: ColumnElement[bool] = and_(place.c.part == "main", place.c.level < self.plan.per_unit)
        first: tuple[Any, ...] = ()
        if self.plan.pilot is not None:
            pilot = and_(place.c.part == "pilot", place.c.level < self.plan.pilot_per_unit)
            is_open, first = or_(is_open, pilot), (case((place.c.part == "pilot", 0), else_=1),)
        query = (
            select(place.c.position)
            .where(place.c.campaign == self.campaign, is_open)
            .where(place.c.position.not_in(self._mine()))
        )
        unsure: tuple[Any, ...] = ()
        if self.plan.learn is not None and self.plan.learn.uncertain_first:
            found = t.learned_document
            its = (found.c.campaign == place.c.campaign) & (found.c.document == place.c.position)
            query, unsure = query.join(found, its, isouter=True), (func.coalesce(found.c.doubt, 0).desc(),)
        return query.order_by(*first, place.c.level, *unsure, self.order, place.c.position)

    def _asked_again(self) -> Select[Any]:
        """Documents that are through but for some units that one more person is asked about."""
        unit = t.unit
        wanted = unit.c.active & (unit.c.taken < unit.c.wanted) & (unit.c.wanted < t.FULL)
        query = select(unit.c.document).where(unit.c.campaign == self.campaign, wanted)
        return query.where(unit.c.document.not_in(self._mine())).distinct().order_by(unit.c.document)

    def _had(self, *parts: str) -> int:
        return had(self.conn, self.me, parts)

    def _check_is_due(self, every: int) -> bool:
        return self._had(*PLANNED) // every > self._had("checks")

    def _room(self) -> int:
        """How many documents may be handed out now."""
        if not self.plan.per_person:
            return self.plan.batch
        return max(0, min(self.plan.batch, self.plan.per_person - self._had(*PLANNED)))

    def _all_planned(self, found: list[int]) -> bool:
        """Whether what was found is the plan's own, so that more of it may come along."""
        if not self.plan.has_known:
            return True
        place = t.campaign_document
        mine = and_(place.c.campaign == self.campaign, place.c.position.in_(found))
        parts: set[str] = set(self.conn.scalars(select(place.c.part).where(mine)))
        return parts <= set(PLANNED)
