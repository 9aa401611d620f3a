"""What the pages of a campaign's statistics show, as records."""

from datetime import datetime

import msgspec


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
    """When this was computed, while newer figures are being computed; null: it is current."""
    pending: bool
    """Whether something here is being worked out for the first time, and empty until then. Ask again in a moment."""
    trouble: str | None
    """Why something here could not be worked out; it is then of earlier, or empty."""
    pictures: list[str]
    """The formats in which charts can be saved here."""


class AttentionResponse(msgspec.Struct, frozen=True):
    """Somebody who needs a look."""

    kind: str
    """`checks`: fails them; `fast`: too fast; `same`: always the same answer; `behind`: holds units and is silent."""
    id: int
    name: str
    value: float


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
    attention: list[AttentionResponse]
    """Who needs a look, the worst first."""

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


class BoundsResponse(msgspec.Struct, frozen=True):
    """A value with its interval; null where it cannot be told."""

    value: float | None
    low: float | None
    high: float | None


class SystemResultResponse(msgspec.Struct, frozen=True):
    """One system: by people, by the judge, and by the judge put right by people."""

    system: str
    units: int
    people: BoundsResponse
    judge: BoundsResponse | None
    corrected: BoundsResponse | None


class SystemDifferenceResponse(msgspec.Struct, frozen=True):
    """How much worse one system is than another, by people."""

    worse: str
    better: str
    by: BoundsResponse
    p: float | None
    is_sure: bool


class ResultsResponse(CampaignStatsResponse, frozen=True, kw_only=True):
    """Which system is worse."""

    measure: str
    bad: list[str]
    worst_answer: str
    """An answer by which examples are found; empty for scales and marks."""
    systems: list[SystemResultResponse]
    differences: list[SystemDifferenceResponse]
    judge: str | None
    signature: str
