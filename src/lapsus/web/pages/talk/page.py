"""The page on which people talk to systems, for programs too, and how collecting goes.

Nothing of a talk says which system it is.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from lapsus.errors import LapsusError, UsageError
from lapsus.model import Answer
from lapsus.notices import Notice
from lapsus.store import Nothing, RefusedError, StoreError
from lapsus.store.talk_records import SystemFigures, Talk, TurnRequest
from lapsus.web.awaited import awaited_result
from lapsus.web.openapi import Operation
from lapsus.web.page_routes import Page, campaign_here, signed_in, title, twins
from lapsus.web.pages.judging.page import CompletionResponse, completion
from lapsus.web.rendering import redirect
from lapsus.web.request_context import RequestContext, number_in


class SaidTurn(msgspec.Struct, frozen=True):
    """A turn."""

    position: int
    mine: bool
    text: str
    at: datetime
    asked: bool
    """Whether the person may judge it."""


class TalkResponse(msgspec.Struct, frozen=True):
    """A talk so far, as one of the two who talk sees it."""

    campaign: str
    title: str
    talk: int
    state: Literal["waiting", "open", "done"]
    awaits: Literal["me", "other", "nobody"]
    turns: list[SaidTurn]
    exchanges: int
    """How many the plan wants..."""
    exchanged: int
    """...and how many are complete."""
    may_end: bool
    """Whether the person may end it now."""
    failing: bool
    """Whether the other side did not answer when asked; it is asked again."""
    language: str
    topic: str | UnsetType = UNSET
    role: str | UnsetType = UNSET
    """What somebody who speaks for the system is told."""
    ask: Literal["turns", "end"] | UnsetType = UNSET
    """Whether the person is asked to judge each turn of the system or the whole at the end."""
    answers: Mapping[str, Mapping[str, Answer]] | UnsetType = UNSET
    scheme: str | UnsetType = UNSET
    """The address of the guideline by which one judges."""


class TurnBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something to say. The key is made once and sent again with every try."""

    key: Annotated[str, Meta(min_length=1, max_length=64)]
    position: Annotated[int, Meta(ge=0, le=100_000)]
    """Which turn of the talk it is, from 0."""
    text: Annotated[str, Meta(min_length=1, max_length=4000)]


class SaidResponse(msgspec.Struct, frozen=True):
    """The turn is on disk."""

    key: str
    position: int
    at: datetime
    text: str


class TalkAnswerBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What somebody says of a turn of their own talk, or of the whole."""

    key: Annotated[str, Meta(min_length=1, max_length=64)]
    answers: dict[str, Answer]
    segment: Annotated[str, Meta(max_length=12)] = ""
    """The turn's position; empty: the whole talk."""


class TalkAnsweredResponse(msgspec.Struct, frozen=True):
    """The answers are on disk."""

    key: str
    revision: int


class EndBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Nothing is said beside that it ends."""


def talk_response(visit: RequestContext, talk: Talk) -> TalkResponse:
    """A talk as the visitor sees it."""
    store, collect = visit.store, talk.collect
    side = talk.side_of(visit.me.id)
    scheme = store.campaigns.scheme(talk.campaign)
    asked = collect.ask and side == "user"
    by_turn = scheme.unit.role != "document"
    turns = [
        SaidTurn(
            one.position,
            one.side == side,
            one.text,
            one.at,
            asked and by_turn and one.side == scheme.unit.role,
        )
        for one in talk.turns
    ]
    topic = None if talk.topic is None else collect.topics[talk.topic]
    language = visit.language
    words = (
        None
        if topic is None
        else topic.get(collect.language) or topic.get(language) or next(iter(topic.values()))
    )
    who = talk.awaits
    return TalkResponse(
        talk.campaign, title(visit, store.campaigns.get(talk.campaign)), talk.id, talk.state,
        "nobody" if who is None or talk.state == "waiting" else "me" if who == side else "other",
        turns, collect.exchanges, collect.exchanged(len(talk.turns)),
        side == "user" and talk.may_end(store.database.clock()), talk.failures > 0, collect.language,
        topic=UNSET if words is None or side == "system" else words,
        role=collect.system(talk.system).prompt if side == "system" else UNSET,
        ask=("turns" if by_turn else "end") if asked else UNSET,
        answers=talk.answers if asked else UNSET,
        scheme=f"/schemes/{scheme.id}/{scheme.version}.json" if asked else UNSET,
    )  # fmt: skip


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


PATIENCE = 20.0
"""Seconds that a request waits for the other side."""


def begin_talk(visit: RequestContext) -> TalkResponse:
    """The talk that you have open in a campaign, or a new one."""
    found = begun(visit, campaign_here(visit).name)
    if isinstance(found, Nothing):
        raise RefusedError("no-more-talks", f"there is no talk for you: {found.reason}")
    return talk_response(visit, found)


def begun(visit: RequestContext, campaign: str) -> Talk | Nothing:
    """The talk that the visitor has open, or a new one; where the system opens, it is asked to.

    Those who manage a campaign may try it before it is opened.
    """
    found = visit.store.talks.begin(campaign, visit.me.id, early=visit.manages)
    if isinstance(found, Talk) and found.awaits_program:
        held = visit.store.talks.claim(found.id, visit.web.replies.holder)
        if held is not None:
            visit.web.replies.begin(found.id)
    return found


async def talk(visit: RequestContext) -> TalkResponse:
    """Your talk so far. With `after`, the answer waits a while until there are more turns than that.

    While you wait for somebody to talk to, it may be another one: that of somebody else who waits.
    """
    after = number_in(visit.request.query_params.get("after", ""))
    found = await run_in_threadpool(_shown, visit)
    if found.state == "waiting":
        other = await run_in_threadpool(begun, visit, found.campaign)
        if isinstance(other, Talk) and other.id != found.talk:
            return await run_in_threadpool(talk_response, visit, other)
    if after is not None and len(found.turns) <= after and found.state != "done":
        await visit.web.replies.wait(found.talk, after, PATIENCE)
        found = await run_in_threadpool(_shown, visit)
    return found


def _shown(visit: RequestContext) -> TalkResponse:
    with visit.store.database.reading_together():
        return talk_response(visit, _own(visit))


async def say_turn(visit: RequestContext) -> SaidResponse:
    """Say something. Acknowledged once it is on disk; the same key again gets the same answer again."""
    body, (person, credential) = visit.read(TurnBody), await visit.claim()
    holder, talk = visit.web.replies.holder, visit.request.path_params["number"]
    request = TurnRequest(body.key, talk, person, body.position, body.text, credential, holder)
    try:
        said = await awaited_result(visit.store.talks.say(request))
    except LapsusError as error:
        if not isinstance(error, StoreError):
            await run_in_threadpool(lambda: _own(visit))
        raise
    if said.awaits_program:
        visit.web.replies.begin(talk)
    visit.web.replies.said(talk)
    return SaidResponse(said.key, said.position, said.at, said.text)


def answer_talk(visit: RequestContext) -> TalkAnsweredResponse:
    """Judge a turn of your own talk, or the whole. Acknowledged once it is on disk."""
    body, found = visit.read(TalkAnswerBody), _own(visit)
    kept = visit.store.talks.answer(found.id, visit.me.id, body.key, body.segment, body.answers)
    return TalkAnsweredResponse(body.key, kept.result())


def end_talk(visit: RequestContext) -> TalkResponse:
    """End your talk before it is complete, where the plan allows it."""
    visit.read(EndBody)
    return talk_response(visit, visit.store.talks.end(_own(visit).id, visit.me.id))


def _own(visit: RequestContext) -> Talk:
    return visit.store.talks.of(visit.request.path_params["number"], campaign_here(visit).name, visit.me.id)


_TALKS = "/campaigns/{campaign:slug}/talks"
_TALK = f"{_TALKS}/{{number:number}}"
_REFUSES = (400, 403, 404, 409, 413, 422)
TALK_OPERATIONS = (
    Operation("POST", f"{_TALK}/turns", say_turn, SaidResponse, TurnBody, 201, _REFUSES),
    Operation("GET", _TALK, talk, TalkResponse, refuses=(403, 404), query=("after",)),
    Operation("POST", _TALKS, begin_talk, TalkResponse, status=201, refuses=(403, 404, 409)),
    Operation("POST", f"{_TALK}/answers", answer_talk, TalkAnsweredResponse, TalkAnswerBody, 201, _REFUSES),
    Operation("POST", f"{_TALK}/end", end_talk, TalkResponse, EndBody, 200, _REFUSES),
)


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


ROUTES = [
    *twins("/c/{campaign:slug}/talk", signed_in(talk_page)),
    *twins("/c/{campaign:slug}/talks", signed_in(collection), "talk/collection.html"),
]
