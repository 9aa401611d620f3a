"""Asking the system of a talk for its next turn, and rehearsing a campaign with invented people."""

import threading
import time
from collections.abc import Iterator

import msgspec

from lapsus.collect.systems import Bot, NoReplyError, Replier, TalkSoFar, make_system
from lapsus.errors import UsageError
from lapsus.notices import Notice
from lapsus.store import Nothing, Store
from lapsus.store.collect_plan import PERSON, Side
from lapsus.store.talk_records import LONGEST_REPLY, Reply, Talk, TurnRequest

REHEARSING = "rehearsal"
"""What invented people are called, with a number behind it."""


class Systems:
    """The systems of all campaigns, each made when it is first asked. May be used by many threads."""

    def __init__(self, stop: threading.Event | None = None) -> None:
        self._stop = stop
        self._made: dict[tuple[str, str], Replier] = {}

    def reply(self, talk: Talk) -> Reply:
        """What the system of a talk says next, and how long it took; raises `NoReplyError` where it says nothing."""
        system = talk.collect.system(talk.system)
        if not talk.turns and (opening := system.opening):
            return Reply(opening.get(talk.collect.language) or next(iter(opening.values())))
        key = talk.campaign, talk.system
        if (replier := self._made.get(key)) is None:
            made = make_system(system, seconds=talk.collect.seconds, stop=self._stop)
            replier = self._made.setdefault(key, made)
        begun = time.monotonic()
        said = replier.reply(so_far(talk, "system"))
        if not said.text.strip():
            raise NoReplyError(talk.system, Notice("system-empty-reply"))
        if len(said.text) > LONGEST_REPLY:
            raise NoReplyError(talk.system, Notice("system-long-reply", longest=f"{LONGEST_REPLY:,}"))
        return msgspec.structs.replace(said, seconds=time.monotonic() - begun)


def so_far(talk: Talk, side: Side) -> TalkSoFar:
    """The talk and nothing else (no name, no account, no address), as one side sees it."""
    messages = tuple(
        {"role": "assistant" if turn.side == side else "user", "content": turn.text} for turn in talk.turns
    )
    return TalkSoFar(f"{talk.campaign}-{talk.id}", talk.collect.language, messages)


def rehearse(store: Store, campaign: str, talks: int) -> Iterator[Talk]:
    """Whole talks of our bot, as invented people, with the systems of a campaign. They are kept like any others."""
    found, systems, bot = store.campaigns.get(campaign), Systems(), Bot()
    plan, where = found.plan.collect, Notice("campaign", campaign=campaign)
    if plan is None:
        raise UsageError("no-talks-here", where=where)
    if any(system.use == PERSON for system in plan.known):
        raise UsageError("nobody-to-rehearse-with", where=where)
    if found.state in ("paused", "closed"):
        hint = Notice("campaign-open-opens", name=campaign)
        raise UsageError("nobody-talks-now", where=where, hint=hint)
    for number in range(1, talks + 1):
        added = store.people.add(f"{REHEARSING} {campaign} {number}")
        person = added.id
        store.campaigns.add_people(campaign, [added.name])
        store.members.begin(campaign, person)
        talk = store.talks.begin(campaign, person, early=True)
        if isinstance(talk, Nothing):
            return
        while talk.state != "done":
            place = len(talk.turns)
            if talk.awaits == "system":
                store.talks.replied(talk.id, place, systems.reply(talk)).result()
            else:
                said = bot.reply(so_far(talk, "user")).text
                store.talks.say(TurnRequest(f"{talk.id}-{place}", talk.id, person, place, said)).result()
            talk = store.talks.get(talk.id)
        yield talk
