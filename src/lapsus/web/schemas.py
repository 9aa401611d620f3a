"""What goes over the wire, as records: pages, their JSON twins, the interface and its description share them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from lapsus.model import Answer
from lapsus.notices import as_text

LARGEST = 2**31 - 1


class PersonResponse(msgspec.Struct, frozen=True):
    """Who is signed in."""

    id: int
    name: str
    role: str
    language: str | None


class EverybodyResponse(msgspec.Struct, frozen=True):
    """How far a campaign is as a whole."""

    done: int
    """Judgments so far."""
    wanted: int
    """Judgments in all."""


class CampaignResponse(msgspec.Struct, frozen=True):
    """A campaign in a list, with how far one is oneself."""

    name: str
    title: str
    scheme: str
    version: str
    state: str
    done: int
    """Units that the reader has submitted."""
    held: int
    """Units that one holds and has not submitted."""
    total: int
    """Units that the campaign has."""
    stopped: bool
    """Whether the campaign gives one nothing more."""
    url: str
    left: int = 0
    """Units that wait for one; where none do, those that are left at most."""
    minutes: int | None = None
    """How long these take; null where that is not known yet."""
    own_pace: bool = False
    """Whether that is at one's own pace; else it is at the usual pace of the others."""
    talk: int = 0
    """Flags with something new: replies to one's own or, for those who look after it, all that are open."""
    last_at: datetime | None = None
    """When one saved something here last."""
    complete: bool = False
    """Whether every unit has all of its judgments, whoever gave them."""
    collects: bool = False
    """Whether people talk here: then `done` and `total` are talks."""
    everybody: EverybodyResponse | UnsetType = UNSET
    """For those who see everybody's work."""


class CampaignsResponse(msgspec.Struct, frozen=True):
    """The campaigns that one may see."""

    campaigns: list[CampaignResponse]


class BegunDraftResponse(msgspec.Struct, frozen=True):
    """A campaign that one has begun to set up and not made yet."""

    title: str
    url: str
    changed: datetime


class OwnProgressResponse(msgspec.Struct, frozen=True):
    """How far one is."""

    done: int
    drafts: int
    held: int
    total: int
    stopped: bool


class JudgmentResponse(msgspec.Struct, frozen=True):
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


class JudgmentsResponse(msgspec.Struct, frozen=True):
    """One's own judgments, the last unit first; `before` turns the page, null at the end."""

    judgments: list[JudgmentResponse]
    before: int | None


class ReplyResponse(msgspec.Struct, frozen=True):
    """What was said to a flag."""

    name: str
    text: str
    at: datetime
    own: bool


class FlagResponse(msgspec.Struct, frozen=True):
    """A unit that somebody wants to talk about, and the talk about it."""

    id: int
    unit: int
    name: str
    text: str
    at: datetime
    settled: bool
    own: bool
    """Whether the reader raised it."""
    unread: bool
    """Whether the reader raised it and has not read the last reply."""
    replies: list[ReplyResponse]


class PersonRow(msgspec.Struct, frozen=True):
    """A person in a manager's table, or a program; people come first."""

    name: str
    done: int
    drafts: int
    held: int
    last_at: datetime | None
    program: bool = False


class WaitingResponse(msgspec.Struct, frozen=True):
    """A unit of one's own that is still to be judged."""

    number: int
    document: str
    draft: bool
    """Whether it was begun."""


class CampaignPage(msgspec.Struct, frozen=True):
    """A campaign with one's own work in it; managers also see the others."""

    campaign: str
    title: str
    scheme: str
    version: str
    state: str
    stage: str
    """`pilot` or `main`."""
    invited: bool
    """Whether one may judge in it; managers may look at any."""
    complete: bool
    """Whether every unit has all of its judgments, whoever gave them."""
    progress: OwnProgressResponse
    waiting: list[WaitingResponse]
    judgments: list[JudgmentResponse]
    older: bool
    """Whether these are older ones, not the newest."""
    before: int | None
    """Turns the page to still older ones; null at the end."""
    words: str
    """What is looked for in them; empty: nothing."""
    flags: list[FlagResponse]
    people: list[PersonRow] | UnsetType = UNSET


class SegmentResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    """A turn, a triple or a text."""

    id: str
    role: str
    text: str
    parts: tuple[str, str, str] | UnsetType = UNSET
    unit: int | UnsetType = UNSET
    """Its number, where it is a unit of one's own."""
    layout: tuple[tuple[int, int, str, str], ...] | UnsetType = UNSET
    """What it looks like, where Markdown is shown: ranges of the text (`lapsus.web.markdown`)."""
    asked: str | UnsetType = UNSET
    """The question that one answered about it and that sums it up."""
    mark: str | list[str] | UnsetType = UNSET
    """One's own label, or labels, where it was judged already."""


class SchemeLink(msgspec.Struct, frozen=True):
    """Which guideline, and where it is as JSON."""

    id: str
    version: str
    url: str


class SuggestionResponse(msgspec.Struct, frozen=True):
    """What a program would answer."""

    by: str
    answers: Mapping[str, Answer]


class FeedbackResponse(msgspec.Struct, frozen=True):
    """What is told after an answer in the practice."""

    right: bool
    answers: list[Mapping[str, Answer]]
    """Each set of answers that is right."""
    text: str


class UnitResponse(msgspec.Struct, frozen=True):
    """A unit to judge: what its judge may see, and nothing else."""

    campaign: str
    title: str
    campaign_state: str
    number: int
    position: int
    """Its place among the reader's own units, practice aside, from 1; 0 where it is none of them."""
    own: int
    """How many units the reader has or had, practice aside."""
    total: int
    """Units that there are for the reader."""
    done: int
    """Units that the reader has submitted, practice aside."""
    document: str
    language: str | None
    scheme: SchemeLink
    context: list[SegmentResponse]
    target: SegmentResponse | None
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
    flags: list[FlagResponse]
    """The reader's own; for those who look after the campaign, everybody's."""
    votes: Mapping[str, int] | UnsetType = UNSET
    """By which the unit was chosen, in the guideline's order."""
    vote_names: Mapping[str, str] | UnsetType = UNSET
    """What the labels of the votes are called in the reader's language."""
    suggestion: SuggestionResponse | UnsetType = UNSET
    """What a program would answer, where the plan lets people see it."""
    part: Literal["training"] | UnsetType = UNSET
    """A unit to practise on."""
    guideline: str = "en"
    """The language of the guideline's text for this unit."""
    walk: Literal["offered", "required"] = "offered"
    steps: Literal["offered", "required"] = "offered"
    feedback: FeedbackResponse | UnsetType = UNSET
    """After an answer in the practice: whether it was right, and why."""


class NextResponse(msgspec.Struct, frozen=True):
    """The next unit to judge, or why there is none."""

    unit: int | None
    units: list[int]
    until: datetime | None
    reason: Literal["done", "wait", "draft", "paused", "closed", "begin", "stopped"] | None
    """`begin`: consent or instructions come first, at /c/NAME/begin; `stopped`: nothing more for you."""


class ErrorResponse(msgspec.Struct, frozen=True):
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
    guideline: Annotated[str, Meta(max_length=20)] | None = None
    """The language of the guideline's text that the annotator read."""
    walk: Annotated[tuple[str, ...], Meta(max_length=500)] = ()
    """The labels that were asked one by one, in that order."""
    steps: Annotated[tuple[str, ...], Meta(max_length=100)] = ()
    """The steps of the guideline that were taken, in that order."""
    withdrawn: bool = False
    """Of a draft: whether it takes back what was submitted."""


class FlagBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A remark on a unit, for discussion."""

    key: Key
    text: Annotated[str, Meta(min_length=1, max_length=10_000)]
    flag: Annotated[int, Meta(ge=1, le=LARGEST)] | None = None
    """The flag that it is a reply to; null: it is a new one."""


class SavedResponse(msgspec.Struct, frozen=True):
    """Said only once the answers are on disk."""

    key: str
    revision: int
    stored_at: datetime
    replaced: int | None
    extra: bool
    next: int | None


class FlaggedResponse(msgspec.Struct, frozen=True):
    """The flag is on disk."""

    key: str


class BrokenResponse(msgspec.Struct, frozen=True):
    """A rule that an answer breaks."""

    rule: str
    question: str
    message: str


class RefusalResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why something was not done; nothing was stored. The words are in the reader's language."""

    reason: str
    message: str
    messages: list[str] | UnsetType = UNSET
    broken: list[BrokenResponse] | UnsetType = UNSET
    unit: int | UnsetType = UNSET
    """With reason `earlier`: the unit to judge first."""


def plain(shape: Any) -> Any:
    """A record as plain lists and dicts: what templates get, and exactly what the JSON twin says."""
    return msgspec.json.decode(msgspec.json.encode(shape, enc_hook=as_text))
