"""Flags: units that somebody wants to discuss, and the talk about them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    exists,
    func,
    insert,
    select,
    update,
)

from lapsus.errors import UsageError
from lapsus.notices import Notice
from lapsus.store import tables as t
from lapsus.store.base import Database, StorePart
from lapsus.store.people import People
from lapsus.store.records import Flag, FlagReply, RefusedError
from lapsus.store.rows import record
from lapsus.store.validation import check_words, chunks, number

MOST_FLAGS = 1000
"""Of one person in one campaign."""
MOST_REPLIES = 200
"""To one flag."""
CHUNK = 500
LONGEST_REMARK = 10_000
_FLAG, _REPLY = t.flag, t.flag_reply


class Flags(StorePart):
    """Flags of units. A flag belongs to its author; callers check who else may see it and reply."""

    def __init__(self, database: Database, people: People) -> None:
        super().__init__(database)
        self.people = people

    def add(self, key: str, campaign: str, unit: int, person: int, text: str) -> None:
        """Mark a unit for discussion. The same key again changes nothing."""
        id = self._campaign_id(campaign)
        self._unit(id, unit)
        row = self._said(key, person, text) | {"campaign": id, "unit": unit}

        def work(conn: Connection) -> None:
            if conn.scalar(select(_FLAG.c.id).where(_FLAG.c.key == key)) is not None:
                return
            mine = (_FLAG.c.campaign == id) & (_FLAG.c.person == row["person"])
            if (conn.scalar(select(func.count()).select_from(_FLAG).where(mine)) or 0) >= MOST_FLAGS:
                raise RefusedError("too-much", f"nobody marks more than {MOST_FLAGS:,} units of a campaign")
            conn.execute(insert(_FLAG), row)

        self.write(work)

    def reply(self, key: str, campaign: str, flag: int, person: int, text: str) -> None:
        """Say something to a flag. The same key again changes nothing.

        Whoever raised it has read what was said before, and opens it again where it was settled.
        """
        row, which = self._said(key, person, text) | {"flag": number(flag)}, self._in(campaign, flag)

        def work(conn: Connection) -> None:
            found = conn.execute(select(_FLAG).where(which).with_for_update()).one_or_none()
            if found is None:
                raise RefusedError("no-flag", f"there is no flag {flag}")
            if conn.scalar(select(_REPLY.c.id).where(_REPLY.c.key == key)) is not None:
                return
            said: Sequence[int] = conn.scalars(select(_REPLY.c.id).where(_REPLY.c.flag == found.id)).all()
            if len(said) >= MOST_REPLIES:
                raise RefusedError(
                    "too-much", f"nobody says more than {MOST_REPLIES} times something to a flag"
                )
            conn.execute(insert(_REPLY), row)
            if found.person == person:
                conn.execute(update(_FLAG).where(which).values(settled=None, seen=max(said, default=0)))

        self.write(work)

    def get(self, campaign: str, flag: int) -> Flag | None:
        """A flag of a campaign, if there is one of that number."""
        return next(iter(self._flags(_queries(self._in(campaign, flag)))), None)

    def all(self, campaign: str, *, unit: int | None = None, person: int | None = None) -> list[Flag]:
        """The flags of a campaign, of one unit or of one person, the oldest first."""
        asked = {"campaign": self._campaign_id(campaign), "unit": unit, "person": person}
        values = {name: number(value) for name, value in asked.items() if value is not None}
        return self._flags(_asked(*values), **values)

    def of_units(self, campaign: str, units: Sequence[int]) -> dict[int, list[Flag]]:
        """The flags of some units, by unit."""
        found: dict[int, list[Flag]] = {}
        for some in chunks(units, CHUNK):
            here = (_FLAG.c.campaign == self._campaign_id(campaign)) & _FLAG.c.unit.in_(some)
            for flag in self._flags(_queries(here)):
                found.setdefault(flag.unit, []).append(flag)
        return found

    def set_settled(self, campaign: str, flag: int, settled: bool, *, by: int | None = None) -> None:
        """Settle an open flag, or open a settled one again."""
        now = _FLAG.c.settled.is_(None) if settled else _FLAG.c.settled.is_not(None)
        change = update(_FLAG).where(self._in(campaign, flag), now)
        with self.writing() as conn:
            if not conn.execute(change.values(settled=self.clock() if settled else None)).rowcount:
                where, state = Notice("campaign", campaign=campaign), "open" if settled else "settled"
                raise UsageError("no-flag", where=where, state=state, flag=flag)
            what = "flag settled" if settled else "flag reopened"
            self.note(conn, what, by=by, campaign=self._campaign_id(campaign), flag=flag)

    def have_read(self, campaign: str, flag: int, person: int) -> None:
        """Note that whoever raised a flag has read all that was said to it so far."""
        last = select(func.coalesce(func.max(_REPLY.c.id), 0)).where(_REPLY.c.flag == number(flag))
        mine = self._in(campaign, flag) & (_FLAG.c.person == number(person))
        with self.writing() as conn:
            conn.execute(update(_FLAG).where(mine).values(seen=last.scalar_subquery()))

    def answered(self, person: int) -> dict[str, int]:
        """How many of a person's flags have a reply that is not read yet, by campaign."""
        new = exists().where(
            _REPLY.c.flag == _FLAG.c.id, _REPLY.c.id > _FLAG.c.seen, _REPLY.c.person != _FLAG.c.person
        )
        return self._counted((_FLAG.c.person == number(person)) & new)

    def open_ones(self) -> dict[str, int]:
        """How many flags are not settled, by campaign."""
        return self._counted(_FLAG.c.settled.is_(None))

    def _said(self, key: str, person: int, text: str) -> dict[str, Any]:
        return {
            "key": check_words(key, "words-key", longest=100), "person": self.people.get(person).id,
            "at": self.clock(), "text": check_words(text, "words-remark", longest=LONGEST_REMARK, lines=True),
        }  # fmt: skip

    def _in(self, campaign: str, flag: int) -> ColumnElement[bool]:
        return and_(_FLAG.c.id == number(flag), _FLAG.c.campaign == self._campaign_id(campaign))

    def _flags(self, queries: _Queries, **values: int) -> list[Flag]:
        with self.reading() as conn:
            rows = conn.execute(queries.flags, values).all()
            said: dict[int, list[FlagReply]] = {}
            for row in conn.execute(queries.replies, values) if rows else ():
                said.setdefault(row.flag, []).append(record(FlagReply, row))
        return [record(Flag, row, replies=tuple(said.get(row.id, ()))) for row in rows]

    def _counted(self, which: ColumnElement[bool]) -> dict[str, int]:
        query = (
            select(t.campaign.c.name, func.count().label("many"))
            .join(_FLAG, _FLAG.c.campaign == t.campaign.c.id)
            .where(which)
            .group_by(t.campaign.c.name)
        )
        return {row.name: row.many for row in self.rows(query)}


class _Queries(NamedTuple):
    flags: Select[Any]
    replies: Select[Any]


def _queries(which: ColumnElement[bool]) -> _Queries:
    return _Queries(
        select(_FLAG, t.person.c.name).join(t.person).where(which).order_by(_FLAG.c.id),
        select(_REPLY, t.person.c.name)
        .join(_FLAG, _FLAG.c.id == _REPLY.c.flag)
        .join(t.person, t.person.c.id == _REPLY.c.person)
        .where(which)
        .order_by(_REPLY.c.id),
    )


@cache
def _asked(*columns: str) -> _Queries:
    """Those of which these columns have the values that come with them. Made once: every page of a unit asks."""
    return _queries(and_(*(_FLAG.c[name] == bindparam(name) for name in columns)))
