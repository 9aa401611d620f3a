"""What the pages for signing in, joining and one's own account are made of."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType


class InvitationResponse(msgspec.Struct, frozen=True):
    """What a link offers."""

    role: str
    campaign: str | None
    title: str | None
    needs_password: bool


class AccountResponse(msgspec.Struct, frozen=True):
    """One's own account."""

    name: str
    role: str
    has_password: bool
    may_have_password: bool
    """False for those who come by a platform's link: a password would let them in no more."""
    language: str
    theme: str
    """light, dark, or empty: as the system has it."""
    told: str | None
    """What was just changed."""
    error: str | None


class SignInResponse(msgspec.Struct, frozen=True):
    """The page for signing in."""

    next: str
    error: str | UnsetType = UNSET
    name: str = ""
    provider: str | UnsetType = UNSET
    """At which provider one can sign in instead."""


class JoinResponse(msgspec.Struct, frozen=True):
    """The page behind an invitation."""

    invitation: InvitationResponse
    error: str | UnsetType = UNSET
    message: str | UnsetType = UNSET
    name: str = ""
    known_as: str | UnsetType = UNSET
    """Who comes from a platform, by its id: no name and no password are asked for."""
