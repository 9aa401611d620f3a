"""The judge that learns from a campaign, as those see it who answer for the data."""

from __future__ import annotations

from lapsus.campaign_stats import CampaignStats
from lapsus.errors import LapsusError
from lapsus.reports.charts import Chart
from lapsus.store import RefusedError
from lapsus.store.learning import Followed, Lesson, Trouble
from lapsus.translation import translated_error
from lapsus.web.page_words import say
from lapsus.web.request_context import RequestContext
from lapsus.web.stats_schemas import FollowedResponse, LearningResponse, LessonResponse
from lapsus.web.stats_view import base_of


def learning(visit: RequestContext, stats: CampaignStats) -> LearningResponse:
    """How far it is, how well it answers a question, and what it could do."""
    found = visit.store.learning.state(stats.name)
    if found is None:
        raise RefusedError("not-found", "no judge learns from this campaign")
    last = found.lessons[-1] if found.lessons else None
    return LearningResponse(
        next_at=found.next_at,
        judged=found.judged,
        left=found.open,
        doing=found.doing,
        rest=found.rest,
        suggestions=found.suggestions,
        problem=None if found.trouble is None else _told(found.trouble, visit.language),
        lessons=lessons(found.lessons, stats.question.id),
        seen=_followed(last.seen if last else Followed()),
        unseen=_followed(last.unseen if last else Followed()),
        **base_of(visit, stats),
    )


def lessons(found: tuple[Lesson, ...], question: str) -> list[LessonResponse]:
    """What came of each time it learned, for one question."""
    return [
        LessonResponse(lesson.at, lesson.units, one.judge, one.low, one.high, one.people, one.answered)
        for lesson in found
        for one in lesson.questions
        if one.question == question
    ]


def curve(stats: CampaignStats, language: str) -> Chart:
    """The learning curve: how far it agrees with people after so many units, and people with each other."""
    found = stats.store.learning.state(stats.name)
    rows = [] if found is None else lessons(found.lessons, stats.question.id)
    drawn = [
        (say("learning.units", language, n=f"{row.units:,}"), row.judge, row.low, row.high) for row in rows
    ]
    if rows and rows[-1].people is not None:
        drawn.append((say("learning.people", language), rows[-1].people, None, None))
    names = ("learning.after", "learning.judge", "insight.agreement.low", "insight.agreement.high")
    columns = tuple(say(name, language) for name in names)
    return Chart("intervals", say("learning.chart", language), columns, tuple(drawn), language=language)


def _told(trouble: Trouble, language: str) -> str:
    error = translated_error(LapsusError(trouble.what, hint=trouble.hint), language)
    return " ".join(filter(None, (error.what + ("。" if language == "ja" else "."), error.hint)))


def _followed(found: Followed) -> FollowedResponse:
    return FollowedResponse(found.same, found.answers)
