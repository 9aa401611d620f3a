"""The judge that learns from a campaign: how well it does; switched on or off, and asked to judge the rest."""

from datetime import datetime

import msgspec
from starlette.datastructures import FormData
from starlette.responses import Response

from lapsus.campaign_stats import CampaignStats
from lapsus.errors import LapsusError, UsageError
from lapsus.reports.charts import Chart
from lapsus.store import Learn, RefusedError
from lapsus.store.learning import Followed, LearningRound, Trouble
from lapsus.web.forms import field, number, posts
from lapsus.web.page_routes import campaign_here, filled, managing
from lapsus.web.page_words import say
from lapsus.web.pages.manage.page import MANAGE, manage_again
from lapsus.web.pages.stats.view import CampaignStatsResponse, base_of
from lapsus.web.rendering import redirect
from lapsus.web.request_context import RequestContext


class LearningRoundResponse(msgspec.Struct, frozen=True):
    """How well the campaign's judge answered the question after so many units: agreement beyond chance."""

    at: datetime
    units: int
    judge: float | None
    low: float | None
    high: float | None
    people: float | None
    """Of two people."""
    answered: bool


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
    rounds: list[LearningRoundResponse]
    seen: Followed
    unseen: Followed


def learning(visit: RequestContext, stats: CampaignStats) -> LearningResponse:
    """How far it is, how well it answers a question, and what it could do."""
    found = visit.store.learning.state(stats.name)
    if found is None:
        raise RefusedError("not-found", "no judge learns from this campaign")
    last = found.rounds[-1] if found.rounds else None
    return filled(
        LearningResponse,
        found,
        left=found.open,
        problem=None if found.trouble is None else _told(found.trouble, visit.language),
        rounds=rounds(found.rounds, stats.question.id),
        seen=last.seen if last else Followed(),
        unseen=last.unseen if last else Followed(),
        **base_of(visit, stats),
    )


def rounds(found: tuple[LearningRound, ...], question: str) -> list[LearningRoundResponse]:
    """What came of each time it learned, for one question."""
    return [
        filled(LearningRoundResponse, one, at=one_round.at, units=one_round.units)
        for one_round in found
        for one in one_round.questions
        if one.question == question
    ]


def curve(stats: CampaignStats, language: str) -> Chart:
    """The learning curve: how far it agrees with people after so many units, and people with each other."""
    found = stats.store.learning.state(stats.name)
    rows = [] if found is None else rounds(found.rounds, stats.question.id)
    drawn = [
        (say("learning.units", language, n=f"{row.units:,}"), row.judge, row.low, row.high) for row in rows
    ]
    if rows and rows[-1].people is not None:
        drawn.append((say("learning.people", language), rows[-1].people, None, None))
    names = ("learning.after", "learning.judge", "insight.agreement.low", "insight.agreement.high")
    columns = tuple(say(name, language) for name in names)
    return Chart("intervals", say("learning.chart", language), columns, tuple(drawn), language=language)


def _told(trouble: Trouble, language: str) -> str:
    error = LapsusError(trouble.what, hint=trouble.hint).in_language(language)
    return " ".join(filter(None, (error.what + ("。" if language == "ja" else "."), error.hint)))


def act(visit: RequestContext, form: FormData) -> Response:
    """Do what a button says."""
    found, wanted = campaign_here(visit), field(form, "do")
    if wanted == "rest":
        visit.store.learning.judge_rest(found.name, by=visit.me.id)
        return redirect(visit, f"/c/{found.name}/insight#learning")
    if wanted != "set":
        raise UsageError("nothing-called-here", wanted=wanted[:40])
    visit.store.learning.set(found.name, _learn(form), by=visit.me.id)
    return redirect(visit, f"/c/{found.name}/manage")


def _learn(form: FormData) -> Learn | None:
    """The switch and its numbers; None: off."""
    if field(form, "learn") != "yes":
        return None
    after, every, without = (number(form, name) or 0 for name in ("after", "every", "without"))
    return Learn(after, every, without / 100, field(form, "uncertain") == "yes")


ROUTES = posts("/c/{campaign:slug}/learning", act, who=managing, again=manage_again, template=MANAGE)
