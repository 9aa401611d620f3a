"""The first page: where one was, what there is to do, how long it takes, what is new."""

import math
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Literal, cast

import msgspec
from msgspec import UNSET, UnsetType
from starlette.responses import Response

from lapsus.store import Campaign, PersonProgress, RefusedError
from lapsus.web.addresses import at
from lapsus.web.page_routes import Page, filled, signed_in, title, twins
from lapsus.web.pages.judging.campaign import LONGEST_SEARCH, begun_drafts, own_judgments
from lapsus.web.rendering import redirect
from lapsus.web.request_context import RequestContext, person_response
from lapsus.web.schemas import (
    BegunDraftResponse,
    CampaignResponse,
    EverybodyResponse,
    JudgmentResponse,
    PersonResponse,
)


class WayIn(msgspec.Struct, frozen=True):
    """A link by which one enters a demonstration as somebody."""

    role: Literal["manager", "annotator", "annotator-ja"]
    name: str
    language: str | None
    url: str


class WelcomeResponse(msgspec.Struct, frozen=True):
    """The first page of a demonstration."""

    ways: list[WayIn]


class HomeResponse(msgspec.Struct, frozen=True):
    """The first page."""

    person: PersonResponse
    campaigns: list[CampaignResponse]
    resume: str | None
    """The campaign in which one worked last, where there is something left to do in it."""
    drafts: list[BegunDraftResponse] = []
    """For managers: one's own, the newest first."""
    awaited: int = 0
    """For others: how many campaigns one was invited to that are not open yet."""


class TodayResponse(msgspec.Struct, frozen=True):
    """How much one has done lately."""

    judged: int
    """Units whose newest answer was submitted since the moment asked for."""


class FoundResponse(msgspec.Struct, frozen=True):
    """One's own judgments in a campaign that have some words."""

    campaign: str
    title: str
    judgments: list[JudgmentResponse]
    before: int | None
    """Where there are more: the unit before which they are."""


class SearchResponse(msgspec.Struct, frozen=True):
    """A search in one's own judgments."""

    words: str
    found: list[FoundResponse]


FOUND = 20
"""How many judgments of a campaign a search shows at first."""
USUAL = 3
"""How many people's paces make a usual one."""
LONGEST_DAY = timedelta(hours=48)
"""How far back one may ask what was done "today": a day, and whatever clocks differ by."""


def welcome_page(visit: RequestContext) -> WelcomeResponse:
    """What a demonstration shows to whoever comes: everybody may enter as anybody in it."""
    ways: list[WayIn] = []
    for token, id in visit.web.links.items():
        person = visit.store.people.get(id)
        is_japanese = person.language == "ja"
        role: Literal["manager", "annotator", "annotator-ja"] = (
            "manager" if person.role == "manager" else "annotator-ja" if is_japanese else "annotator"
        )
        url = at(f"/enter/{token}") + ("?lang=ja" if is_japanese else "")
        ways.append(WayIn(role, person.name, person.language, url))
    return WelcomeResponse(ways)


def home_page(visit: RequestContext) -> HomeResponse:
    """The first page of somebody who is signed in."""
    campaigns = campaign_list(visit)
    begun = [one for one in campaigns if one.last_at and _goes_on(one)]
    last = max(begun, key=lambda one: one.last_at or _NEVER, default=None)
    drafts = begun_drafts(visit) if visit.me.role == "manager" else []
    awaited = 0 if visit.manages else visit.store.campaigns.drafts_of(visit.me.id)
    resume = None if last is None else last.name
    return HomeResponse(person_response(visit.me), campaigns, resume, drafts, awaited)


_NEVER = datetime.min.replace(tzinfo=UTC)


def _goes_on(campaign: CampaignResponse) -> bool:
    is_over = campaign.done >= campaign.total or (campaign.complete and not campaign.held)
    return campaign.state == "open" and not campaign.stopped and not is_over


def campaign_list(visit: RequestContext) -> list[CampaignResponse]:
    """The campaigns that somebody may see, without the archived: all for those who manage."""
    flags = visit.store.flags
    talk = flags.open_ones() if visit.manages else flags.answered(visit.me.id)
    return [_campaign(visit, campaign, talk.get(campaign.name, 0)) for campaign in _campaigns(visit)]


def _campaigns(visit: RequestContext) -> list[Campaign]:
    store = visit.store
    found = store.campaigns.all() if visit.manages else store.campaigns.of_person(visit.me.id)
    return [campaign for campaign in found if campaign.archived is None]


