"""The page of a campaign for those who answer for its data: its record, and what all of its sections share."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import msgspec

from lapsus.campaign_stats import CampaignStats
from lapsus.campaign_stats.attention import Attention, attention
from lapsus.campaign_stats.campaign import DayStats
from lapsus.campaign_stats.statistics import Forecast
from lapsus.campaign_stats.unit_search import disagreement
from lapsus.errors import UsageError
from lapsus.formats import FORMATS
from lapsus.kinds import kind_of
from lapsus.measures.score import Score
from lapsus.model import Question, in_language
from lapsus.reports.charts import FORMATS as PICTURES
from lapsus.reports.charts import has_files
from lapsus.store import RefusedError, StoredJudgment
from lapsus.web.page_routes import campaign_here, filled
from lapsus.web.pages.judging.campaign import in_words
from lapsus.web.request_context import RequestContext

SECTIONS = ("results", "disputed", "time", "answers", "annotators", "pairs", "programs", "learning")
TAKEN = ("jsonl", "csv", "parquet", "labelstudio", "brat", "dbdc")
"""The formats that keep who said what."""


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


class AnswerResponse(msgspec.Struct, frozen=True):
    """How often an answer was given, and how far people agree on it."""

    id: str
    name: str
    votes: int
    share: float
    score: ScoreResponse | None


class VoterResponse(msgspec.Struct, frozen=True):
    """An answer, and who gave it."""

    said: list[str]
    people: list[str]


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
    attention: list[Attention]
    """Who needs a look, the worst first."""

    progress: ProgressResponse
    forecast: Forecast | None
    days: list[DayStats]
    agreement: list[ScoreResponse]
    answers: list[AnswerResponse]
    sections: list[str]
    """What else there is to see, each at its own address."""
    formats: list[str]
    """In which the data can be taken away."""


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
        attention=attention(stats),
        progress=_progress(stats),
        forecast=stats.forecast(),
        days=stats.days(),
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


def _differing(stats: CampaignStats) -> int | None:
    """On how many units people differ; None while that is being worked out."""
    if stats.kind.is_counted:
        patterns = stats.patterns()
        return int(patterns.times[(patterns.counts > 0).sum(axis=1) > 1].sum())
    units, apart = disagreement(stats)
    return int((apart > 0).sum()) if len(units) or not stats.figures.days else None


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
