"""Accounts, tokens, the audit log and the archive, for managers."""

from datetime import datetime
from typing import Any, Final, cast, get_args

import msgspec
from msgspec import UNSET, UnsetType
from starlette.datastructures import FormData
from starlette.responses import Response

from lapsus.errors import UsageError
from lapsus.notices import Notice
from lapsus.store import ApiToken, Role
from lapsus.store.audit import EXPORTED
from lapsus.store.people import new_secret
from lapsus.store.records import Event
from lapsus.web.forms import field, number_of, posts, with_error
from lapsus.web.page_routes import filled, find_campaign, for_managers, managing, title, twins
from lapsus.web.rendering import redirect
from lapsus.web.request_context import RequestContext


class AccountRecord(msgspec.Struct, frozen=True):
    """Somebody with an account, or who came with imported data."""

    id: int
    name: str
    role: str
    created: datetime
    disabled: bool
    has_password: bool
    may_have_password: bool
    """Whether a new one can be set: not for those who come by a platform's link."""


class AccountsRecord(msgspec.Struct, frozen=True):
    """The page of accounts, and what became of the last change."""

    accounts: list[AccountRecord]
    roles: list[str]
    password: str | UnsetType = UNSET
    """A password that was just made, and for whom. It is shown once."""
    whose: str | UnsetType = UNSET
    link: str | UnsetType = UNSET
    """A link that was just made. It is shown once."""
    error: str | UnsetType = UNSET


class OwnerRecord(msgspec.Struct, frozen=True):
    """Somebody for whom a program may act."""

    id: int
    name: str


class TokensRecord(msgspec.Struct, frozen=True):
    """All of them, the newest first."""

    tokens: list[ApiToken]
    """Keys by which programs act for people. The keys themselves are not kept."""
    owners: list[OwnerRecord]
    token: str | UnsetType = UNSET
    """A token that was just made, and for whom. It is shown once."""
    whose: str | UnsetType = UNSET
    error: str | UnsetType = UNSET


class ArchivedRecord(msgspec.Struct, frozen=True):
    """A campaign that is out of the lists."""

    name: str
    title: str
    archived: datetime | None


class ArchiveRecord(msgspec.Struct, frozen=True):
    """All of them."""

    campaigns: list[ArchivedRecord]


class LogRecord(msgspec.Struct, frozen=True):
    """The audit log of a campaign or of everything, the newest first."""

    log: str | None
    """The campaign; null: everything."""
    title: str | None
    events: list[Event]


LOGGED: Final = 300
"""How many events a page of the log shows."""
LINK_DAYS: Final = 14


def accounts(visit: RequestContext, **more: Any) -> AccountsRecord:
    """Everybody with an account."""
    from_platforms = visit.store.people.from_platforms()
    rows = [
        filled(
            AccountRecord,
            person,
            disabled=person.disabled is not None,
            may_have_password=person.id not in from_platforms,
        )
        for person in visit.store.people.all()
        if not person.program
    ]
    return AccountsRecord(rows, list(reversed(get_args(Role))), **more)


def change_account(visit: RequestContext, form: FormData) -> AccountsRecord | Response:
    """Another role or a new password for somebody, an account shut or opened, a link for somebody new."""
    store, wanted, by = visit.store, field(form, "do"), visit.me.id
    if wanted == "invite":
        role = cast(Role, field(form, "role"))
        token = store.access.invite(role, days=LINK_DAYS, by=by)
        return accounts(visit, link=visit.link(f"/join/{token}"))
    person = store.people.get(number_of(form, "person", Notice("nobody-named")))
    if wanted == "reset":
        password = new_secret()[:16]
        store.people.set_password(person.id, password, by=by)
        return accounts(visit, password=password, whose=person.name)
    if wanted == "role":
        store.people.set_role(person.id, cast(Role, field(form, "role")), by=by)
    elif wanted in ("disable", "enable"):
        store.people.set_disabled(person.id, wanted == "disable", by=by)
    else:
        raise UsageError("nothing-called-here", wanted=wanted[:40])
    return redirect(visit, "/people")


def tokens(visit: RequestContext, **more: Any) -> TokensRecord:
    """The keys by which programs act for people: everybody's, without the keys themselves."""
    people = [person for person in visit.store.people.all() if person.disabled is None]
    owners = [filled(OwnerRecord, person) for person in people]
    return TokensRecord(visit.store.access.tokens()[::-1], owners, **more)


def change_token(visit: RequestContext, form: FormData) -> TokensRecord | Response:
    """Make a token for somebody, which is shown once, or end one."""
    store, wanted, by = visit.store, field(form, "do"), visit.me.id
    person = number_of(form, "person", Notice("nobody-named"))
    if wanted == "make":
        made = store.access.add_token(person, field(form, "name").strip(), by=by)
        return tokens(visit, token=made, whose=store.people.get(person).name)
    if wanted != "revoke":
        raise UsageError("nothing-called-here", wanted=wanted[:40])
    store.access.revoke_token(person, number_of(form, "token", Notice("no-token-named")), by=by)
    return redirect(visit, "/tokens")


def log(visit: RequestContext, what: str | None = None) -> LogRecord:
    """What was done, by whom and when."""
    asked = visit.request.path_params.get("campaign")
    campaign = None if asked is None else find_campaign(visit, str(asked))
    name, called = (None, None) if campaign is None else (campaign.name, title(visit, campaign))
    return LogRecord(name, called, visit.store.audit.events(name, what=what, limit=LOGGED))


def exports(visit: RequestContext) -> LogRecord:
    """What data were taken, by whom and when."""
    return log(visit, EXPORTED)


def archive(visit: RequestContext) -> ArchiveRecord:
    """Campaigns that are out of the lists."""
    found = [one for one in visit.store.campaigns.all() if one.archived is not None]
    return ArchiveRecord([filled(ArchivedRecord, one, title=title(visit, one)) for one in found])


_BASE, _PEOPLE, _KEYS = "/c/{campaign:slug}", "administration/people.html", "administration/tokens.html"
ROUTES = [
    *twins("/people", for_managers(accounts), _PEOPLE),
    *posts("/people", change_account, who=managing, again=with_error(accounts), template=_PEOPLE),
    *twins("/log", for_managers(log), "administration/log.html"),
    *twins(f"{_BASE}/log", for_managers(log), "administration/log.html"),
    *twins("/tokens", for_managers(tokens), _KEYS),
    *posts("/tokens", change_token, who=managing, again=with_error(tokens), template=_KEYS),
    *twins("/exports", for_managers(exports), "administration/exports.html"),
    *twins(f"{_BASE}/exports", for_managers(exports), "administration/exports.html"),
    *twins("/archive", for_managers(archive), "administration/archive.html"),
]
