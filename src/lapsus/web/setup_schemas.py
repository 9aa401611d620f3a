"""What goes over the wire of pages on which campaigns are set up and run."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import msgspec
from msgspec import UNSET, UnsetType

from lapsus.web.schemas import BegunDraftResponse, SchemeLink, SegmentResponse
from lapsus.web.wizard_sample import SampleResponse


class SetupQuestionResponse(msgspec.Struct, frozen=True):
    """A question as a preview shows it."""

    name: str
    ask: str
    kind: str
    answers: list[str]


class PreviewResponse(msgspec.Struct, frozen=True):
    """A real unit, with the questions that would be asked about it."""

    number: int
    total: int
    document: str
    language: str | None
    context: list[SegmentResponse]
    target: SegmentResponse | None
    questions: list[SetupQuestionResponse]
    tokens: Mapping[str, list[tuple[int, int]]]
    scheme: SchemeLink


class ChoiceResponse(msgspec.Struct, frozen=True):
    """Something that can be chosen."""

    value: str
    title: str
    text: str = ""


class KnownResponse(msgspec.Struct, frozen=True):
    """A unit whose right answer is known."""

    document: str
    segment: str
    """Empty for a whole document."""
    text: str
    language: str | None
    said: list[list[str]]
    """The right answers in words: one list for each that is as good."""
    feedback: str


class BlockResponse(msgspec.Struct, frozen=True):
    """Known units of one kind."""

    name: str
    units: list[KnownResponse]


class TargetsResponse(msgspec.Struct, frozen=True):
    """What the votes that came along say: how many turns have votes, how many of these the guideline judges."""

    judged: int
    chosen: int
    without: int
    """Documents without such votes; all their turns are judged."""


class SummaryResponse(msgspec.Struct, frozen=True):
    """A line of what was decided, and the step on which it can be changed."""

    step: str
    what: str
    said: str


class GuidelineProblemResponse(msgspec.Struct, frozen=True):
    """Something wrong with a guideline, or something it would be better with."""

    line: int
    message: str
    severe: bool


class WordsFieldResponse(msgspec.Struct, frozen=True):
    """A text of a guideline, by where it stands in the file."""

    name: str
    what: str
    language: str
    value: str
    is_long: bool


class WordsGroupResponse(msgspec.Struct, frozen=True):
    """Texts that belong together: the guideline's, a question's, a label's or a level's."""

    kind: str
    place: str
    id: str
    fields: list[WordsFieldResponse]
    grows: str
    """The question, in the file, that can get one more label after this; empty where none can."""


class OwnGuidelineResponse(msgspec.Struct, frozen=True):
    """A guideline of one's own, as it is being written."""

    draft: str
    groups: list[WordsGroupResponse]
    problems: list[GuidelineProblemResponse]
    text: str
    """The whole file."""
    error: str | UnsetType = UNSET


class WizardResponse(msgspec.Struct, frozen=True):
    """A step on the way to a campaign."""

    step: str
    steps: list[str]
    draft: str
    """Empty on the first page."""
    drafts: list[BegunDraftResponse]
    """On the first page: one's own that are not finished, the newest first."""
    fields: Mapping[str, str]
    choices: list[ChoiceResponse]
    preview: PreviewResponse | None
    documents: int
    units: int
    targets: TargetsResponse | None = None
    """Where the guideline judges only turns that votes choose, and the documents are the campaign's own."""
    known: list[BlockResponse] = []
    plan: str = ""
    """The plan as a file, where it is complete."""
    summary: list[SummaryResponse] = []
    """The same in words."""
    own: str = ""
    """The name of the guideline, where it is the manager's own."""
    has_own: bool = False
    """Whether there is one of the manager's own, chosen or not, in order or not."""
    sample: SampleResponse | None = None
    error: str | UnsetType = UNSET
    hint: str | UnsetType = UNSET


class BeginResponse(msgspec.Struct, frozen=True):
    """What is read before the first unit."""

    campaign: str
    title: str
    consent: str
    instructions: str
    error: str | UnsetType = UNSET


class MemberResponse(msgspec.Struct, frozen=True):
    """A person in a campaign, as those see who run it."""

    id: int
    name: str
    program: bool
    judged: int
    held: int
    passed: int
    failed: int
    begun: datetime | None
    stopped: datetime | None
    last_at: datetime | None
    origin: Mapping[str, str]


class MessageResponse(msgspec.Struct, frozen=True):
    """Something that a manager wants people to read."""

    id: int
    campaign: str
    to: str | None
    sender: str | None
    text: str
    at: datetime


class MessagesResponse(msgspec.Struct, frozen=True):
    """What one has not read yet."""

    messages: list[MessageResponse]


class LearnResponse(msgspec.Struct, frozen=True):
    """Whether a judge learns from the campaign, and how."""

    on: bool
    after: int
    every: int
    without: int
    """Percent of units that are judged without a suggestion."""
    uncertain_first: bool


class ManageResponse(msgspec.Struct, frozen=True):
    """A campaign, for those who run it."""

    campaign: str
    title: str
    scheme: str
    version: str
    state: str
    stage: str
    who: str
    documents: int
    units: int
    complete: int
    wanted: int
    done: int
    members: list[MemberResponse]
    sent: list[MessageResponse]
    plan: str
    titles: Mapping[str, str]
    """The title in each language that it is given in."""
    per_unit: int
    summary: list[SummaryResponse]
    """The plan in words."""
    archived: datetime | None
    """Since when it is out of the lists."""
    learn: LearnResponse
    link: str | UnsetType = UNSET
    """A link that was just made. It is shown once."""
    error: str | UnsetType = UNSET
