"""Flagged units and the talk about them: shown, replied to, settled, opened again."""

from collections.abc import Iterable

from starlette.datastructures import FormData
from starlette.responses import Response
from starlette.routing import BaseRoute

from lapsus.store import Flag, RefusedError
from lapsus.store.people import new_secret
from lapsus.web.forms import field, number, ours, posts
from lapsus.web.page_routes import campaign_here, filled
from lapsus.web.rendering import redirect
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
        filled(
            FlagResponse,
            flag,
            settled=flag.settled is not None,
            own=flag.person == me,
            unread=flag.person == me and flag.unread,
            replies=[filled(ReplyResponse, reply, own=reply.person == me) for reply in flag.replies],
        )
        for flag in flags
    ]


def routes() -> list[BaseRoute]:
    """All of them, each with its twin."""
    return [*posts("/c/{campaign:slug}/flags", act, who=lambda visit: visit.me)]


def act(visit: RequestContext, form: FormData) -> Response:
    """Do what a button of the thread says, and go back."""
    name = campaign_here(visit).name
    flag = find_flag(visit, name, _flag(form))
    _do(visit, name, flag, field(form, "do"), form)
    return redirect(visit, ours(field(form, "back"), f"/c/{name}#flag-{flag.id}"))


def _do(visit: RequestContext, name: str, flag: Flag, what: str, form: FormData) -> None:
    flags, me = visit.store.flags, visit.me.id
    if what not in ("reply", "seen", "settle", "reopen"):
        raise RefusedError("shape", "a flag is replied to, settled, opened again or seen")
    if what == "seen":
        flags.have_read(name, flag.id, me)
        return
    # What stands in the field goes along, whichever button is pressed.
    if text := field(form, "text").strip():
        key = field(form, "key") or new_secret()
        flags.reply(f"{me}:{key}", name, flag.id, me, text)
    now = flags.get(name, flag.id)
    is_settled = now is not None and now.settled is not None
    # Pressed twice, or by two at a time: it is as wanted.
    if what == "settle" and not is_settled:
        flags.settle(name, flag.id, by=me)
    elif what == "reopen" and is_settled:
        flags.reopen(name, flag.id, by=me)


def _flag(form: FormData) -> int:
    if (flag := number(form, "flag")) is None:
        raise RefusedError("no-flag", "no flag was named")
    return flag
