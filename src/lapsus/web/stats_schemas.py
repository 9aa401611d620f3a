"""What the pages for managers and adjudicators show, as records."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from lapsus.model import Answer, Span
from lapsus.web.schemas import Key, SchemeLink, SegmentResponse


class StatsQuestionResponse(msgspec.Struct, frozen=True):
    """A question that can be counted."""

    id: str
    name: str
    kind: str


class ScoreResponse(msgspec.Struct, frozen=True):
    """A coefficient with all that makes it comparable. `value` is null where it is undefined; `note` says why."""

    name: str
    merged: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    note: str | None
    signature: str


class ProgressResponse(msgspec.Struct, frozen=True):
    """How far the campaign is."""

    documents: int
    units: int
    complete: int
    wanted: int
    done: int
    """Of the judgments that the plan asks for: all just when every unit is complete."""
    surplus: int
    """Judgments beyond what the plan asks of their units."""
    people: int
    decided: int
    """Units that somebody has decided on."""


class ForecastResponse(msgspec.Struct, frozen=True):
    """When it will be done at the pace of the last days."""

    per_day: float
    days: int
    done_on: datetime


class DayResponse(msgspec.Struct, frozen=True):
    """Judgments of a day; null where the day is not known."""

    day: str | None
    judgments: int
    total: int


class AnswerResponse(msgspec.Struct, frozen=True):
    """How often an answer was given, and how far people agree on it."""

    id: str
    name: str
    votes: int
    share: float
    score: ScoreResponse | None


class SystemResponse(msgspec.Struct, frozen=True):
    """The answers on one system's units."""

    system: str
    units: int
    shares: list[float]
    score: ScoreResponse


class CampaignStatsResponse(msgspec.Struct, frozen=True, kw_only=True):
    """What every section knows."""

    campaign: str
    title: str
    scheme: str
    version: str
    state: str
    question: StatsQuestionResponse
    questions: list[StatsQuestionResponse]
    figures: int
    """Grows whenever a figure changes."""
    as_of: datetime | None
    """Of when this is, while what is newer is being worked out; null: of now."""
    pending: bool
    """Whether something here is being worked out for the first time, and empty until then. Ask again in a moment."""
    trouble: str | None
    """Why something here could not be worked out; it is then of earlier, or empty."""
    pictures: list[str]
    """The formats in which charts can be saved here."""


class OverviewResponse(CampaignStatsResponse, frozen=True, kw_only=True):
    """The page of a campaign for those who answer for it."""

    learns: bool
    """Whether a judge learns from it, or did."""
    differing: int | None
    """Units with different answers; null where that takes longer to find."""
    flags: int
    """Units with an open flag."""
    programs: int
    """How many programs judged."""

    progress: ProgressResponse
    forecast: ForecastResponse | None
    days: list[DayResponse]
    agreement: list[ScoreResponse]
    answers: list[AnswerResponse]
    sections: list[str]
    """What else there is to see, each at its own address."""
    formats: list[str]
    """In which the data can be taken away."""


class AnswersResponse(CampaignStatsResponse, frozen=True, kw_only=True):
    """How often each answer was given, by system."""

    answers: list[AnswerResponse]
    systems: list[SystemResponse]


class PeriodResponse(msgspec.Struct, frozen=True):
    """Agreement on the units that were finished within some days."""

    begin: str
    end: str
    score: ScoreResponse


class TimeResponse(CampaignStatsResponse, frozen=True, kw_only=True):
    """Agreement over time."""

    periods: list[PeriodResponse]


class AnnotatorResponse(msgspec.Struct, frozen=True):
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
    id: int


class AnnotatorsResponse(CampaignStatsResponse, frozen=True, kw_only=True):
    """The table of annotators."""

    annotators: list[AnnotatorResponse]
    signatures: list[str]
    unnamed: bool
    """Whether nothing can be said of each, since the data do not tell them apart."""


class PairsResponse(CampaignStatsResponse, frozen=True, kw_only=True):
    """Agreement of every two annotators; null where they share no unit or nothing varies."""

    measure: str
    names: list[str]
    rows: list[list[float | None]]
    shared: list[list[int]]
    everybody: int
    """How many annotators there are; the matrix shows those with the most units."""


class ProgramResponse(msgspec.Struct, frozen=True):
    """A program beside people."""

    id: int
    name: str
    units: int
    compared: int
    """Units that both judged, and on which one answer came first."""
    same: int
    """Of these, on which it said what most people said."""


