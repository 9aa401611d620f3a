"""Messages to the annotators of a campaign."""

from datetime import datetime
from functools import cache
from typing import Any

import msgspec
from sqlalchemy import Select, bindparam, insert, select, update

from lapsus.errors import UsageError
from lapsus.notices import Notice
from lapsus.store import tables as t
from lapsus.store.base import StorePart
from lapsus.store.rows import record
from lapsus.store.unit_places import of_person
from lapsus.store.validation import check_words, number

LONGEST_MESSAGE = 5000


class Message(msgspec.Struct, frozen=True):
    """Something that a manager wants people to read."""

    id: int
    campaign: str
    person: str | None
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
        with self.reading() as conn:
            return [record(Message, row) for row in conn.execute(_unread(), {"person": number(person)})]

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
        with self.reading() as conn:
            return [record(Message, row) for row in conn.execute(query.order_by(t.message.c.id.desc()))]


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
            to.c.name.label("person"), sender.c.name.label("sender"),
        )
        .join(t.campaign, t.campaign.c.id == t.message.c.campaign)
        .join(to, to.c.id == t.message.c.person, isouter=True)
        .join(sender, sender.c.id == t.message.c.sender, isouter=True)
    )  # fmt: skip
