"""Campaigns as people see them: their own work, and for those who look after it everybody's."""

from __future__ import annotations

from msgspec import UNSET

from lapsus.model import in_language
from lapsus.store import Campaign
from lapsus.web.addresses import at
from lapsus.web.flag_view import visible_flags
from lapsus.web.own_judgments import LONGEST_SEARCH, own_judgments
from lapsus.web.request_context import RequestContext, number_in
from lapsus.web.schemas import BegunDraftResponse, CampaignPage, OwnProgressResponse, PersonRow


def title(visit: RequestContext, campaign: Campaign) -> str:
    """A campaign's title in the reader's language."""
    return in_language(campaign.plan.titles, visit.language)


def begun_drafts(visit: RequestContext) -> list[BegunDraftResponse]:
    """The campaigns that somebody has begun to set up, each with where to go on."""
    return [
        BegunDraftResponse(
            in_language(titles, visit.language) if (titles := one.plan.get("title")) else one.plan["name"],
            at(f"/new/{one.id}/{'review' if 'scheme' in one.plan else 'guideline'}"),
            one.changed,
        )
        for one in visit.store.drafts.of_person(visit.me.id)
    ]


def own_progress(visit: RequestContext, campaign: str) -> OwnProgressResponse:
    """How far the person is."""
    found = visit.store.progress.of_person(campaign, visit.me.id)
    total = visit.store.progress.own_total(campaign, visit.me.id)
    if found is None:
        return OwnProgressResponse(0, 0, 0, total, stopped=False)
    return OwnProgressResponse(found.submitted, found.drafts, found.held, total, found.stopped)


def campaign_page(visit: RequestContext, campaign: Campaign) -> CampaignPage:
    """A campaign's own page."""
    asked = _before(visit)
    words = visit.request.query_params.get("q", "")[:LONGEST_SEARCH]
    said = own_judgments(visit, campaign.name, asked, words)
    return CampaignPage(
        campaign=campaign.name,
        title=title(visit, campaign),
        scheme=campaign.scheme,
        version=campaign.version,
        state=campaign.state,
        invited=campaign.plan.who == "everybody"
        or visit.store.progress.of_person(campaign.name, visit.me.id) is not None,
        complete=visit.store.progress.is_complete(campaign.name),
        progress=own_progress(visit, campaign.name),
        judgments=said.judgments,
        older=asked is not None,
        before=said.before,
        words=words,
        flags=visible_flags(visit, campaign.name),
        people=_people(visit, campaign.name) if visit.manages else UNSET,
    )


def _before(visit: RequestContext) -> int | None:
    """Which page of judgments an address asks for; the newest where it makes no sense."""
    return number_in(visit.request.query_params.get("before", ""))


def _people(visit: RequestContext, campaign: str) -> list[PersonRow]:
    programs = visit.store.browsing.programs(campaign)
    rows = [
        PersonRow(one.name, one.submitted, one.drafts, one.held, one.last_at, one.person in programs)
        for one in visit.store.progress.of_campaign(campaign).people
    ]
    return sorted(rows, key=lambda row: row.program)