class ProgramsResponse(CampaignStatsResponse, frozen=True, kw_only=True):
    """The programs that judged."""

    programs: list[ProgramResponse]


class LessonResponse(msgspec.Struct, frozen=True):
    """How well the campaign's judge answered the question after so many units: agreement beyond chance."""

    at: datetime
    units: int
    judge: float | None
    low: float | None
    high: float | None
    people: float | None
    """Of two people."""
    answered: bool


class FollowedResponse(msgspec.Struct, frozen=True):
    """In how many answers people said what the judge would have said."""

    same: int
    answers: int


class LearningResponse(CampaignStatsResponse, frozen=True, kw_only=True):
    """The judge that learns from the campaign."""

    next_at: int | None
    """How many units must be judged before it learns again; null: it does not learn."""
    judged: int
    left: int
    """Units that nobody has judged, neither a person nor the judge."""
    doing: str | None
    """`learn` or `judge`, while it does."""
    rest: bool
    """Whether it is to judge the rest."""
    suggestions: int
    problem: str | None
    """Why the last work came to nothing."""
    lessons: list[LessonResponse]
    seen: FollowedResponse
    unseen: FollowedResponse


class VoterResponse(msgspec.Struct, frozen=True):
    """An answer, and who gave it."""

    said: list[str]
    people: list[str]


class DisputeResponse(msgspec.Struct, frozen=True):
    """A unit over which people differ."""

    unit: int
    document: str
    text: str
    language: str | None
    disagreement: float
    answers: list[VoterResponse]
    decided: bool


class DisputedResponse(CampaignStatsResponse, frozen=True, kw_only=True):
    """The most disputed units."""

    disputes: list[DisputeResponse]
    total: int


class GroupResponse(msgspec.Struct, frozen=True):
    """People, or programs, who gave the very same answers."""

    answers: Mapping[str, Answer]
    said: list[str]
    people: list[str]
    ids: list[int]
    key: str
    """The key that accepts it."""
    is_majority: bool


class MarkResponse(msgspec.Struct, frozen=True):
    """A mark on the text, and the people who made it: nobody, where only a program did."""

    question: str
    span: Span
    people: list[str]


class PieceResponse(msgspec.Struct, frozen=True):
    """A piece of a text, with the labels of the marks on it by their names in the reader's language."""

    text: str
    labels: list[str]


class DecisionResponse(msgspec.Struct, frozen=True):
    """What was decided, by whom and why."""

    answers: Mapping[str, Answer]
    said: list[str]
    how: str
    follows: str | None
    by: str
    reason: str
    at: datetime


class DecideResponse(msgspec.Struct, frozen=True):
    """A unit with everybody's answers, to decide on."""

    campaign: str
    title: str
    number: int
    document: str
    language: str | None
    scheme: SchemeLink
    context: list[SegmentResponse]
    target: SegmentResponse | None
    tokens: Mapping[str, list[tuple[int, int]]]
    groups: list[GroupResponse]
    """What people said."""
    programs: list[GroupResponse]
    """What programs said, which is no vote."""
    majority: Mapping[str, Answer] | None
    """The most frequent answer, question by question, if one comes first and keeps the rules; null otherwise."""
    majority_how: Literal["majority", "plurality"] | None
    """Whether more than half of the people gave it, or fewer."""
    majority_count: int
    """How many people gave it..."""
    majority_total: int
    """...of how many people who judged the unit."""
    majority_said: list[str]
    marks: list[MarkResponse]
    """Every mark that a person or a program made, each once."""
    pieces: Mapping[str, list[list[PieceResponse]]]
    """For each segment with a mark, its text once for each group, first of people, then of programs."""
    decisions: list[DecisionResponse]
    """The newest first; it counts."""
    disagreement: float
    place: int
    """Its place among the units in this order, from 1."""
    total: int
    previous: int | None
    next: int | None
    only: str
    """Which units: all, or only those that are open."""
    question: StatsQuestionResponse
    questions: list[StatsQuestionResponse]


class DecideBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A decision on a unit. Sent again with the same key, it is kept once."""

    key: Key
    how: str
    answers: Mapping[str, Answer | None] = {}
    """One's own, where `how` is own."""
    follows: Annotated[int, Meta(ge=0, le=2**31 - 1)] | None = None
    """Whose answers are taken, where `how` is person."""
    reason: Annotated[str, Meta(max_length=10_000)] = ""


class DecidedResponse(msgspec.Struct, frozen=True):
    """The decision is on disk."""

    key: str
    next: int | None
