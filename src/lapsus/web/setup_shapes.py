"""What goes over the wire of pages on which campaigns are set up and run."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import msgspec
from msgspec import UNSET, UnsetType

from lapsus.web.shapes import SchemeLink, SegmentShape


class QuestionShape(msgspec.Struct, frozen=True):
    """A question as a preview shows it."""

    name: str
    ask: str
    kind: str
    answers: list[str]


class PreviewShape(msgspec.Struct, frozen=True):
    """A real unit, with the questions that would be asked about it."""

    number: int
    total: int
    document: str
    language: str | None
    context: list[SegmentShape]
    target: SegmentShape | None
    questions: list[QuestionShape]
    tokens: Mapping[str, list[tuple[int, int]]]
    scheme: SchemeLink


class ChoiceShape(msgspec.Struct, frozen=True):
    """Something that can be chosen."""

    value: str
    title: str
    text: str = ""


class KnownShape(msgspec.Struct, frozen=True):
    """A unit whose right answer is known."""

    document: str
    segment: str
    """Empty for a whole document."""
    text: str
    language: str | None
    said: list[list[str]]
    """The right answers in words: one list for each that is as good."""
    feedback: str


class BlockShape(msgspec.Struct, frozen=True):
    """Known units of one kind."""

    name: str
    units: list[KnownShape]


class WizardShape(msgspec.Struct, frozen=True):
    """A step on the way to a campaign."""

    step: str
    steps: list[str]
    draft: str
    """Empty on the first page."""
    fields: Mapping[str, str]
    choices: list[ChoiceShape]
    preview: PreviewShape | None
    documents: int
    units: int
    known: list[BlockShape] = []
    plan: str = ""
    """The plan as a file, where it is complete."""
    error: str | UnsetType = UNSET
    hint: str | UnsetType = UNSET


class BeginShape(msgspec.Struct, frozen=True):
    """What is read before the first unit."""

    campaign: str
    title: str
    consent: str
    instructions: str
    error: str | UnsetType = UNSET


class MemberShape(msgspec.Struct, frozen=True):
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


class MessageShape(msgspec.Struct, frozen=True):
    """Something that a manager wants people to read."""

    id: int
    campaign: str
    to: str | None
    sender: str | None
    text: str
    at: datetime


class MessagesShape(msgspec.Struct, frozen=True):
    """What one has not read yet."""

    messages: list[MessageShape]


class ManageShape(msgspec.Struct, frozen=True):
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
    members: list[MemberShape]
    sent: list[MessageShape]
    plan: str
    link: str | UnsetType = UNSET
    """A link that was just made. It is shown once."""
    error: str | UnsetType = UNSET
