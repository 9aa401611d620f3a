"""What the page of all units shows, as records."""

from __future__ import annotations

import msgspec

from lapsus.campaign_stats.unit_search import Wanted
from lapsus.web.schemas import FlagResponse
from lapsus.web.stats_schemas import CampaignStatsResponse, VoterResponse


class ChoiceRecord(msgspec.Struct, frozen=True):
    """Something to choose from a list."""

    id: str
    name: str


class CommentRecord(msgspec.Struct, frozen=True):
    """What somebody wrote with a judgment."""

    name: str
    text: str


class UnitRecord(msgspec.Struct, frozen=True):
    """A unit with all that is known of it."""

    unit: int
    document: str
    system: str | None
    role: str
    text: str
    language: str | None
    answers: list[VoterResponse]
    """Answers to the question in hand, the most frequent first, each with the people who gave it."""
    programs: list[VoterResponse]
    """The same of programs."""
    judgments: int
    disagreement: float | None
    """The share of every two people who answered differently; null with fewer than two."""
    doubt: float | None
    """How unsure the least sure program was, from 0; null where none said."""
    decided: list[str] | None
    """What was decided, in words."""
    decided_by: str | None
    comments: list[CommentRecord]
    flags: list[FlagResponse]


class ExploreRecord(CampaignStatsResponse, frozen=True, kw_only=True):
    """A page of the units that were looked for."""

    wanted: Wanted
    units: list[UnitRecord]
    total: int
    page: int
    pages: int
    answers: list[ChoiceRecord]
    people: list[ChoiceRecord]
    systems: list[ChoiceRecord]
    programs: list[ChoiceRecord]
    formats: list[str]
    told: str | None
    """What was just done with some units."""


class ShareRecord(msgspec.Struct, frozen=True):
    """A least share of people to decide by, and on how many units an answer has it."""

    share: str
    """Its place in the list of shares, as it is sent back."""
    units: int


class DecideManyRecord(CampaignStatsResponse, frozen=True, kw_only=True):
    """Before many units are decided on: what that comes to."""

    units: list[int]
    decided: int
    """Units that somebody has decided on already: they stay as they are."""
    split: int
    """Units on which no answer comes first, or the one that does breaks a rule."""
    shares: list[ShareRecord]
