"""Records for the pages of a campaign's statistics, and for their JSON twins."""

import math
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from lapsus.campaign_stats import CampaignStats
from lapsus.campaign_stats.attention import attention
from lapsus.campaign_stats.campaign import UnitDispute
from lapsus.campaign_stats.results import SIGNATURE, results_of
from lapsus.campaign_stats.unit_search import UnitSearch
from lapsus.errors import UsageError
from lapsus.formats import FORMATS
from lapsus.kinds import kind_of
from lapsus.measures.score import Score
from lapsus.model import Question, in_language
from lapsus.reports.charts import FORMATS as PICTURES
from lapsus.reports.charts import has_files
from lapsus.store import RefusedError, StoredJudgment
from lapsus.trust.estimators import Estimate
from lapsus.web.page_routes import campaign_here, filled
from lapsus.web.pages.judging.campaign import excerpt, in_words
from lapsus.web.pages.stats.records import (
    AnnotatorResponse,
    AnnotatorsResponse,
    AnswerResponse,
    AnswersResponse,
    AttentionResponse,
    BoundsResponse,
    DayResponse,
    DisputedResponse,
    DisputeResponse,
    ForecastResponse,
    OverviewResponse,
    PairsResponse,
    PeriodResponse,
    ProgramResponse,
    ProgramsResponse,
    ProgressResponse,
    ResultsResponse,
    ScoreResponse,
    StatsQuestionResponse,
    SystemDifferenceResponse,
    SystemResponse,
    SystemResultResponse,
    TimeResponse,
    VoterResponse,
)
from lapsus.web.request_context import RequestContext

SECTIONS = ("results", "disputed", "time", "answers", "annotators", "pairs", "programs", "learning")
MOST_DISPUTED = 10
TAKEN = ("jsonl", "csv", "parquet", "labelstudio", "brat", "dbdc")
"""The formats that keep who said what."""


def stats_of(visit: RequestContext, *, live: bool = True) -> CampaignStats:
    """The campaign that is asked for, for those who may see everybody's work."""
    name = campaign_here(visit).name
    if not visit.manages:
        raise RefusedError("not-yours-to-see", "only managers and adjudicators see everybody's work")
    try:
        return CampaignStats(visit.store, name, visit.request.query_params.get("q"), live=live)
    except UsageError as error:
        raise RefusedError("not-found", error.what) from error


def taken(stats: CampaignStats) -> list[str]:
    """The formats that have a place for what this guideline asks."""
    return [name for name in TAKEN if FORMATS.get(name)().suits(stats.scheme)]


def overview_record(visit: RequestContext, stats: CampaignStats) -> OverviewResponse:
    """Progress, agreement, answers."""
    learns = visit.store.learning.is_known(stats.name)
    # Marks are not compared two by two, and not counted day by day.
    known = {
        "results": stats.kind.tells_worse,
        "learning": learns,
        "pairs": stats.kind.pair_measure is not None,
        "time": stats.kind.is_counted,
    }
    return OverviewResponse(
        learns=learns,
        differing=_differing(stats),
        flags=len(visit.store.browsing.flagged(stats.name, open_only=True)),
        programs=len(visit.store.browsing.programs(stats.name)),
        attention=[AttentionResponse(one.kind, one.person, one.name, one.value) for one in attention(stats)],
        progress=_progress(stats),
        forecast=_forecast(stats),
        days=[filled(DayResponse, row, day=day_name(row.day)) for row in stats.days()],
        agreement=[
            score_response(score, row.name, row.merged_names(stats.kind, visit.language))
            for row, score in stats.agreement().items()
        ],
        answers=answers(visit, stats),
        sections=[name for name in SECTIONS if known.get(name, True)],
        formats=taken(stats),
        **base_of(visit, stats),
    )


def answers(visit: RequestContext, stats: CampaignStats) -> list[AnswerResponse]:
    """How often each answer was given, and how far people agree on it."""
    names, scores = answer_names(stats, visit.language), stats.by_label()
    return [
        filled(
            AnswerResponse,
            share,
            id=share.answer,
            name=names.get(share.answer, share.answer),
            score=score_response(scores[share.answer]) if share.answer in scores else None,
        )
        for share in stats.shares()
    ]


def by_system(visit: RequestContext, stats: CampaignStats) -> AnswersResponse:
    """The answers of each system."""
    systems = [
        filled(SystemResponse, row, shares=[one.share for one in row.shares], score=score_response(row.score))
        for row in stats.systems()
    ]
    return AnswersResponse(answers=answers(visit, stats), systems=systems, **base_of(visit, stats))


