"""What pages and programs are told of a talk. Nothing here says which system it is."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from lapsus.model import Answer
from lapsus.store.talk_records import Talk
from lapsus.web.page_routes import title
from lapsus.web.request_context import RequestContext


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
