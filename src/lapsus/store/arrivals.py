"""People who come from elsewhere: a sign-in provider, a proxy in front of us, a crowdsourcing platform."""

from collections.abc import Mapping
from itertools import count
from typing import Any, Literal, NamedTuple, TypeAlias

from sqlalchemy import Connection, Row, insert, select, update

from lapsus.errors import InputError
from lapsus.store import tables as t
from lapsus.store.access import Access
from lapsus.store.base import Database, StorePart
from lapsus.store.people import People, as_person, check_name, find_named, folded, new_person
from lapsus.store.records import LONGEST_NAME, Person, RefusedError
from lapsus.store.rows import of_person
from lapsus.store.validation import to_json

PROXY = "proxy"
"""The issuer of those whom a proxy signs in."""


class Identities(StorePart):
    """Accounts by the provider's issuer and subject."""

    def __init__(self, database: Database, people: People) -> None:
        super().__init__(database)
        self.people = people

    def from_proxy(self, name: str, *, language: str | None = None) -> Person:
        """The account of whom a trusted proxy names: the one of that name, or a new one of an annotator."""
        return self._arrive(PROXY, folded(name), name, None, language, takes_name=True)

    def from_provider(
        self, issuer: str, subject: str, name: str, *, email: str | None = None, language: str | None = None
    ) -> Person:
        """The account of somebody who signed in at a provider; a new one of an annotator at the first time.

        The name is only a wish: whoever can choose one there must not get into an account here that has it.
        """
        return self._arrive(issuer, subject, name, email, language, takes_name=False)

    def _arrive(
        self,
        issuer: str,
        subject: str,
        name: str,
        email: str | None,
        language: str | None,
        *,
        takes_name: bool,
    ) -> Person:
        # A proxy's name is who somebody is: cut off, it could be somebody else.
        wanted = name if takes_name else name[:LONGEST_NAME]
        row = new_person(check_name(wanted), "annotator", None, None, language)
        key = {"issuer": issuer, "subject": subject}

        def work(conn: Connection) -> Person:
            known = self._known(conn, issuer, subject)
            named = find_named(conn, row["name"]) if known is None and takes_name else None
            if named is not None and not _is_from_elsewhere(conn, named.id):
                if named.program:
                    raise InputError("name-program", where=repr(name))
                conn.execute(insert(t.identity), {**key, "person": named.id})
                known = named
            if known is not None:
                if known.disabled is not None:
                    raise RefusedError("disabled", "this account is shut")
                return as_person(known)
            person = self.people.insert(conn, {**row, **_free(conn, row["name"]), "email": email})
            conn.execute(insert(t.identity), {**key, "person": person.id})
            self.note(conn, "person added", by=None, name=person.name, role="annotator")
            return person

        return self.write(work, twice=True)

    def _known(self, conn: Connection, issuer: str, subject: str) -> Row[Any] | None:
        mine = (t.identity.c.issuer == issuer) & (t.identity.c.subject == subject)
        query = select(t.person).join(t.identity, t.identity.c.person == t.person.c.id).where(mine)
        return conn.execute(query).one_or_none()


def _is_from_elsewhere(conn: Connection, person: int) -> bool:
    """Whether the account was made at a provider: its name is what somebody wished for there, and proves nothing."""
    mine = (t.identity.c.person == person) & (t.identity.c.issuer != PROXY)
    return conn.scalar(select(t.identity.c.person).where(mine).limit(1)) is not None


def _free(conn: Connection, name: str) -> dict[str, str]:
    """The name, or the name with the first number behind it that nobody has."""
    for number in count(1):
        wanted = name if number == 1 else f"{name[: LONGEST_NAME - 8]} ({number})"
        taken = select(t.person.c.id).where(t.person.c.folded == folded(wanted))
        if conn.scalar(taken) is None:
            return {"name": wanted, "folded": folded(wanted)}
    raise AssertionError("unreachable")


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


class PlatformArrivals(StorePart):
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
