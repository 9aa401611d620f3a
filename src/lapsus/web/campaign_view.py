"""Campaigns as people see them: their own work, and for those who look after it everybody's."""

from __future__ import annotations

from msgspec import UNSET

from lapsus.model import Scheme, in_language
from lapsus.store import Campaign, StoredJudgment
from lapsus.web.saying import excerpt, in_words
from lapsus.web.shapes import (
    CampaignPage,
    CampaignShape,
    EverybodyShape,
    FlagShape,
    JudgmentShape,
    JudgmentsShape,
    OwnProgress,
    PersonRow,
)
from lapsus.web.visit import Visit

PAGE = 50


def campaign_list(visit: Visit) -> list[CampaignShape]:
    """The campaigns that somebody may see: all for those who manage."""
    store = visit.store
    found = store.campaigns() if visit.manages else store.campaigns_of(visit.me.id)
    return [campaign_shape(visit, campaign) for campaign in found]


def campaign_shape(visit: Visit, campaign: Campaign) -> CampaignShape:
    """A campaign in a list."""
    own = own_progress(visit, campaign.name)
    return CampaignShape(
        name=campaign.name,
        title=title(visit, campaign),
        scheme=campaign.scheme,
        version=campaign.version,
        state=campaign.state,
        done=own.done,
        held=own.held,
        total=own.total,
        stopped=own.stopped,
        url=f"/c/{campaign.name}",
        everybody=_everybody(visit, campaign.name) if visit.manages else UNSET,
    )


def _everybody(visit: Visit, campaign: str) -> EverybodyShape:
    far = visit.store.progress(campaign)
    return EverybodyShape(far.done, far.wanted)


def title(visit: Visit, campaign: Campaign) -> str:
    """A campaign's title in the reader's language."""
    return in_language(campaign.plan.titles, visit.language)


def own_progress(visit: Visit, campaign: str) -> OwnProgress:
    """How far the person is."""
    found = visit.store.progress_of(campaign, visit.me.id)
    total = visit.store.unit_count(campaign)
    if found is None:
        return OwnProgress(0, 0, 0, total, stopped=False)
    return OwnProgress(found.submitted, found.drafts, found.held, total, found.stopped)


def campaign_page(visit: Visit, campaign: Campaign) -> CampaignPage:
    """A campaign's own page."""
    asked = _before(visit)
    said = own_judgments(visit, campaign.name, asked)
    flags = visit.store.flags(campaign.name)
    return CampaignPage(
        campaign=campaign.name,
        title=title(visit, campaign),
        scheme=campaign.scheme,
        version=campaign.version,
        state=campaign.state,
        invited=campaign.plan.who == "everybody"
        or visit.store.progress_of(campaign.name, visit.me.id) is not None,
        progress=own_progress(visit, campaign.name),
        judgments=said.judgments,
        older=asked is not None,
        before=said.before,
        flags=[
            FlagShape(flag.unit, flag.name, flag.text, flag.at, flag.settled is not None)
            for flag in flags
            if visit.manages or flag.person == visit.me.id
        ],
        people=_people(visit, campaign.name) if visit.manages else UNSET,
    )


def own_judgments(visit: Visit, campaign: str, before: int | None) -> JudgmentsShape:
    """A page of what the person said."""
    found = visit.store.own_judgments(campaign, visit.me.id, limit=PAGE, before=before)
    more = found[-1].unit if len(found) == PAGE else None
    scheme = visit.store.scheme(campaign)
    return JudgmentsShape([_judgment(visit, campaign, scheme, judgment) for judgment in found], more)


def _before(visit: Visit) -> int | None:
    """Which page of judgments an address asks for; the newest where it makes no sense."""
    asked = visit.request.query_params.get("before", "")
    return int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 10 else None


def _judgment(visit: Visit, campaign: str, scheme: Scheme, stored: StoredJudgment) -> JudgmentShape:
    """Without the time it took: that is shown to nobody."""
    unit = visit.store.visible_unit(campaign, stored.unit)
    return JudgmentShape(
        unit=stored.unit,
        document=stored.document,
        segment=stored.segment,
        revision=stored.revision,
        submitted=stored.submitted,
        answers=stored.answers,
        stored_at=stored.stored_at,
        text=excerpt(unit),
        language=unit.language,
        said=in_words(scheme, stored.answers, visit.language),
    )


def _people(visit: Visit, campaign: str) -> list[PersonRow]:
    return [
        PersonRow(person.name, person.submitted, person.drafts, person.held, person.last_at)
        for person in visit.store.progress(campaign).people
    ]
