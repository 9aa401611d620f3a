"""The statements of a save, made once: they run so often that putting them together anew would cost more."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import Connection, CursorResult, Select, and_, bindparam, exists, insert, or_, select, update

from lapsus.store import tables as t

_MINE, _UNIT, _SAID, _MEMBER, _TOTAL = t.assignment, t.unit, t.judgment, t.member, t.campaign_total
_ITS_UNIT = (_UNIT.c.campaign == _MINE.c.campaign) & (_UNIT.c.number == _MINE.c.unit)

_FOLLOWER = t.campaign.alias("follower")
CAMPAIGNS = (
    select(
        t.campaign.c.id,
        t.campaign.c.state,
        t.campaign.c.plan,
        exists().where(_FOLLOWER.c.source == t.campaign.c.id).label("is_followed"),
    )
    .where(t.campaign.c.id.in_(bindparam("ids", expanding=True)))
    .order_by(t.campaign.c.id)
    .with_for_update(read=True, key_share=True, of=t.campaign)
)
"""Held as they are until the save is committed: none is closed in between."""

KEYS = select(_SAID).where(_SAID.c.key.in_(bindparam("keys", expanding=True)))


@cache
def _places(count: int) -> Select[Any]:
    """Each place by its own key: asked for as a list of rows, SQLite goes through all the places that there are."""
    wanted = or_(
        *(
            and_(
                _MINE.c.campaign == bindparam(f"c{n}"),
                _MINE.c.unit == bindparam(f"u{n}"),
                _MINE.c.person == bindparam(f"p{n}"),
            )
            for n in range(count)
        )
    )
    return (
        select(_MINE, _UNIT.c.taken.label("unit_taken"), _UNIT.c.done.label("unit_done"), t.person.c.disabled)
        .join(_UNIT, _ITS_UNIT)
        .join(t.person, t.person.c.id == _MINE.c.person)
        .where(wanted)
        .order_by(_MINE.c.campaign, _MINE.c.unit, _MINE.c.person)
        .with_for_update(of=[_UNIT, _MINE])
    )


def read_places(conn: Connection, places: Sequence[tuple[int, int, int]]) -> CursorResult[Any]:
    """What people have to do with units. Locked, and always in the same order: no two processes block each other."""
    # Only so many different statements, so that each is put together once: 1, 2, 4, 8 … places.
    count = 1 << (len(places) - 1).bit_length()
    values: dict[str, int] = {}
    for n in range(count):
        values[f"c{n}"], values[f"u{n}"], values[f"p{n}"] = places[min(n, len(places) - 1)]
    return conn.execute(_places(count), values)


USED = select(_MINE.c.place).where(
    _MINE.c.campaign == bindparam("c"), _MINE.c.unit == bindparam("u"), _MINE.c.place.is_not(None)
)

ADD_JUDGMENT = insert(_SAID).values(
    {
        name: bindparam(name)
        for name in (
            "campaign", "unit", "person", "revision", "key", "version", "submitted",
            "answers", "given_at", "stored_at", "seconds", "client",
        )
    }
)  # fmt: skip

SET_PLACE = (
    update(_MINE)
    .where(
        _MINE.c.campaign == bindparam("c"), _MINE.c.unit == bindparam("u"), _MINE.c.person == bindparam("p")
    )
    .values({name: bindparam(f"new_{name}") for name in ("place", "state", "revision", "submitted")})
)

SET_UNIT = (
    update(_UNIT)
    .where(_UNIT.c.campaign == bindparam("c"), _UNIT.c.number == bindparam("u"))
    .values({name: _UNIT.c[name] + bindparam(f"more_{name}") for name in ("taken", "done")})
)

COUNT_MEMBER = (
    update(_MEMBER)
    .where(_MEMBER.c.campaign == bindparam("c"), _MEMBER.c.person == bindparam("p"))
    .values(
        {
            name: _MEMBER.c[name] + bindparam(f"more_{name}")
            for name in ("submitted", "drafts", "held", "seconds")
        }
    )
)
SET_MEMBER = COUNT_MEMBER.values(until=bindparam("new_until"), last_at=bindparam("now"))

SET_TOTAL = (
    update(_TOTAL)
    .where(_TOTAL.c.campaign == bindparam("c"))
    .values({name: _TOTAL.c[name] + bindparam(f"more_{name}") for name in ("done", "complete")})
)
