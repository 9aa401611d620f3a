"""The talk about flagged units, by forms: replying, settling, opening again, and having read."""

from __future__ import annotations

from starlette.datastructures import FormData
from starlette.responses import Response
from starlette.routing import BaseRoute

from lapsus.store import Flag, RefusedError
from lapsus.store.people import new_secret
from lapsus.web.flag_view import find_flag
from lapsus.web.rendering import redirect
from lapsus.web.request_context import RequestContext
from lapsus.web.routes.forms import field, number, ours, posts
from lapsus.web.unit_view import campaign_here


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
