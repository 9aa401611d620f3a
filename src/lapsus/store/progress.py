"""How far a campaign is, and each person in it.

Where a person stands is asked at every page, so nothing here goes through all of one's units: the index of the places
is by campaign, person, state and document, and units are numbered document by document, so that the neighbours of a
unit are found through their documents.

Whoever judges must not be able to tell attention checks from other documents. So what people are told of themselves
counts checks like any other document; what managers are told leaves them out. Practice is left out of both.
"""

from collections.abc import Sequence
from datetime import datetime
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
    func,
    select,
    tuple_,
    union_all,
)
from sqlalchemy.sql.selectable import CompoundSelect

from lapsus.store import tables as t
from lapsus.store.base import Database, StorePart
from lapsus.store.document_choice import DocumentChoice
from lapsus.store.records import OwnPlace, OwnProgress, PersonProgress, Progress
from lapsus.store.rows import ANSWERS, ITS_UNIT, SUBMITTED, campaign_row, one_of, plan_of, record
from lapsus.store.saves import Saves
from lapsus.store.validation import number

STATES = ("reserved", "done", "released", "extra")
PRACTICE, NOT_COUNTED = ("training",), ("training", "checks")
"""Known answers beside the data: those that a person is told are practice, and those that managers leave out."""


class CampaignProgress(StorePart):
    """Progress of campaigns and people, from counts that are kept."""

    def __init__(self, database: Database, saves: Saves) -> None:
        super().__init__(database)
        self.saves = saves

    def of_campaign(self, campaign: str) -> Progress:
        """How far a campaign is, as a whole and by person."""
        id, total = self._campaign_id(campaign), t.campaign_total
        with self.reading() as conn:
            row = conn.execute(select(total).where(total.c.campaign == id)).one()
            people = conn.execute(_members(NOT_COUNTED).where(t.member.c.campaign == id)).all()
        return record(Progress, row, done=row.done - row.surplus, people=tuple(map(_person, people)))

    def of_person(self, campaign: str, person: int) -> PersonProgress | None:
        """How far one person is, as the person is told; None for somebody who has nothing to do with the campaign."""
        mine = (t.member.c.campaign == self._campaign_id(campaign)) & (t.member.c.person == number(person))
        row = self.row(_members(PRACTICE).where(mine))
        return None if row is None else _person(row)

    def judged_since(self, person: int, since: datetime) -> int:
        """How many units a person has judged since a moment, in all campaigns."""
        mine, said = t.assignment, t.judgment
        # Only campaigns in which something was saved since then are looked into.
        here = select(t.member.c.campaign).where(
            t.member.c.person == number(person), t.member.c.last_at >= since
        )
        query = (
            select(func.count())
            .select_from(mine)
            .join(said, SUBMITTED)
            .where(mine.c.campaign.in_(here), mine.c.person == number(person), said.c.stored_at >= since)
        )
        return self.scalar(query) or 0

    def own(self, campaign: str, person: int, unit: int) -> OwnProgress:
        """Where a person stands who looks at a unit."""
        id = self._campaign_id(campaign)
        me = {"c": id, "p": number(person), "d": self._unit(id, unit).document}
        with self.reading() as conn:
            counts = conn.execute(_COUNTS, me).one()
            found = OwnProgress(
                places=tuple(_place(row) for row in conn.execute(_PLACES, me)),
                unjudged=list(conn.scalars(_UNJUDGED, me)),
                done=counts.done or 0,
                own=counts.own,
                before=counts.before,
                previous=counts.previous,
                next=counts.next,
                total=_own_total(conn, counts, id, person),
            )
        # Whoever looks at a document will soon answer; then nothing of it needs to be read.
        self.saves.cache_rules(campaign, (place.unit for place in found.places))
        return found

    def own_total(self, campaign: str, person: int) -> int:
        """How many units there are for one person, as the person is told: those of the plan and the checks to come."""
        id = self._campaign_id(campaign)
        with self.reading() as conn:
            return _own_total(conn, conn.execute(_TOTALS, {"c": id}).one(), id, number(person))

    def is_complete(self, campaign: str) -> bool:
        """Whether there are units and all have the judgments that the plan asks for."""
        id, total = self._campaign_id(campaign), t.campaign_total
        query = select(total.c.campaign).where(
            total.c.campaign == id, total.c.units > 0, total.c.complete >= total.c.units
        )
        return self.scalar(query) is not None


def _own_total(conn: Connection, row: Row[Any], campaign: int, person: int) -> int:
    if not row.has_checks:
        return row.total or 0
    plan = plan_of(campaign_row(conn, campaign))
    return (row.total or 0) + DocumentChoice(conn, campaign, person, plan).units_of_checks()


def _person(row: Row[Any]) -> PersonProgress:
    return record(PersonProgress, row, submitted=row.counted, stopped=row.stopped is not None)


def _place(row: Row[Any]) -> OwnPlace:
    answers = ANSWERS.decode(row.answers) if row.answers is not None else {}
    return record(OwnPlace, row, segment=row.segment or None, answers=answers, practice=bool(row.practice))


