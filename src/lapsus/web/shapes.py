"""What goes over the wire, as records: pages, their JSON twins, the interface and its description share them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from lapsus.model import Answer

LARGEST = 2**31 - 1


class PersonShape(msgspec.Struct, frozen=True):
    """Who is signed in."""

    id: int
    name: str
    role: str
    language: str | None


class SessionShape(msgspec.Struct, frozen=True):
    """Who is signed in here, if anybody, and the token that every change needs."""

    person: PersonShape | None
    language: str
    csrf: str


class EverybodyShape(msgspec.Struct, frozen=True):
    """How far a campaign is as a whole."""

    done: int
    """Judgments so far."""
    wanted: int
    """Judgments in all."""


class CampaignShape(msgspec.Struct, frozen=True):
    """A campaign in a list, with how far one is oneself."""

    name: str
    title: str
    scheme: str
    version: str
    state: str
    done: int
    """Units that one has submitted."""
    held: int
    """Units that one holds and has not submitted."""
    total: int
    """Units that the campaign has."""
    stopped: bool
    """Whether the campaign gives one nothing more."""
    url: str
    everybody: EverybodyShape | UnsetType = UNSET
    """For those who see everybody's work."""


class CampaignsShape(msgspec.Struct, frozen=True):
    """The campaigns that one may see."""

    campaigns: list[CampaignShape]


class HomeShape(msgspec.Struct, frozen=True):
    """The first page."""

    person: PersonShape
    campaigns: list[CampaignShape]


class OwnProgress(msgspec.Struct, frozen=True):
    """How far one is."""

    done: int
    drafts: int
    held: int
    total: int
    stopped: bool


class JudgmentShape(msgspec.Struct, frozen=True):
    """What one said about a unit: the newest revision."""

    unit: int
    document: str
    segment: str | None
    revision: int
    submitted: bool
    answers: Mapping[str, Answer]
    stored_at: datetime
    text: str
    """The text that it is about, or its beginning."""
    language: str | None
    """The language of that text."""
    said: list[str]
    """The answers in the reader's words."""


class JudgmentsShape(msgspec.Struct, frozen=True):
    """One's own judgments, the last unit first; `before` turns the page, null at the end."""

    judgments: list[JudgmentShape]
    before: int | None


class FlagShape(msgspec.Struct, frozen=True):
    """A unit that somebody wants to talk about."""

    unit: int
    name: str
    text: str
    at: datetime
    settled: bool


class PersonRow(msgspec.Struct, frozen=True):
    """A person in a manager's table."""

    name: str
    done: int
    drafts: int
    held: int
    last_at: datetime | None


class CampaignPage(msgspec.Struct, frozen=True):
    """A campaign with one's own work in it; managers also see the others."""

    campaign: str
    title: str
    scheme: str
    version: str
    state: str
    invited: bool
    """Whether one may judge in it; managers may look at any."""
    progress: OwnProgress
    judgments: list[JudgmentShape]
    older: bool
    """Whether these are older ones, not the newest."""
    before: int | None
    """Turns the page to still older ones; null at the end."""
    flags: list[FlagShape]
    people: list[PersonRow] | UnsetType = UNSET


class SegmentShape(msgspec.Struct, frozen=True, omit_defaults=True):
    """A turn, a triple or a text."""

    id: str
    role: str
    text: str
    parts: tuple[str, str, str] | UnsetType = UNSET
    unit: int | UnsetType = UNSET
    """Its number, where it is a unit of one's own."""
    mark: str | list[str] | UnsetType = UNSET
    """One's own label, or labels, where it was judged already."""


class SchemeLink(msgspec.Struct, frozen=True):
    """Which guideline, and where it is as JSON."""

    id: str
    version: str
    url: str


class SuggestionShape(msgspec.Struct, frozen=True):
    """What a program would answer."""

    by: str
    answers: Mapping[str, Answer]


class FeedbackShape(msgspec.Struct, frozen=True):
    """What is told after an answer in the practice."""

    right: bool
    answers: list[Mapping[str, Answer]]
    """Each set of answers that is right."""
    text: str


