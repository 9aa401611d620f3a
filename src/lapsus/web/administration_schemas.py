"""What the pages of accounts and of the audit log show, as records."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType


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
