"""What the pages for managers and adjudicators show, as records."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import Meta

from lapsus.model import Answer, Span
from lapsus.web.shapes import Key, SchemeLink, SegmentShape


class QuestionShape(msgspec.Struct, frozen=True):
    """A question that can be counted."""

    id: str
    name: str
    kind: str


class ScoreShape(msgspec.Struct, frozen=True):
    """A coefficient with all that makes it comparable. `value` is null where it is undefined; `note` says why."""

    name: str
    merged: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    note: str | None
    signature: str


class ProgressShape(msgspec.Struct, frozen=True):
    """How far the campaign is."""

    documents: int
    units: int
    complete: int
    wanted: int
    done: int
    people: int
    decided: int
    """Units that somebody has decided on."""


class ForecastShape(msgspec.Struct, frozen=True):
    """When it will be done at the pace of the last days."""

    per_day: float
    days: int
    done_on: datetime


class DayShape(msgspec.Struct, frozen=True):
    """Judgments of a day; null where the day is not known."""

    day: str | None
    judgments: int
    total: int


class AnswerShape(msgspec.Struct, frozen=True):
    """How often an answer was given, and how far people agree on it."""

    id: str
    name: str
    votes: int
    share: float
    score: ScoreShape | None


class SystemShape(msgspec.Struct, frozen=True):
    """The answers on one system's units."""

    system: str
    units: int
    shares: list[float]
    score: ScoreShape


class DeskShape(msgspec.Struct, frozen=True, kw_only=True):
    """What every section knows."""

    campaign: str
    title: str
    scheme: str
    version: str
    state: str
    question: QuestionShape
    questions: list[QuestionShape]
    figures: int
    """Grows whenever a figure changes."""
    as_of: datetime | None
    """Of when this is, while what is newer is being worked out; null: of now."""
    pending: bool
    """Whether something here is being worked out for the first time, and empty until then. Ask again in a moment."""
    trouble: str | None
    """Why something here could not be worked out; it is then of earlier, or empty."""
    charts: bool
    """Whether charts can be drawn here."""


class OverviewShape(DeskShape, frozen=True, kw_only=True):
    """The page of a campaign for those who answer for it."""

    progress: ProgressShape
    forecast: ForecastShape | None
    days: list[DayShape]
    agreement: list[ScoreShape]
    answers: list[AnswerShape]
    sections: list[str]
    """What else there is to see, each at its own address."""
    formats: list[str]
    """In which the data can be taken away."""


class AnswersShape(DeskShape, frozen=True, kw_only=True):
    """How often each answer was given, by system."""

    answers: list[AnswerShape]
    systems: list[SystemShape]


class PeriodShape(msgspec.Struct, frozen=True):
    """Agreement on the units that were finished within some days."""

    begin: str
    end: str
    score: ScoreShape


class TimeShape(DeskShape, frozen=True, kw_only=True):
    """Agreement over time."""

    periods: list[PeriodShape]


class AnnotatorShape(msgspec.Struct, frozen=True):
    """What can be told of an annotator; null where there is nothing to tell from."""

    name: str
    units: int
    median_seconds: float | None
    agreement: float | None
    kappa: float | None
    reliability: float | None
    failed: int
    checks: int
    longest_run: int
    is_straight: bool


class AnnotatorsShape(DeskShape, frozen=True, kw_only=True):
    """The table of annotators."""

    annotators: list[AnnotatorShape]
    signatures: list[str]
    unnamed: bool
    """Whether nothing can be said of each, since the data do not tell them apart."""


class PairsShape(DeskShape, frozen=True, kw_only=True):
    """Agreement of every two annotators; null where they share no unit or nothing varies."""

    measure: str
    names: list[str]
    rows: list[list[float | None]]
    shared: list[list[int]]
    everybody: int
    """How many annotators there are; the matrix shows those with the most units."""


class VoterShape(msgspec.Struct, frozen=True):
    """An answer, and who gave it."""

    said: list[str]
    people: list[str]


class DisputeShape(msgspec.Struct, frozen=True):
    """A unit over which people differ."""

    unit: int
    document: str
    text: str
    language: str | None
    disagreement: float
    answers: list[VoterShape]
    decided: bool


class DisputedShape(DeskShape, frozen=True, kw_only=True):
    """The most disputed units."""

    disputes: list[DisputeShape]
    total: int


class GroupShape(msgspec.Struct, frozen=True):
    """People who gave the very same answers."""

    answers: Mapping[str, Answer]
    said: list[str]
    people: list[str]
    ids: list[int]
    key: str
    """The key that accepts it."""
    is_majority: bool


class MarkShape(msgspec.Struct, frozen=True):
    """A mark on the text, and who made it."""

    question: str
    span: Span
    people: list[str]


class PieceShape(msgspec.Struct, frozen=True):
    """A piece of a text, with the labels of the marks on it."""

    text: str
    labels: list[str]


class DecisionShape(msgspec.Struct, frozen=True):
    """What was decided, by whom and why."""

    answers: Mapping[str, Answer]
    said: list[str]
    how: str
    follows: str | None
    by: str
    reason: str
    at: datetime


class DecideShape(msgspec.Struct, frozen=True):
    """A unit with everybody's answers, to decide on."""

    campaign: str
    title: str
    number: int
    document: str
    language: str | None
    scheme: SchemeLink
    context: list[SegmentShape]
    target: SegmentShape | None
    tokens: Mapping[str, list[tuple[int, int]]]
    groups: list[GroupShape]
    majority: Mapping[str, Answer] | None
    """What most people said, question by question, if that keeps the rules; null otherwise."""
    majority_said: list[str]
    marks: list[MarkShape]
    """Every mark that somebody made, each once."""
    pieces: Mapping[str, list[list[PieceShape]]]
    """For each segment with a mark, its text once for each group."""
    decisions: list[DecisionShape]
    """The newest first; it counts."""
    disagreement: float
    place: int
    """The how-maniest of the units in this order."""
    total: int
    previous: int | None
    next: int | None
    only: str
    """Which units: all, or only those that are open."""
    question: QuestionShape
    questions: list[QuestionShape]


class DecideBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A decision on a unit. Sent again with the same key, it is kept once."""

    key: Key
    how: str
    answers: Mapping[str, Answer | None] = {}
    """One's own, where `how` is own."""
    follows: Annotated[int, Meta(ge=0, le=2**31 - 1)] | None = None
    """Whose answers are taken, where `how` is person."""
    reason: Annotated[str, Meta(max_length=10_000)] = ""


class DecidedShape(msgspec.Struct, frozen=True):
    """The decision is on disk."""

    key: str
    next: int | None
