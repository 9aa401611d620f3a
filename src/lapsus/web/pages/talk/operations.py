"""Talking, for programs and for the page's script."""

from starlette.concurrency import run_in_threadpool

from lapsus.errors import LapsusError
from lapsus.store import Nothing, RefusedError, StoreError
from lapsus.store.talk_records import Talk, TurnRequest
from lapsus.web.awaited import awaited_result
from lapsus.web.openapi import Operation
from lapsus.web.page_routes import campaign_here
from lapsus.web.pages.talk.records import (
    EndBody,
    SaidResponse,
    TalkAnswerBody,
    TalkAnsweredResponse,
    TalkResponse,
    TurnBody,
    talk_response,
)
from lapsus.web.request_context import RequestContext, number_in
from lapsus.web.schemas import LARGEST
from lapsus.web.talk_work import Replies

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
        held = visit.store.talks.claim(found.id, replies(visit).holder)
        if held is not None:
            replies(visit).begin(found.id)
    return found


def replies(visit: RequestContext) -> Replies:
    """Where systems are asked."""
    found = visit.web.replies
    if found is None:
        raise AssertionError("every application has one")
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
        await replies(visit).wait(found.talk, after, PATIENCE)
        found = await run_in_threadpool(_shown, visit)
    return found


def _shown(visit: RequestContext) -> TalkResponse:
    with visit.store.database.reading_together():
        return talk_response(visit, _own(visit))


async def say_turn(visit: RequestContext) -> SaidResponse:
    """Say something. Acknowledged once it is on disk; the same key again gets the same answer again."""
    body, (person, credential) = visit.read(TurnBody), await visit.claim()
    holder = replies(visit).holder
    request = TurnRequest(body.key, _number(visit), person, body.position, body.text, credential, holder)
    try:
        said = await awaited_result(visit.store.talks.say(request))
    except LapsusError as error:
        if not isinstance(error, StoreError):
            await run_in_threadpool(lambda: _own(visit))
        raise
    if said.awaits_program:
        replies(visit).begin(request.talk)
    replies(visit).said(request.talk)
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
    return visit.store.talks.of(_number(visit), campaign_here(visit).name, visit.me.id)


def _number(visit: RequestContext) -> int:
    return min(int(visit.request.path_params["number"]), LARGEST)


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
