"""Where a person stands in a campaign. Asked at every page, so nothing here goes through all of one's units.

The index of the places is by campaign, person, state and document. Units are numbered document by document, so the
neighbours of a unit are found through their documents.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    and_,
    bindparam,
    func,
    select,
    tuple_,
    union_all,
)
from sqlalchemy.sql.selectable import CompoundSelect

from lapsus.store import tables as t
from lapsus.store.chains import ANSWERS
from lapsus.store.records import OwnPlace, OwnProgress
from lapsus.store.unit_places import one_of

STATES = ("reserved", "done", "released", "extra")
_MINE, _SAID = t.assignment, t.judgment
_ANY_STATE = one_of(_MINE.c.state, STATES)
_UNIT = _MINE.c.unit + 0
"""Written so that no database goes by the index that begins with units: it has everybody's, and this is about one."""


def read_own_progress(conn: Connection, campaign: int, person: int, document: int) -> OwnProgress:
    """Where a person stands who looks at the document at a position."""
    me = {"c": campaign, "p": person, "d": document}
    counts = conn.execute(_COUNTS, me).one()
    return OwnProgress(
        places=tuple(_place(row) for row in conn.execute(_PLACES, me)),
        unjudged=list(conn.scalars(_UNJUDGED, me)),
        done=counts.done or 0,
        own=counts.own,
        before=counts.before,
        previous=counts.previous,
        next=counts.next,
        total=counts.total or 0,
    )


def read_total(conn: Connection, campaign: int) -> int:
    """How many units a campaign has."""
    return conn.scalar(_TOTAL, {"c": campaign}) or 0


def _place(row: Row[Any]) -> OwnPlace:
    answers = ANSWERS.decode(row.answers) if row.answers is not None else {}
    return OwnPlace(row.unit, row.segment or None, row.state, row.revision, row.submitted, answers)


def _me(*more: ColumnElement[bool]) -> ColumnElement[bool]:
    return and_(_MINE.c.campaign == bindparam("c"), _MINE.c.person == bindparam("p"), *more)


def _nearest(later: bool) -> CompoundSelect[Any]:
    """The nearest document on one side, looked up once for each state because the index has the state before it."""
    document: ColumnElement[int] = bindparam("d")
    side = _MINE.c.document > document if later else _MINE.c.document < document
    return union_all(
        *(
            select(
                (func.min(_MINE.c.document) if later else func.max(_MINE.c.document)).label("document")
            ).where(_me(_MINE.c.state == state, side))
            for state in STATES
        )
    )


def _edge(later: bool) -> Any:
    """The first or last unit of one's own in the nearest document on one side."""
    near = _nearest(later).subquery()
    document = select(func.min(near.c.document) if later else func.max(near.c.document)).scalar_subquery()
    unit = func.min(_UNIT) if later else func.max(_UNIT)
    return select(unit).where(_me(_ANY_STATE, _MINE.c.document == document))


_KNOWN_UNIT = t.unit.alias()
_PRACTISED_ON = (
    select(_KNOWN_UNIT.c.document)
    .join(
        t.expected,
        (t.expected.c.campaign == _KNOWN_UNIT.c.campaign) & (t.expected.c.unit == _KNOWN_UNIT.c.number),
    )
    .where(_KNOWN_UNIT.c.campaign == t.member.c.campaign, t.expected.c.block.in_(("training", "checks")))
)
"""The documents of practice and checks, by the few units whose answers are known."""
_BESIDE = (
    select(func.count())
    .select_from(_MINE)
    .join(t.unit, (t.unit.c.campaign == _MINE.c.campaign) & (t.unit.c.number == _MINE.c.unit))
    .where(
        _MINE.c.campaign == t.member.c.campaign,
        _MINE.c.person == t.member.c.person,
        _ANY_STATE,
        _MINE.c.document.in_(_PRACTISED_ON.correlate(t.member)),
        _MINE.c.submitted > 0,
        t.unit.c.wanted >= t.FULL,
    )
    .correlate(t.member)
    .scalar_subquery()
)
COUNTED = (t.member.c.submitted - _BESIDE).label("counted")
"""Units that a member submitted, of those that a campaign counts: practice and checks stand beside it."""
_DONE = select(COUNTED).where(t.member.c.campaign == bindparam("c"), t.member.c.person == bindparam("p"))
_PLACES = (
    select(
        _MINE.c.unit, t.unit.c.segment, _MINE.c.state, _MINE.c.revision, _MINE.c.submitted, _SAID.c.answers
    )
    .join(t.unit, (t.unit.c.campaign == _MINE.c.campaign) & (t.unit.c.number == _MINE.c.unit))
    .join(
        _SAID,
        tuple_(_SAID.c.campaign, _SAID.c.unit, _SAID.c.person, _SAID.c.revision)
        == tuple_(_MINE.c.campaign, _MINE.c.unit, _MINE.c.person, _MINE.c.revision),
        isouter=True,
    )
    .where(_me(_ANY_STATE, _MINE.c.document == bindparam("d")))
    .order_by(_UNIT)
)
_UNJUDGED = select(_MINE.c.unit).where(_me(_MINE.c.state == "reserved")).order_by(_UNIT)
_OWN = select(func.count()).select_from(_MINE).where(_me())
_BEFORE = select(func.count()).select_from(_MINE).where(_me(_ANY_STATE, _MINE.c.document < bindparam("d")))
_PREVIOUS, _NEXT = _edge(later=False), _edge(later=True)
_TOTAL = select(t.campaign_total.c.units).where(t.campaign_total.c.campaign == bindparam("c"))
_COUNTS = select(
    _DONE.scalar_subquery().label("done"),
    _OWN.scalar_subquery().label("own"),
    _BEFORE.scalar_subquery().label("before"),
    _PREVIOUS.scalar_subquery().label("previous"),
    _NEXT.scalar_subquery().label("next"),
    _TOTAL.scalar_subquery().label("total"),
)
"""All in one: to ask costs more than to answer."""