def _collecting(visit: RequestContext, campaign: Campaign) -> CampaignResponse:
    """A campaign in which people talk: how many talks one has had, of how many."""
    own = visit.store.progress.of_person(campaign.name, visit.me.id)
    done = visit.store.talks.count_done(campaign.name, visit.me.id)
    last = visit.store.talks.last(campaign.name, visit.me.id)
    everybody: EverybodyResponse | UnsetType = UNSET
    if visit.manages:
        all_ = sum(system.done for system in visit.store.talk_figures.of_campaign(campaign.name))
        wanted = max(campaign.plan.collect.dialogues if campaign.plan.collect else 0, all_)
        counted = filled(EverybodyResponse, visit.store.progress.of_campaign(campaign.name))
        everybody = msgspec.structs.replace(counted, done=all_, wanted=wanted)
    return CampaignResponse(
        campaign.name, title(visit, campaign), campaign.scheme, campaign.version, campaign.state, done, 0,
        campaign.plan.per_person or done + 1, own is not None and own.stopped, at(f"/c/{campaign.name}"),
        last_at=None if last is None else last.last_at, collects=True, everybody=everybody,
    )  # fmt: skip


def _campaign(visit: RequestContext, campaign: Campaign, talk: int) -> CampaignResponse:
    if campaign.plan.collect is not None:
        return _collecting(visit, campaign)
    own = visit.store.progress.of_person(campaign.name, visit.me.id)
    total = visit.store.progress.own_total(campaign.name, visit.me.id)
    done, held = (own.submitted, own.held) if own else (0, 0)
    left = held or max(0, total - done)
    own_pace = _pace(own)
    pace = own_pace if own_pace is not None or not left else _usual_pace(visit, campaign.name)
    return filled(
        CampaignResponse,
        own,
        campaign,
        title=title(visit, campaign),
        name=campaign.name,
        done=done,
        held=held,
        total=total,
        stopped=own is not None and own.stopped,
        url=at(f"/c/{campaign.name}"),
        left=left,
        minutes=math.ceil(left * pace / 60) if left and pace else None,
        own_pace=own_pace is not None,
        talk=talk,
        complete=visit.store.progress.is_complete(campaign.name),
        everybody=filled(EverybodyResponse, visit.store.progress.of_campaign(campaign.name))
        if visit.manages
        else UNSET,
    )


def _usual_pace(visit: RequestContext, campaign: str) -> float | None:
    """Seconds that people usually take for a unit; None where few have judged: one person's pace is theirs to know."""
    programs = visit.store.browsing.programs(campaign)
    people = visit.store.progress.of_campaign(campaign).people
    paces = [pace for one in people if one.person not in programs and (pace := _pace(one)) is not None]
    return median(paces) if len(paces) >= USUAL else None


def _pace(person: PersonProgress | None) -> float | None:
    """Seconds that somebody took for a unit; None for whoever has judged none or was not timed."""
    return person.seconds / person.submitted if person and person.submitted and person.seconds else None


def today(visit: RequestContext) -> TodayResponse | Response:
    """What the person judged since a moment: the browser knows when the day began where the person is."""
    if not visit.wants_json:
        return redirect(visit, "/")
    try:
        since = datetime.fromisoformat(visit.request.query_params.get("since", ""))
    except ValueError:
        raise RefusedError("shape", "since is a moment, as 2026-01-31T00:00:00+09:00") from None
    if since.tzinfo is None:
        raise RefusedError("shape", "since has a time zone")
    earliest = visit.store.database.clock() - LONGEST_DAY
    return TodayResponse(visit.store.progress.judged_since(visit.me.id, max(since, earliest)))


def judgments(visit: RequestContext) -> SearchResponse:
    """One's own judgments that have some words, campaign by campaign."""
    words = visit.request.query_params.get("q", "")[:LONGEST_SEARCH]
    found: list[FoundResponse] = []
    for campaign in _campaigns(visit) if words.strip() else ():
        if visit.store.progress.of_person(campaign.name, visit.me.id) is None:
            continue
        page = own_judgments(visit, campaign.name, words=words, limit=FOUND)
        if page.judgments:
            found.append(FoundResponse(campaign.name, title(visit, campaign), page.judgments, page.before))
    return SearchResponse(words, found)


def first(visit: RequestContext) -> Page | Response:
    """One's campaigns; in a demonstration, for strangers, what this is and ways in."""
    if visit.person is None and visit.web.links:
        return Page("home/welcome.html", welcome_page(visit))
    return cast(Page | Response, signed_in(lambda visit: Page("home/home.html", home_page(visit)))(visit))


ROUTES = [
    *twins("/", first),
    *twins("/judgments", signed_in(judgments), "home/judgments.html"),
    *twins("/today", signed_in(today)),
]