def results(visit: RequestContext, stats: CampaignStats) -> ResultsResponse:
    """Which system is worse, by how much, and how sure that is."""
    found, names = results_of(stats), answer_names(stats, visit.language)
    systems = [
        SystemResultResponse(
            one.system, one.units, _bounds(one.people), *map(_bounds_or_none, (one.judge, one.corrected))
        )
        for one in found.systems
    ]
    differences = [
        SystemDifferenceResponse(one.worse, one.better, _bounds(one.estimate), one.p, one.is_sure)
        for one in found.differences
    ]
    return ResultsResponse(
        measure=found.measure,
        bad=[names.get(label, label) for label in found.bad],
        worst_answer=found.bad[-1] if found.bad else "",
        systems=systems,
        differences=differences,
        judge=found.judge,
        signature=SIGNATURE,
        **base_of(visit, stats),
    )


def _bounds(found: Estimate) -> BoundsResponse:
    return BoundsResponse(found.value, found.low, found.high)


def _bounds_or_none(found: Estimate | None) -> BoundsResponse | None:
    return None if found is None else _bounds(found)


def over_time(visit: RequestContext, stats: CampaignStats) -> TimeResponse:
    """Agreement for each stretch of time."""
    periods = [
        PeriodResponse(f"{period.begin:%Y-%m-%d}", f"{period.end:%Y-%m-%d}", score_response(period.score))
        for period in stats.over_time()
    ]
    return TimeResponse(**base_of(visit, stats), periods=periods)


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


def programs(visit: RequestContext, stats: CampaignStats) -> ProgramsResponse:
    """Programs beside people."""
    rows = [filled(ProgramResponse, row, id=row.program) for row in UnitSearch(stats).programs()]
    return ProgramsResponse(**base_of(visit, stats), programs=rows)


def _differing(stats: CampaignStats) -> int | None:
    """On how many units people differ; None while that is being worked out."""
    if stats.kind.is_counted:
        patterns = stats.patterns()
        return int(patterns.times[(patterns.counts > 0).sum(axis=1) > 1].sum())
    units, apart = UnitSearch(stats).disagreement()
    return int((apart > 0).sum()) if len(units) or not stats.figures.days else None


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


def voters(stats: CampaignStats, judgments: Iterable[StoredJudgment], language: str) -> list[VoterResponse]:
    """Answers to the question in hand, the most frequent first, each with those who gave it."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for judgment in judgments:
        if (answer := judgment.answers.get(stats.question.id)) is not None:
            said = in_words(stats.scheme, {stats.question.id: answer}, language)
            groups.setdefault(tuple(said), []).append(judgment.annotator)
    ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
    return [VoterResponse(list(said), people) for said, people in ordered]


def answer_names(stats: CampaignStats, language: str) -> dict[str, str]:
    """What each answer of the question is called."""
    return kind_of(stats.question, stats.scheme).choice_names(language)


def score_response(score: Score, name: str = "", merged: str = "") -> ScoreResponse:
    """A coefficient as a record."""
    low, high = score.interval or (None, None)
    return filled(ScoreResponse, score, name=name or score.measure, merged=merged, low=low, high=high)


def question_response(question: Question, language: str) -> StatsQuestionResponse:
    """A question as a record."""
    return StatsQuestionResponse(question.id, in_language(question.name, language), question.kind)


def day_name(day: int) -> str | None:
    """The date of a day, None for the one that is not known."""
    return None if day < 0 else f"{datetime.fromtimestamp(day * 86400, UTC):%Y-%m-%d}"


def base_of(visit: RequestContext, stats: CampaignStats) -> dict[str, Any]:
    """What every section knows. Asked for last: only then it is known of when the rest is."""
    return {
        "campaign": stats.name,
        "title": in_language(stats.campaign.plan.titles, visit.language),
        "scheme": stats.campaign.scheme,
        "version": stats.campaign.version,
        "state": stats.campaign.state,
        "question": question_response(stats.question, visit.language),
        "questions": [question_response(question, visit.language) for question in stats.questions],
        "figures": stats.shown,
        "as_of": stats.as_of,
        "pending": stats.pending,
        "trouble": stats.trouble,
        "pictures": [format for format in PICTURES if has_files() or format in ("svg", "csv")],
    }


def _progress(stats: CampaignStats) -> ProgressResponse:
    found, programs = stats.progress, stats.store.browsing.programs(stats.name)
    people = sum(person.submitted > 0 for person in found.people if person.person not in programs)
    decided = len(stats.store.decisions.decided_units(stats.name))
    return filled(ProgressResponse, found, people=people, decided=decided)


def _forecast(stats: CampaignStats) -> ForecastResponse | None:
    found = stats.forecast()
    return None if found is None else filled(ForecastResponse, found, days=found.days_looked_at)
