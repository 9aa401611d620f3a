"""People in a campaign: consent, stopping and going on, feedback in the practice, messages to them."""

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Any

import msgspec
from sqlalchemy import Connection, Select, bindparam, func, insert, select, update

from lapsus.errors import UsageError
from lapsus.model import Answer, Text
from lapsus.notices import Notice
from lapsus.store import tables as t
from lapsus.store.assignment import Assignment
from lapsus.store.base import Database, StorePart
from lapsus.store.known_answers import RIGHT
from lapsus.store.records import RefusedError
from lapsus.store.rows import campaign_row, ensure_members, of_person, plan_of, record
from lapsus.store.validation import check_words, digest_of, number, to_json


class Feedback(msgspec.Struct, frozen=True):
    """Feedback on an answer in the practice."""

    right: bool
    answers: tuple[Mapping[str, Answer], ...]
    text: Text


class Member(msgspec.Struct, frozen=True):
    """A person in a campaign, as those see who run it."""

    person: int
    name: str
    program: bool
    joined: datetime
    begun: datetime | None
    stopped: datetime | None
    submitted: int
    held: int
    last_at: datetime | None
    passed: int
    """Known units that were answered rightly at first."""
    failed: int
    origin: Mapping[str, str]


class Members(StorePart):
    """Members of campaigns."""

    def __init__(self, database: Database, assignment: Assignment) -> None:
        super().__init__(database)
        self.assignment = assignment

    def begin(self, campaign: str, person: int) -> None:
        """Note that a person has read the first page and, where the plan asks for it, agreed."""
        id, now = self._campaign_id(campaign), self.clock()

        def work(conn: Connection) -> None:
            plan = plan_of(campaign_row(conn, id))
            if plan.who == "everybody":
                ensure_members(conn, id, [person], now)
            mine = of_person(t.member, id, number(person))
            if conn.scalar(select(t.member.c.person).where(mine)) is None:
                raise RefusedError("not-invited", "this campaign is for those who were invited")
            begun = update(t.member).where(mine, t.member.c.begun.is_(None)).values(begun=now)
            if conn.execute(begun).rowcount:
                # The digest says to which words, should the plan's be changed one day.
                words = {"consent": digest_of(to_json(plan.consent))} if plan.consent else {}
                self.note(conn, "consented" if plan.consent else "begun", by=person, campaign=id, **words)

        self.write(work)

    def must_begin(self, campaign: str, person: int) -> bool:
        """Whether the first page comes first."""
        id = self._campaign_id(campaign)
        with self.reading() as conn:
            plan = plan_of(campaign_row(conn, id))
            begun = conn.scalar(select(t.member.c.begun).where(of_person(t.member, id, number(person))))
        return begun is None and bool(plan.consent or plan.instructions)

    def stop(self, campaign: str, person: int, *, by: int | None = None) -> int:
        """Give a person nothing more; what is held goes back, what was judged stays. How many units went back."""
        id = self._campaign_id(campaign)

        def work(conn: Connection) -> int:
            campaign_row(conn, id, lock="units")
            mine = of_person(t.member, id, number(person))
            _changed(conn.execute(update(t.member).where(mine).values(stopped=self.clock())), campaign)
            self.note(conn, "person stopped", by=by, campaign=id, person=person)
            return self.assignment.take_back(conn, id, person, "units given back", by=by)

        return self.write(work)

    def resume(self, campaign: str, person: int, *, by: int | None = None) -> None:
        """Let a person go on who was stopped."""
        id = self._campaign_id(campaign)
        with self.writing() as conn:
            mine = of_person(t.member, id, number(person)) & t.member.c.stopped.is_not(None)
            _changed(conn.execute(update(t.member).where(mine).values(stopped=None)), campaign)
            self.note(conn, "person goes on", by=by, campaign=id, person=person)

    def all(self, campaign: str) -> list[Member]:
        """Everybody in a campaign, in the order in which they came."""
        id, done = self._campaign_id(campaign), t.check_result
        checks = select(done.c.person, done.c.passed, func.count().label("times"))
        query = select(t.member, t.person.c.name, t.person.c.program).join(t.person)
        with self.reading() as conn:
            rows = conn.execute(query.where(t.member.c.campaign == id).order_by(t.member.c.person)).all()
            counted = checks.where(done.c.campaign == id).group_by(done.c.person, done.c.passed)
            results = {(row.person, row.passed): row.times for row in conn.execute(counted)}
        return [
            record(
                Member, row, passed=results.get((row.person, True), 0), failed=results.get((row.person, False), 0),
                origin=msgspec.json.decode(row.origin) if row.origin else {},
            )
            for row in rows
        ]  # fmt: skip

    def feedback(self, campaign: str, unit: int, person: int) -> Feedback | None:
        """What to tell a person who has answered a unit of the practice; None for other units, and before."""
        id, known, done = self._campaign_id(campaign), t.expected, t.check_result
        query = (
            select(known.c.answers, known.c.feedback, done.c.passed)
            .join(done, (done.c.campaign == known.c.campaign) & (done.c.unit == known.c.unit))
            .where(known.c.campaign == id, known.c.unit == number(unit), known.c.block == "training")
            .where(done.c.person == number(person))
        )
        row = self.row(query)
        if row is None:
            return None
        return Feedback(row.passed, RIGHT.decode(row.answers), msgspec.json.decode(row.feedback))


