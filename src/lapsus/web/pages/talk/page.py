"""The page on which people talk to systems."""

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType
from starlette.responses import Response
from starlette.routing import BaseRoute

from lapsus.store import Campaign, Nothing
from lapsus.web.page_routes import Page, campaign_here, filled, signed_in, title, twins
from lapsus.web.pages.judging.page import CompletionResponse
from lapsus.web.pages.talk.operations import begun
from lapsus.web.pages.talk.records import TalkResponse, talk_response
from lapsus.web.rendering import redirect
from lapsus.web.request_context import RequestContext


class NoTalkResponse(msgspec.Struct, frozen=True):
    """Why there is nothing to talk about now."""

    campaign: str
    title: str
    reason: Literal["done", "wait", "draft", "paused", "closed", "begin", "stopped"]
    completion: CompletionResponse | UnsetType = UNSET


class TalkPage(msgspec.Struct, frozen=True):
    """The page of a talk."""

    campaign: str
    title: str
    talk: TalkResponse
    completion: CompletionResponse | UnsetType = UNSET
    """Where the plan has a code and the person is through with this talk and all others."""
    more: bool = False
    """Whether the person may begin another one."""


def routes() -> list[BaseRoute]:
    """The page and its twin."""
    return twins("/c/{campaign:slug}/talk", signed_in(talk_page))


def talk_page(visit: RequestContext) -> Page | Response:
    """The talk that one has open, or a new one; after it, what it was, until one asks for another."""
    found = campaign_here(visit)
    if found.plan.collect is None:
        return redirect(visit, f"/c/{found.name}")
    last = None if "new" in visit.request.query_params else visit.store.talks.last(found.name, visit.me.id)
    if last is not None and last.state == "done":
        done = visit.store.talks.count_done(found.name, visit.me.id)
        most = found.plan.per_person
        more = found.state == "open" and (not most or done < most)
        code = completion(found) if not more or not most else UNSET
        shape = TalkPage(found.name, title(visit, found), talk_response(visit, last), code, more)
        return Page("talk/talk.html", shape)
    given = begun(visit, found.name)
    if isinstance(given, Nothing):
        if given.reason == "begin":
            return redirect(visit, f"/c/{found.name}/begin")
        did = given.reason == "done" and visit.store.talks.count_done(found.name, visit.me.id)
        code = completion(found) if did else UNSET
        return Page("talk/none.html", NoTalkResponse(found.name, title(visit, found), given.reason, code))
    if "new" in visit.request.query_params:
        return redirect(visit, f"/c/{found.name}/talk")
    return Page("talk/talk.html", TalkPage(found.name, title(visit, found), talk_response(visit, given)))


def completion(found: Campaign) -> CompletionResponse | UnsetType:
    """What shows a platform that somebody is done."""
    code = found.plan.completion
    return UNSET if code is None else filled(CompletionResponse, code)
