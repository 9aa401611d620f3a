"""The statements of a save, made once: they run so often that putting them together anew would cost more."""

from collections.abc import Callable, Sequence
from functools import cache, wraps
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    bindparam,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)

from lapsus.store import tables as t
from lapsus.store.pipeline import PipelineStep
from lapsus.store.rows import ITS_UNIT

_MINE, _UNIT, _SAID, _MEMBER, _TOTAL = t.assignment, t.unit, t.judgment, t.member, t.campaign_total

_FOLLOWER = t.campaign.alias("follower")


def _filled(things: Sequence[Any]) -> list[Any]:
    """The same things, the last one repeated, so that there are 1, 2, 4, 8 …: so few statements are made only once."""
    count = 1 << (len(things) - 1).bit_length()
    return [*things, *[things[-1]] * (count - len(things))]


def _one_of(column: ColumnElement[Any], count: int) -> ColumnElement[bool]:
    return column.in_([bindparam(f"v{n}") for n in range(count)])


def _batched(
    names: str,
) -> Callable[[Callable[[int], Select[Any]]], Callable[[Sequence[Any]], PipelineStep]]:
    """Makes a step of a query about so many things, with a parameter for each name and place: v0, v1, …"""

    def decorate(query: Callable[[int], Select[Any]]) -> Callable[[Sequence[Any]], PipelineStep]:
        made = cache(query)

        @wraps(query)
        def step(things: Sequence[Any]) -> PipelineStep:
            things = _filled(things)
            values = {
                f"{name}{n}": value
                for n, thing in enumerate(things)
                for name, value in zip(names, (thing,) if len(names) == 1 else thing, strict=True)
            }
            return PipelineStep(made(len(things)), values)

        return step

    return decorate


@_batched("v")
def campaigns(count: int) -> Select[Any]:
    """Campaigns, held as they are until the save is committed: none is closed in between."""
    return (
        select(
            t.campaign.c.id,
            t.campaign.c.state,
            t.campaign.c.plan,
            exists().where(_FOLLOWER.c.source == t.campaign.c.id).label("is_followed"),
        )
        .where(_one_of(t.campaign.c.id, count))
        .order_by(t.campaign.c.id)
        .with_for_update(read=True, key_share=True, of=t.campaign)
    )


@_batched("v")
def locked_campaigns(count: int) -> Select[Any]:
    """Campaigns, kept from handing out units until the save is committed."""
    query = select(t.campaign.c.id).where(_one_of(t.campaign.c.id, count)).order_by(t.campaign.c.id)
    return query.with_for_update(key_share=True)


@_batched("v")
def keys(count: int) -> Select[Any]:
    """What was saved under these keys already."""
    its = _SAID.c.campaign, _SAID.c.unit, _SAID.c.person, _SAID.c.revision
    return select(_SAID.c.key, *its, _SAID.c.answers, _SAID.c.submitted, _SAID.c.stored_at).where(
        _one_of(_SAID.c.key, count)
    )


@_batched("v")
def tokens(count: int) -> Select[Any]:
    """Whom tokens speak for, of those that hold."""
    return (
        select(t.api_token.c.hash, t.api_token.c.person)
        .join(t.person)
        .where(
            _one_of(t.api_token.c.hash, count),
            t.api_token.c.revoked.is_(None),
            t.person.c.disabled.is_(None),
        )
    )


@_batched("cup")
def places(count: int) -> Select[Any]:
    """What people have to do with units. Locked, and always in the same order: no two processes block each other.

    Each place by its own key: asked for as a list of rows, SQLite goes through all the places that there are.
    """
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
        select(
            _MINE,
            _UNIT.c.taken.label("unit_taken"),
            _UNIT.c.done.label("unit_done"),
            _UNIT.c.wanted.label("unit_wanted"),
            _MEMBER.c.stopped,
            _MEMBER.c.submitted.label("member_submitted"),
            _MEMBER.c.stored.label("member_stored"),
            t.person.c.disabled,
            t.person.c.stamp,
        )
        .join(_UNIT, ITS_UNIT)
        .join(t.person, t.person.c.id == _MINE.c.person)
        .join(_MEMBER, (_MEMBER.c.campaign == _MINE.c.campaign) & (_MEMBER.c.person == _MINE.c.person))
        .where(wanted)
        .order_by(_MINE.c.campaign, _MINE.c.unit, _MINE.c.person)
        .with_for_update(of=[_UNIT, _MINE])
    )


EARLIER = select(
    exists().where(
        _MINE.c.campaign == bindparam("c"),
        _MINE.c.person == bindparam("p"),
        _MINE.c.unit < bindparam("u"),
        _MINE.c.submitted == 0,
        _MINE.c.document
        == select(_UNIT.c.document)
        .where(_UNIT.c.campaign == bindparam("c"), _UNIT.c.number == bindparam("u"))
        .scalar_subquery(),
    )
)
"""Whether a person has an earlier unit of the same document that is not judged."""
STAMP = select(t.person.c.stamp).where(t.person.c.id == bindparam("p"), t.person.c.disabled.is_(None))


@_batched("cpud")
def following(count: int) -> Select[Any]:
    """The unit to go on with after each of some, given by campaign, person, unit and document: the first one held
    after it, or else the first one held.
    """
    wanted = []
    for n in range(count):
        held = (
            select(_MINE.c.unit)
            .where(
                _MINE.c.campaign == bindparam(f"c{n}"),
                _MINE.c.person == bindparam(f"p{n}"),
                _MINE.c.state == "reserved",
            )
            .order_by(_MINE.c.document, _MINE.c.unit)
            .limit(1)
        )
        # Units are numbered document by document, which is how the index has them.
        later = held.where(_MINE.c.document >= bindparam(f"d{n}"), _MINE.c.unit > bindparam(f"u{n}"))
        wanted.append(func.coalesce(later.scalar_subquery(), held.scalar_subquery()).label(f"next{n}"))
    return select(*wanted)


USED = select(_MINE.c.place).where(
    _MINE.c.campaign == bindparam("c"), _MINE.c.unit == bindparam("u"), _MINE.c.place.is_not(None)
)

ADD_JUDGMENT = insert(_SAID).values(
    {
        name: bindparam(name)
        for name in (
            "campaign", "unit", "person", "revision", "key", "version", "submitted",
            "answers", "more", "given_at", "stored_at", "seconds", "client",
        )
    }
)  # fmt: skip

ADD_CHANGE = insert(t.figure_change).values({name: bindparam(name) for name in ("campaign", "documents")})

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
            for name in ("submitted", "drafts", "held", "seconds", "stored")
        }
    )
)
SET_MEMBER = COUNT_MEMBER.values(until=bindparam("new_until"), last_at=bindparam("now"))
LAST_JUDGED = (
    update(_MEMBER)
    .where(_MEMBER.c.campaign == bindparam("c"), _MEMBER.c.person == bindparam("p"))
    .where(or_(_MEMBER.c.last_at.is_(None), _MEMBER.c.last_at < bindparam("at")))
    .values(last_at=bindparam("at"))
)
"""For judgments from elsewhere that say when they were given."""

SET_TOTAL = (
    update(_TOTAL)
    .where(_TOTAL.c.campaign == bindparam("c"))
    .values({name: _TOTAL.c[name] + bindparam(f"more_{name}") for name in ("done", "surplus", "complete")})
)
