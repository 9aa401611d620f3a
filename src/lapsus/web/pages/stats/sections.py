"""The sections of a campaign's page: a record and what fills it for each, and for its JSON twin."""

import math

import msgspec

from lapsus.campaign_stats import CampaignStats
from lapsus.campaign_stats.campaign import UnitDispute
from lapsus.campaign_stats.results import SIGNATURE, SystemDifference, SystemResult, results_of
from lapsus.campaign_stats.unit_search import program_figures
from lapsus.web.page_routes import filled
from lapsus.web.pages.judging.campaign import excerpt
from lapsus.web.pages.stats.view import (
    AnswerResponse,
    CampaignStatsResponse,
    ScoreResponse,
    VoterResponse,
    answer_names,
    answers,
    base_of,
    score_response,
    voters,
)
from lapsus.web.request_context import RequestContext

MOST_DISPUTED = 10


class ResultsResponse(CampaignStatsResponse, frozen=True, kw_only=True):
    """Which system is worse."""

    measure: str
    bad: list[str]
    worst_answer: str
    """An answer by which examples are found; empty for scales and marks."""
    systems: tuple[SystemResult, ...]
    differences: tuple[SystemDifference, ...]
    judge: str | None
    signature: str


def results(visit: RequestContext, stats: CampaignStats) -> ResultsResponse:
    """Which system is worse, by how much, and how sure that is."""
    found, names = results_of(stats), answer_names(stats, visit.language)
    return filled(
        ResultsResponse,
        found,
        bad=[names.get(label, label) for label in found.bad],
        worst_answer=found.bad[-1] if found.bad else "",
        signature=SIGNATURE,
        **base_of(visit, stats),
    )


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


def disputed(visit: RequestContext, stats: CampaignStats) -> DisputedResponse:
    """The units over which people differ most."""
    found = stats.disputes()
    decided = visit.store.decisions.decided_units(stats.name)
    worst = [_dispute(visit, stats, dispute, decided) for dispute in found[:MOST_DISPUTED]]
    return DisputedResponse(**base_of(visit, stats), disputes=worst, total=len(found))


def _dispute(
    visit: RequestContext, stats: CampaignStats, dispute: UnitDispute, decided: frozenset[int]
) -> DisputeResponse:
    unit = visit.store.units.visible(stats.name, dispute.unit)
    judgments = [j for j in visit.store.judgments.of_unit(stats.name, dispute.unit) if not j.by_program]
    return filled(
        DisputeResponse,
        dispute,
        unit,
        text=excerpt(unit),
        answers=voters(stats, judgments, visit.language),
        decided=dispute.unit in decided,
    )


class PeriodResponse(msgspec.Struct, frozen=True):
    """Agreement on the units that were finished within some days."""

    begin: str
    end: str
    score: ScoreResponse


class TimeResponse(CampaignStatsResponse, frozen=True, kw_only=True):
    """Agreement over time."""

    periods: list[PeriodResponse]


def over_time(visit: RequestContext, stats: CampaignStats) -> TimeResponse:
    """Agreement for each stretch of time."""
    periods = [
        PeriodResponse(f"{period.begin:%Y-%m-%d}", f"{period.end:%Y-%m-%d}", score_response(period.score))
        for period in stats.over_time()
    ]
    return TimeResponse(**base_of(visit, stats), periods=periods)


class SystemResponse(msgspec.Struct, frozen=True):
    """The answers on one system's units."""

    system: str
    units: int
    shares: list[float]
    score: ScoreResponse


class AnswersResponse(CampaignStatsResponse, frozen=True, kw_only=True):
    """How often each answer was given, by system."""

    answers: list[AnswerResponse]
    systems: list[SystemResponse]


def by_system(visit: RequestContext, stats: CampaignStats) -> AnswersResponse:
    """The answers of each system."""
    systems = [
        filled(SystemResponse, row, shares=[one.share for one in row.shares], score=score_response(row.score))
        for row in stats.systems()
    ]
    return AnswersResponse(answers=answers(visit, stats), systems=systems, **base_of(visit, stats))


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


def annotators(visit: RequestContext, stats: CampaignStats) -> AnnotatorsResponse:
    """Everybody, with what can be told of each."""
    table, checks = stats.annotators(), visit.store.stats.check_counts(stats.name)
    rows = [
        filled(
            AnnotatorResponse,
            row,
            id=row.person,
            name=stats.names[row.person],
            failed=checks.get(row.person, (0, 0))[0],
            checks=checks.get(row.person, (0, 0))[1],
        )
        for row in table.rows
    ]
    unnamed = not rows and bool(stats.figures.days)
    return AnnotatorsResponse(
        **base_of(visit, stats), annotators=rows, signatures=list(table.signatures), unnamed=unnamed
    )


class PairsResponse(CampaignStatsResponse, frozen=True, kw_only=True):
    """Agreement of every two annotators; null where they share no unit or nothing varies."""

    measure: str
    names: list[str]
    rows: list[list[float | None]]
    shared: list[list[int]]
    everybody: int
    """How many annotators there are; the matrix shows those with the most units."""


def pairs(visit: RequestContext, stats: CampaignStats) -> PairsResponse:
    """Agreement of every two annotators."""
    found = stats.pairs()
    base = base_of(visit, stats)
    measure = stats.kind.pair_measure or ""
    if found is None:
        return PairsResponse(**base, measure=measure, names=[], rows=[], shared=[], everybody=0)
    values = [[None if math.isnan(value) else value for value in row] for row in found.values.tolist()]
    everybody = len({row.person for row in stats.figures.days})
    return PairsResponse(
        **base,
        measure=measure,
        names=list(found.annotators),
        rows=values,
        shared=found.shared.tolist(),
        everybody=everybody,
    )


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


def programs(visit: RequestContext, stats: CampaignStats) -> ProgramsResponse:
    """Programs beside people."""
    rows = [filled(ProgramResponse, row, id=row.program) for row in program_figures(stats)]
    return ProgramsResponse(**base_of(visit, stats), programs=rows)
