"""Accounts, tokens, the audit log and the archive, for managers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, cast, get_args

import msgspec
from msgspec import UNSET, UnsetType
from starlette.datastructures import FormData
from starlette.responses import Response
from starlette.routing import BaseRoute

from lapsus.errors import LapsusError, UsageError
from lapsus.store import Role
from lapsus.store.audit import EXPORTED
from lapsus.store.people import new_secret
from lapsus.translation import translated_error
from lapsus.web.forms import field, number, posts
from lapsus.web.page_routes import Page, find_campaign, managing, signed_in, title, twins
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


class TokenRecord(msgspec.Struct, frozen=True):
    """A key by which a program acts for somebody. The key itself is not kept."""

    id: int
    person: int
    owner: str
    name: str
    """What it is for."""
    created: datetime
    revoked: datetime | None


class OwnerRecord(msgspec.Struct, frozen=True):
    """Somebody for whom a program may act."""

    id: int
    name: str


class TokensRecord(msgspec.Struct, frozen=True):
    """All of them, the newest first."""

    tokens: list[TokenRecord]
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


class EventRecord(msgspec.Struct, frozen=True):
    """Something that was done."""

    at: datetime
    by: str | None
    campaign: str | None
    what: str
    details: Mapping[str, Any]


class LogRecord(msgspec.Struct, frozen=True):
    """The audit log of a campaign or of everything, the newest first."""

    log: str | None
    """The campaign; null: everything."""
    title: str | None
    events: list[EventRecord]


LOGGED: Final = 300
"""How many events a page of the log shows."""
LINK_DAYS: Final = 14


def routes() -> list[BaseRoute]:
    """All of them, each with its twin."""
    base = "/c/{campaign:slug}"
    return [
        *twins("/people", signed_in(accounts)),
        *posts("/people", change_account, who=managing, again=_accounts_again),
        *twins("/log", signed_in(log)),
        *twins(f"{base}/log", signed_in(log)),
        *twins("/tokens", signed_in(tokens)),
        *posts("/tokens", change_token, who=managing, again=_tokens_again),
        *twins("/exports", signed_in(exports)),
        *twins(f"{base}/exports", signed_in(exports)),
        *twins("/archive", signed_in(archive)),
    ]


def accounts(visit: RequestContext) -> Page:
    """Everybody with an account."""
    return Page("administration/people.html", _accounts(managing(visit)))


def _accounts(visit: RequestContext, **more: Any) -> AccountsRecord:
    people = [person for person in visit.store.people.all() if not person.program]
    from_platforms = visit.store.people.from_platforms()
    rows = [
        AccountRecord(
            person.id,
            person.name,
            person.role,
            person.created,
            person.disabled is not None,
            person.has_password,
            person.id not in from_platforms,
        )
        for person in people
    ]
    return AccountsRecord(rows, list(reversed(get_args(Role))), **more)


def change_account(visit: RequestContext, form: FormData) -> Page | Response:
    """Another role or a new password for somebody, an account shut or opened, a link for somebody new."""
    store, wanted, by = visit.store, field(form, "do"), visit.me.id
    if wanted == "invite":
        role = cast(Role, field(form, "role"))
        token = store.access.invite(role, days=LINK_DAYS, by=by)
        link = f"{str(visit.request.base_url).rstrip('/')}/join/{token}"
        return Page("administration/people.html", _accounts(visit, link=link))
    person = store.people.get(_number(form, "person", "nobody was named"))
    if wanted == "reset":
        password = new_secret()[:16]
        store.people.set_password(person.id, password, by=by)
        return Page("administration/people.html", _accounts(visit, password=password, whose=person.name))
    if wanted == "role":
        store.people.set_role(person.id, cast(Role, field(form, "role")), by=by)
    elif wanted in ("disable", "enable"):
        store.people.set_disabled(person.id, wanted == "disable", by=by)
    else:
        raise UsageError(f"nothing is called {wanted[:40]!r} here")
    return redirect(visit, "/people")


def _accounts_again(visit: RequestContext, form: FormData, error: LapsusError) -> Page:
    return Page(
        "administration/people.html", _accounts(visit, error=str(translated_error(error, visit.language)))
    )


def _number(form: FormData, name: str, otherwise: str) -> int:
    if (found := number(form, name)) is None:
        raise UsageError(otherwise)
    return found


def tokens(visit: RequestContext) -> Page:
    """The keys by which programs act for people: everybody's, without the keys themselves."""
    return Page("administration/tokens.html", _tokens(managing(visit)))


def _tokens(visit: RequestContext, **more: Any) -> TokensRecord:
    rows = [
        TokenRecord(one.id, one.person, one.owner, one.name, one.created, one.revoked)
        for one in reversed(visit.store.access.tokens())
    ]
    people = [person for person in visit.store.people.all() if person.disabled is None]
    return TokensRecord(rows, [OwnerRecord(person.id, person.name) for person in people], **more)


def change_token(visit: RequestContext, form: FormData) -> Page | Response:
    """Make a token for somebody, which is shown once, or end one."""
    store, wanted, by = visit.store, field(form, "do"), visit.me.id
    person = _number(form, "person", "nobody was named")
    if wanted == "make":
        made = store.access.add_token(person, field(form, "name").strip(), by=by)
        return Page(
            "administration/tokens.html", _tokens(visit, token=made, whose=store.people.get(person).name)
        )
    if wanted != "revoke":
        raise UsageError(f"nothing is called {wanted[:40]!r} here")
    store.access.revoke_token(person, _number(form, "token", "no token was named"), by=by)
    return redirect(visit, "/tokens")


def _tokens_again(visit: RequestContext, form: FormData, error: LapsusError) -> Page:
    return Page(
        "administration/tokens.html", _tokens(visit, error=str(translated_error(error, visit.language)))
    )


def log(visit: RequestContext) -> Page:
    """What was done, by whom and when."""
    return Page("administration/log.html", _events(managing(visit)))


def exports(visit: RequestContext) -> Page:
    """What data were taken, by whom and when."""
    return Page("administration/exports.html", _events(managing(visit), EXPORTED))


def _events(visit: RequestContext, what: str | None = None) -> LogRecord:
    asked = visit.request.path_params.get("campaign")
    campaign = None if asked is None else find_campaign(visit, str(asked))
    name, called = (None, None) if campaign is None else (campaign.name, title(visit, campaign))
    found = visit.store.audit.events(name, what=what, limit=LOGGED)
    events = [EventRecord(one.at, one.person, one.campaign, one.what, one.details) for one in found]
    return LogRecord(name, called, events)


def archive(visit: RequestContext) -> Page:
    """Campaigns that are out of the lists."""
    found = [one for one in managing(visit).store.campaigns.all() if one.archived is not None]
    rows = [ArchivedRecord(one.name, title(visit, one), one.archived) for one in found]
    return Page("administration/archive.html", ArchiveRecord(rows))
