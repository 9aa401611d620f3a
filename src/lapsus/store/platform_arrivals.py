"""People who come from a platform: its ids are in the link, and stay with the person's membership."""

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

from sqlalchemy import Connection, select, update

from lapsus.store import tables as t
from lapsus.store.access import Access
from lapsus.store.base import Database, Part
from lapsus.store.people import People, as_person, new_person
from lapsus.store.records import Person, RefusedError
from lapsus.store.unit_places import of_person
from lapsus.store.validation import to_json

Platform: TypeAlias = Literal["prolific", "mturk"]

IDS: Mapping[Platform, tuple[str, ...]] = {
    "prolific": ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"),
    "mturk": ("workerId", "assignmentId", "hitId"),
}
"""What platforms add to a link; the first of each says who comes."""
PLACEHOLDERS: Mapping[str, str] = {
    "prolific": "&".join(f"{name}={{{{%{name}%}}}}" for name in IDS["prolific"]),
    "mturk": "&".join(f"{name}=${{{name}}}" for name in IDS["mturk"]),
}
"""The same, as the platforms fill them in."""
LONGEST_ID = 100
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
"""What MTurk says while somebody only looks."""


class PlatformArrival(NamedTuple):
    """Somebody who comes from a platform."""

    platform: Platform
    ids: Mapping[str, str]

    @property
    def called(self) -> str:
        """The name of the account: the platform's own id."""
        return f"{self.platform}-{self.ids[IDS[self.platform][0]]}"


def arrival_in(query: Mapping[str, str]) -> PlatformArrival | None:
    """The arrival that a link's query names; None without a platform, or for a preview."""
    for platform, names in IDS.items():
        ids = {name: query[name] for name in names if query.get(name)}
        usable = all(
            len(value) <= LONGEST_ID and value.isascii() and value.isalnum() for value in ids.values()
        )
        if names[0] in ids and usable and PREVIEW not in ids.values():
            return PlatformArrival(platform, ids)
    return None


class PlatformArrivals(Part):
    """Admits people from a platform."""

    def __init__(self, database: Database, access: Access, people: People) -> None:
        super().__init__(database)
        self.access = access
        self.people = people

    def arrive(self, token: str, arrival: PlatformArrival, *, language: str | None = None) -> Person:
        """Let somebody in who comes by the link of an open campaign; whoever came before gets back in.

        The platform's id is all that is asked for, so it lets nobody into an account with a password.
        """
        row = new_person(arrival.called, "annotator", None, None, language)

        def work(conn: Connection) -> Person:
            person = self._returning(conn, token, arrival)
            if person is None:
                invitation = self.access.use_invitation(conn, token)
                if invitation.uses_left is not None or invitation.campaign is None:
                    raise RefusedError(
                        "invitation", "this link is for one person", hint="ask for another one"
                    )
                person = self.people.insert(conn, row)
                self.access.join_campaign(conn, invitation, person.id)
                campaign = int(invitation.campaign)
            else:
                campaign = self._campaign_of(conn, token)
            mine = of_person(t.member, campaign, person.id)
            conn.execute(update(t.member).where(mine).values(origin=to_json(arrival.ids)))
            return person

        return self.write(work)

    def _campaign_of(self, conn: Connection, token: str) -> int:
        found = conn.scalar(select(t.invitation.c.campaign).where(self.access.is_valid(token)))
        if found is None:
            raise RefusedError("invitation", "this link was used already, or is too old")
        return int(found)

    def _returning(self, conn: Connection, token: str, arrival: PlatformArrival) -> Person | None:
        """The same person, if already a member of the link's campaign; joined, if known from another one."""
        row = conn.execute(select(t.person).where(t.person.c.name == arrival.called)).one_or_none()
        if row is None:
            return None
        if row.password is not None or row.role != "annotator" or row.disabled is not None or row.program:
            raise RefusedError("disabled", "this account cannot be used so", hint="ask a manager")
        campaign = self._campaign_of(conn, token)
        if conn.scalar(select(t.member.c.person).where(of_person(t.member, campaign, row.id))) is None:
            self.access.join_campaign(conn, self.access.use_invitation(conn, token), row.id)
        return as_person(row)