class UnitShape(msgspec.Struct, frozen=True):
    """A unit to judge: what its judge may see, and nothing else."""

    campaign: str
    title: str
    campaign_state: str
    number: int
    position: int
    """The how-maniest it is of one's own units; 0 where it is not one's own."""
    own: int
    """How many units one has or had."""
    total: int
    """Units that the campaign has."""
    done: int
    """Units that one has submitted."""
    document: str
    language: str | None
    scheme: SchemeLink
    context: list[SegmentShape]
    target: SegmentShape | None
    answers: Mapping[str, Answer]
    revision: int
    submitted: bool
    """Whether the newest revision is submitted, no draft."""
    state: Literal["reserved", "done", "released", "extra", "view"]
    """`released`: went back after its time; `extra`: answered after that; `view`: a manager looks."""
    previous: int | None
    next: int | None
    unjudged: list[int]
    tokens: Mapping[str, list[tuple[int, int]]]
    """For span questions: where the tokens of each segment stand, in code points; of a triple, its elements."""
    votes: Mapping[str, int] | UnsetType = UNSET
    suggestion: SuggestionShape | UnsetType = UNSET
    """What a program would answer, where the plan lets people see it."""
    part: Literal["training"] | UnsetType = UNSET
    """A unit to practise on."""
    feedback: FeedbackShape | UnsetType = UNSET
    """After an answer in the practice: whether it was right, and why."""


class NextShape(msgspec.Struct, frozen=True):
    """The next unit to judge, or why there is none."""

    unit: int | None
    units: list[int]
    until: datetime | None
    reason: Literal["done", "wait", "paused", "closed", "begin", "stopped"] | None
    """`begin`: consent or instructions come first, at /c/NAME/begin; `stopped`: nothing more for you."""


class CompletionShape(msgspec.Struct, frozen=True):
    """What shows a platform that somebody is done."""

    code: str
    url: str


class StateShape(msgspec.Struct, frozen=True):
    """Why there is nothing to judge now."""

    campaign: str
    title: str
    reason: Literal["done", "wait", "paused", "closed", "begin", "stopped"]
    progress: OwnProgress
    completion: CompletionShape | UnsetType = UNSET
    """Where the plan has a completion code and the person is done."""


class InvitationShape(msgspec.Struct, frozen=True):
    """What a link offers."""

    role: str
    campaign: str | None
    title: str | None
    needs_password: bool


class SignInShape(msgspec.Struct, frozen=True):
    """The page for signing in."""

    next: str
    error: str | UnsetType = UNSET
    name: str = ""


class JoinShape(msgspec.Struct, frozen=True):
    """The page behind an invitation."""

    invitation: InvitationShape
    error: str | UnsetType = UNSET
    message: str | UnsetType = UNSET
    name: str = ""
    known_as: str | UnsetType = UNSET
    """Who comes from a platform, by its id: no name and no password are asked for."""


class ErrorShape(msgspec.Struct, frozen=True):
    """A page or an answer that says what went wrong."""

    status: int
    reason: str
    message: str


Key = Annotated[
    str, Meta(min_length=1, max_length=100, description="made once by the client for each answer")
]


class SaveBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Answers to keep. Sent again with the same key, they are kept once."""

    key: Key
    answers: Mapping[str, Answer | None]
    submitted: bool = True
    given_at: datetime | None = None
    seconds: Annotated[float, Meta(ge=0)] | None = None
    client: Annotated[str, Meta(max_length=200)] = ""
    base_revision: Annotated[int, Meta(ge=0, le=LARGEST)] | None = None
    suggested: bool = False
    """Whether a program's answer was shown as a suggestion."""


class FlagBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A remark on a unit, for discussion."""

    key: Key
    text: Annotated[str, Meta(min_length=1, max_length=10_000)]


class SavedShape(msgspec.Struct, frozen=True):
    """Said only once the answers are on disk."""

    key: str
    revision: int
    stored_at: datetime
    replaced: int | None
    extra: bool
    next: int | None


class FlaggedShape(msgspec.Struct, frozen=True):
    """The flag is on disk."""

    key: str


class BrokenShape(msgspec.Struct, frozen=True):
    """A rule that an answer breaks."""

    rule: str
    question: str
    message: str


class RefusalShape(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why something was not done; nothing was stored. The words are in the reader's language."""

    reason: str
    message: str
    messages: list[str] | UnsetType = UNSET
    broken: list[BrokenShape] | UnsetType = UNSET
    unit: int | UnsetType = UNSET
    """With reason `earlier`: the unit to judge first."""


def plain(shape: Any) -> Any:
    """A record as plain lists and dicts: what templates get, and exactly what the JSON twin says."""
    return msgspec.json.decode(msgspec.json.encode(shape))
