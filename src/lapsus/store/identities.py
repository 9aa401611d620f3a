"""Accounts of external identities: of a sign-in provider, or of a proxy in front of us."""

from itertools import count
from typing import Any

from sqlalchemy import Connection, Row, insert, select

from lapsus.errors import InputError
from lapsus.store import tables as t
from lapsus.store.base import Database, Part
from lapsus.store.people import People, as_person, check_name, find_named, folded, new_person
from lapsus.store.records import LONGEST_NAME, Person, RefusedError

PROXY = "proxy"
"""The issuer of those whom a proxy signs in."""


class Identities(Part):
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