_MINE, _SAID = t.assignment, t.judgment
_ANY_STATE = one_of(_MINE.c.state, STATES)
_UNIT = _MINE.c.unit + 0
"""Written so that no database goes by the index that begins with units: it has everybody's, and this is about one."""
_CAMPAIGN: ColumnElement[int] = bindparam("c")
_PERSON: ColumnElement[int] = bindparam("p")
_DOCUMENT: ColumnElement[int] = bindparam("d")
_KNOWN_UNIT = t.unit.alias()


def _me(*more: ColumnElement[bool]) -> ColumnElement[bool]:
    return and_(_MINE.c.campaign == _CAMPAIGN, _MINE.c.person == _PERSON, *more)


def _is_known(campaign: ColumnElement[int], blocks: Sequence[str]) -> ColumnElement[bool]:
    """Whether a place with its unit is of these blocks. In a chain other units of a document may be planned."""
    its = (t.expected.c.campaign == _KNOWN_UNIT.c.campaign) & (t.expected.c.unit == _KNOWN_UNIT.c.number)
    documents = select(_KNOWN_UNIT.c.document).join(t.expected, its)
    documents = documents.where(_KNOWN_UNIT.c.campaign == campaign, one_of(t.expected.c.block, blocks))
    return _MINE.c.document.in_(documents.correlate(t.member)) & (t.unit.c.wanted >= t.FULL)


def _beside(
    campaign: ColumnElement[int],
    person: ColumnElement[int],
    blocks: Sequence[str],
    *more: ColumnElement[bool],
) -> ScalarSelect[int]:
    """How many places of a person are of these blocks."""
    mine = (_MINE.c.campaign == campaign) & (_MINE.c.person == person)
    query = select(func.count()).select_from(_MINE).join(t.unit, ITS_UNIT)
    query = query.where(mine, _ANY_STATE, _is_known(campaign, blocks), *more)
    return query.correlate(t.member).scalar_subquery()


def _submitted(blocks: Sequence[str]) -> ColumnElement[int]:
    """How many units a member submitted, without those of some blocks."""
    beside = _beside(t.member.c.campaign, t.member.c.person, blocks, _MINE.c.submitted > 0)
    return (t.member.c.submitted - beside).label("counted")


def _members(left_out: Sequence[str]) -> Select[Any]:
    return select(t.member, _submitted(left_out), t.person.c.name).join(t.person).order_by(t.member.c.person)


def _nearest(later: bool) -> CompoundSelect[Any]:
    """The nearest document on one side, looked up once for each state because the index has the state before it."""
    side = _MINE.c.document > _DOCUMENT if later else _MINE.c.document < _DOCUMENT
    nearest = (func.min(_MINE.c.document) if later else func.max(_MINE.c.document)).label("document")
    return union_all(*(select(nearest).where(_me(_MINE.c.state == state, side)) for state in STATES))


def _edge(later: bool) -> ScalarSelect[Any]:
    """The first or last unit of one's own in the nearest document on one side."""
    near = _nearest(later).subquery()
    document = select(func.min(near.c.document) if later else func.max(near.c.document)).scalar_subquery()
    unit = func.min(_UNIT) if later else func.max(_UNIT)
    return select(unit).where(_me(_ANY_STATE, _MINE.c.document == document)).scalar_subquery()


def _own(*which: ColumnElement[bool]) -> ColumnElement[int]:
    """How many units of one's own there are, practice aside."""
    all_ = select(func.count()).select_from(_MINE).where(_me(_ANY_STATE, *which)).scalar_subquery()
    return all_ - _beside(_CAMPAIGN, _PERSON, PRACTICE, *which)


_PLACES = (
    select(
        _MINE.c.unit, t.unit.c.segment, _MINE.c.state, _MINE.c.revision, _MINE.c.submitted, _SAID.c.answers,
        _is_known(_CAMPAIGN, PRACTICE).label("practice"),
    )
    .join(t.unit, ITS_UNIT)
    .join(
        _SAID,
        tuple_(_SAID.c.campaign, _SAID.c.unit, _SAID.c.person, _SAID.c.revision)
        == tuple_(_MINE.c.campaign, _MINE.c.unit, _MINE.c.person, _MINE.c.revision),
        isouter=True,
    )
    .where(_me(_ANY_STATE, _MINE.c.document == _DOCUMENT))
    .order_by(_UNIT)
)  # fmt: skip
_UNJUDGED = select(_MINE.c.unit).where(_me(_MINE.c.state == "reserved")).order_by(_UNIT)
_DONE = select(_submitted(PRACTICE)).where(t.member.c.campaign == _CAMPAIGN, t.member.c.person == _PERSON)
_TOTAL = select(t.campaign_total.c.units).where(t.campaign_total.c.campaign == _CAMPAIGN)
_HAS_CHECKS = exists().where(t.expected.c.campaign == _CAMPAIGN, t.expected.c.block == "checks")
_TOTALS = select(_TOTAL.scalar_subquery().label("total"), _HAS_CHECKS.label("has_checks"))
_COUNTS = _TOTALS.add_columns(
    _DONE.scalar_subquery().label("done"),
    _own().label("own"),
    _own(_MINE.c.document < _DOCUMENT).label("before"),
    _edge(later=False).label("previous"),
    _edge(later=True).label("next"),
)
"""All in one: to ask costs more than to answer."""
