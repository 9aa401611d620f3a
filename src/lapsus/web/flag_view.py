"""Flags as people see them: their own, and for those who look after a campaign everybody's."""

from __future__ import annotations

from collections.abc import Iterable

from lapsus.store import Flag, RefusedError
from lapsus.web.request_context import RequestContext
from lapsus.web.schemas import FlagResponse, ReplyResponse


def visible_flags(visit: RequestContext, campaign: str, unit: int | None = None) -> list[FlagResponse]:
    """The flags of a campaign, or of one unit, that a person may see."""
    person = None if visit.manages else visit.me.id
    return flag_responses(visit, visit.store.flags.all(campaign, unit=unit, person=person))


def find_flag(visit: RequestContext, campaign: str, id: int) -> Flag:
    """A flag that a person may see; of others' they are told that there is none."""
    flag = visit.store.flags.get(campaign, id)
    if flag is None or not (visit.manages or flag.person == visit.me.id):
        raise RefusedError("no-flag", f"there is no flag {id}")
    return flag


def flag_responses(visit: RequestContext, flags: Iterable[Flag]) -> list[FlagResponse]:
    """Flags as the reader sees them, with what was said to each."""
    me = visit.me.id
    return [
        FlagResponse(
            id=flag.id,
            unit=flag.unit,
            name=flag.name,
            text=flag.text,
            at=flag.at,
            settled=flag.settled is not None,
            own=flag.person == me,
            unread=flag.person == me and flag.unread,
            replies=[
                ReplyResponse(reply.name, reply.text, reply.at, reply.person == me) for reply in flag.replies
            ],
        )
        for flag in flags
    ]
