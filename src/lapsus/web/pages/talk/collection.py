"""How collecting goes: talks by system, their length, who left, how quick systems are and what they cost."""

import msgspec
from starlette.routing import BaseRoute

from lapsus.errors import UsageError
from lapsus.notices import Notice
from lapsus.store import RefusedError
from lapsus.store.talk_records import SystemFigures
from lapsus.web.page_routes import campaign_here, signed_in, title, twins
from lapsus.web.request_context import RequestContext


class CollectionResponse(msgspec.Struct, frozen=True):
    """How collecting goes in a campaign."""

    campaign: str
    title: str
    state: str
    exchanges: int
    wanted: int
    """Talks that the plan wants in all; 0: no limit."""
    done: int
    people: int
    """Who have talked."""
    systems: list[SystemFigures]
    followers: list[str]
    """Campaigns in which the talks are judged."""


def routes() -> list[BaseRoute]:
    """The page and its twin."""
    return twins("/c/{campaign:slug}/talks", signed_in(collection), "talk/collection.html")


def collection(visit: RequestContext) -> CollectionResponse:
    """For those who manage a campaign in which people talk."""
    if not visit.manages:
        raise RefusedError("not-yours-to-see", "only managers and adjudicators see everybody's work")
    found = campaign_here(visit)
    plan = found.plan.collect
    if plan is None:
        raise UsageError("no-talks-here", where=Notice("campaign", campaign=found.name))
    figures = visit.store.talk_figures.of_campaign(found.name)
    return CollectionResponse(
        found.name, title(visit, found), found.state, plan.exchanges, plan.dialogues,
        sum(one.done for one in figures), visit.store.talk_figures.people(found.name), figures,
        visit.store.talk_figures.followers(found.name),
    )  # fmt: skip
