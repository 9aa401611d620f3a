"""Beginning a talk: chooses system and topic, within an open transaction."""

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, delete, insert, or_, select, update

from lapsus.store import tables as t
from lapsus.store.collect_plan import PERSON, Collect
from lapsus.store.random_order import shuffle_of

PRESENT = timedelta(seconds=90)
"""How long after the last look, one every 20 seconds, somebody who waits for a person counts as there."""


def of_person(campaign: int, person: int) -> ColumnElement[bool]:
    """The talks of a campaign in which somebody talks."""
    return or_(t.talk.c.person == person, t.talk.c.partner == person) & (t.talk.c.campaign == campaign)


def open_talk(conn: Connection, campaign: int, person: int, since: datetime) -> Row[Any] | None:
    """The talk that somebody has open here; where a person is on the other side, only while both talk."""
    goes_on = (t.talk.c.state != "done") & (t.talk.c.partner.is_(None) | (t.talk.c.last_at >= since))
    query = select(t.talk).where(of_person(campaign, person), goes_on).order_by(t.talk.c.id).limit(1)
    return conn.execute(query).one_or_none()


class Beginning:
    """Chooses system and topic of a new talk."""

    def __init__(self, conn: Connection, campaign: int, person: int, plan: Collect, since: datetime) -> None:
        self.conn, self.campaign, self.person, self.plan = conn, campaign, person, plan
        self.rows = conn.execute(
            select(t.talk.c.system, t.talk.c.topic, t.talk.c.person, t.talk.c.partner, t.talk.c.state, t.talk.c.last_at)
            .where(t.talk.c.campaign == campaign)
        ).all()  # fmt: skip
        # Who left long ago takes no place.
        self.counted = [row for row in self.rows if row.state == "done" or row.last_at >= since]
        self.name: str = conn.scalar(select(t.person.c.name).where(t.person.c.id == person)) or ""

    def is_enough(self, per_person: int) -> bool:
        """Whether the person, or everybody together, has talked enough."""
        done = [row for row in self.rows if row.state == "done"]
        mine = sum(self.person in (row.person, row.partner) for row in done)
        plays = any(self.name in system.people for system in self.plan.known)
        return bool(per_person and mine >= per_person and not plays) or self._is_full(len(done))

    def _is_full(self, many: int) -> bool:
        return bool(self.plan.dialogues and many >= self.plan.dialogues)

    @property
    def must_wait(self) -> bool:
        """Whether all places are taken just now, or nobody waits for the one who speaks for a system."""
        plays = any(self.name in system.people for system in self.plan.known)
        return plays or self._is_full(len(self.counted))

    def joined(self, now: datetime, mine: Row[Any] | None = None) -> int | None:
        """The talk of somebody who is there and waits for a person, joined; else one's own that waits, if there is one.

        One's own goes where another is joined: nothing was said in it.
        """
        systems = [
            system.called
            for system in self.plan.known
            if system.use == PERSON and (not system.people or self.name in system.people)
        ]
        waiting = (
            (t.talk.c.campaign == self.campaign)
            & (t.talk.c.state == "waiting")
            & t.talk.c.system.in_(systems)
            & (t.talk.c.last_at >= now - PRESENT)
        )
        first = (
            select(t.talk.c.id).where(waiting, t.talk.c.person != self.person).order_by(t.talk.c.id).limit(1)
        )
        found = self.conn.scalar(first)
        if mine is not None:
            own = t.talk.c.id == mine.id
            if found is None:
                self.conn.execute(update(t.talk).where(own).values(last_at=now))
                return int(mine.id)
            self.conn.execute(delete(t.talk).where(own))
        if found is None:
            return None
        values = {"partner": self.person, "state": "open", "begun": now, "last_at": now}
        self.conn.execute(update(t.talk).where(t.talk.c.id == found).values(values))
        return int(found)

    def started(self, seed: int, now: datetime) -> int:
        """A new talk, with the system and the topic that were had least: by all, then by this person, then by lot."""
        systems = [system.called for system in self.plan.known]
        system = self._least(systems, "system", seed)
        topic = self._least(list(range(len(self.plan.topics))), "topic", seed) if self.plan.topics else None
        needs_person = self.plan.system(system).use == PERSON
        row = {
            "campaign": self.campaign, "person": self.person, "partner": None, "system": system, "topic": topic,
            "state": "waiting" if needs_person else "open", "turns": 0, "begun": now, "last_at": now,
            "failures": 0, "failed": 0,
        }  # fmt: skip
        return int(self.conn.execute(insert(t.talk).returning(t.talk.c.id), row).scalar_one())

    def _least(self, choices: list[Any], column: str, seed: int) -> Any:
        all_ = Counter(getattr(row, column) for row in self.counted)
        mine = Counter(getattr(row, column) for row in self.counted if row.person == self.person)
        lot = f"{self.person}/{len(self.rows)}/{column}"
        return min(choices, key=lambda one: (all_[one], mine[one], shuffle_of(seed, f"{lot}/{one}")))