def _changed(result: Any, campaign: str) -> None:
    if not result.rowcount:
        raise UsageError("no-person", where=Notice("campaign", campaign=campaign))


LONGEST_MESSAGE = 5000


class Message(msgspec.Struct, frozen=True):
    """Something that a manager wants people to read."""

    id: int
    campaign: str
    to: str | None
    """For whom; None: for everybody in the campaign."""
    sender: str | None
    text: str
    at: datetime


class Messages(StorePart):
    """Messages of those who run a campaign."""

    def send(self, campaign: str, text: str, *, person: int | None = None, by: int | None = None) -> None:
        """A message to a person or, where none is named, to everybody in the campaign, now or later."""
        id = self._campaign_id(campaign)
        row = {
            "campaign": id, "person": person, "sender": by, "at": self.clock(),
            "text": check_words(text.strip(), "words-message", longest=LONGEST_MESSAGE, lines=True),
        }  # fmt: skip
        with self.writing() as conn:
            if person is not None:
                found = conn.scalar(select(t.member.c.person).where(of_person(t.member, id, number(person))))
                if found is None:
                    raise UsageError("nobody-name", where=Notice("campaign", campaign=campaign))
            conn.execute(insert(t.message), row)
            self.note(conn, "message sent", by=by, campaign=id, person=person)

    def unread(self, person: int) -> list[Message]:
        """Messages that a person has not read yet, the oldest first."""
        return [record(Message, row) for row in self.rows(_unread(), {"person": number(person)})]

    def have_read(self, person: int, message: int) -> None:
        """Note that a person has read the messages of a campaign up to this one."""
        said, mine = t.message, t.member
        which = select(said.c.campaign).where(said.c.id == number(message)).scalar_subquery()
        earlier = (
            (mine.c.person == number(person)) & (mine.c.campaign == which) & (mine.c.seen < number(message))
        )
        with self.writing() as conn:
            conn.execute(update(mine).where(earlier).values(seen=number(message)))

    def of_campaign(self, campaign: str) -> list[Message]:
        """Every message of a campaign, the newest first."""
        query = _messages().where(t.message.c.campaign == self._campaign_id(campaign))
        return [record(Message, row) for row in self.rows(query.order_by(t.message.c.id.desc()))]


@cache
def _unread() -> Select[Any]:
    """What a `person` has not read. Every page asks for it, and to put the question together takes the longest."""
    said, mine = t.message, t.member
    to_me = said.c.person.is_(None) | (said.c.person == mine.c.person)
    mine_and_new = (mine.c.person == bindparam("person")) & (said.c.id > mine.c.seen) & to_me
    return _messages().join(mine, mine.c.campaign == said.c.campaign).where(mine_and_new).order_by(said.c.id)


def _messages() -> Select[Any]:
    to, sender = t.person.alias("reader"), t.person.alias("sender")
    return (
        select(
            t.message.c.id, t.message.c.text, t.message.c.at, t.campaign.c.name.label("campaign"),
            to.c.name.label("to"), sender.c.name.label("sender"),
        )
        .join(t.campaign, t.campaign.c.id == t.message.c.campaign)
        .join(to, to.c.id == t.message.c.person, isouter=True)
        .join(sender, sender.c.id == t.message.c.sender, isouter=True)
    )  # fmt: skip
