"""People: who they are and what they may do."""

import secrets
import unicodedata
from typing import Any, cast, get_args

from argon2 import PasswordHasher
from sqlalchemy import Connection, Row, bindparam, insert, select, text, update

from lapsus.errors import InputError, UsageError
from lapsus.model import ANONYMOUS
from lapsus.notices import Notice
from lapsus.registry import did_you_mean
from lapsus.store import tables as t
from lapsus.store.base import StorePart
from lapsus.store.records import LONGEST_NAME, Person, Role, UnknownNameError
from lapsus.store.rows import record
from lapsus.store.validation import LARGEST, check_words, is_storable, number

HASHER = PasswordHasher()
"""Argon2id with the settings that its library recommends."""
SHORTEST_PASSWORD = 8
LONGEST_PASSWORD = 1000
_NAMES_LOCK = 0x1A9506
"""Number of the PostgreSQL lock under which one account at a time is added."""
PERSON = select(t.person).where(t.person.c.id == bindparam("id"))
"""One person, by number. Made once: it is asked for at every page."""


class People(StorePart):
    """Accounts. A person without a password came with imported data, or is known by link or token only."""

    def add(
        self,
        name: str,
        role: Role = "annotator",
        *,
        password: str | None = None,
        email: str | None = None,
        language: str | None = None,
        by: int | None = None,
    ) -> Person:
        """A new account."""
        row = new_person(name, role, password, email, language)

        def work(conn: Connection) -> Person:
            person = self.insert(conn, row)
            self.note(conn, "person added", by=by, name=person.name, role=role)
            return person

        return self.write(work)

    def insert(self, conn: Connection, row: dict[str, Any]) -> Person:
        """Add a person, in a transaction that is under way; refused where the name is taken."""
        if conn.dialect.name == "postgresql":
            # Two who come at once with names that differ in case only must not both get in.
            conn.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": _NAMES_LOCK})
        if conn.scalar(select(t.person.c.id).where(t.person.c.folded == row["folded"])) is not None:
            raise InputError("somebody-called-already", hint="choose-another-name", row=row["name"])
        added = conn.execute(insert(t.person).returning(t.person), {**row, "created": self.clock()})
        return as_person(added.one())

    def get(self, id: int) -> Person:
        """The person of that number."""
        with self.reading() as conn:
            return as_person(_row(conn, id))

    def named(self, name: str) -> Person:
        """The person of that name."""
        with self.reading() as conn:
            row = find_named(conn, name)
            if row is None:
                names: list[str] = list(conn.scalars(select(t.person.c.name).order_by(t.person.c.id)))
                hint = did_you_mean(name, names) if names else Notice("lapsus-user-add-adds")
                raise UnknownNameError("nobody-is-called", hint=hint, name=name)
        return as_person(row)

    def is_called(self, person: int, name: str) -> bool:
        """Whether that is the name of a person, whatever its case."""
        mine = (t.person.c.id == number(person)) & (t.person.c.folded == folded(name))
        return is_storable(name) and self.scalar(select(t.person.c.id).where(mine)) is not None

    def all(self) -> list[Person]:
        """Everybody, in the order in which they came."""
        return [as_person(row) for row in self.rows(select(t.person).order_by(t.person.c.id))]

    def has_manager(self) -> bool:
        """Whether anybody can manage; a fresh database has nobody."""
        with self.reading() as conn:
            return _managers(conn) > 0

    def set_password(self, person: int, password: str, *, by: int | None = None) -> None:
        """A new password. It ends every session that was begun with the old one, and the person's tokens.

        Refused for programs, and for those who come by a platform's link: with a password it would let them in no more.
        """
        who = self.get(person)
        if who.program:
            raise UsageError("program-never-signs", where=repr(who.name))
        if who.id in self.from_platforms():
            raise UsageError("comes-platforms-link-lets", where=repr(who.name), hint="send-link-again")
        self._change(
            person, "password changed", by, tokens=True, password=hash_password(password), stamp=new_secret()
        )

    def from_platforms(self) -> frozenset[int]:
        """Those who come by a platform's link and have no password."""
        came = t.member.c.origin.is_not(None) & t.person.c.password.is_(None)
        query = select(t.person.c.id).join(t.member, t.member.c.person == t.person.c.id).where(came)
        return frozenset(self.scalars(query))

    def end_sessions(self, person: int, *, by: int | None = None) -> None:
        """Sign a person out everywhere. Tokens of programs stay."""
        self._change(person, "signed out", by, stamp=new_secret())

    def set_role(self, person: int, role: Role, *, by: int | None = None) -> None:
        """What a person may do from now on."""
        check_role(role)
        self._change(person, "role changed", by, role=role)

    def set_disabled(self, person: int, disabled: bool, *, by: int | None = None) -> None:
        """Shut a person out, which ends sessions and tokens, or let one in again. What was judged stays."""
        when, what = self.clock() if disabled else None, "disabled" if disabled else "enabled"
        self._change(person, what, by, tokens=disabled, disabled=when, stamp=new_secret())

    def set_profile(
        self, person: int, *, email: str | None, language: str | None, by: int | None = None
    ) -> None:
        """Where to write to a person, and in which language."""
        email, language = check_profile(email, language)
        self._change(person, "profile changed", by, email=email, language=language)

    def _change(self, person: int, what: str, by: int | None, *, tokens: bool = False, **values: Any) -> None:
        """Change a person's row; with `tokens`, also end the tokens that hold."""

        def work(conn: Connection) -> None:
            # Two managers who shut each other out at the same moment must not both succeed.
            _managers(conn, lock=True)
            row = _row(conn, person)
            conn.execute(update(t.person).where(t.person.c.id == row.id).values(values))
            if tokens:
                mine = (t.api_token.c.person == row.id) & t.api_token.c.revoked.is_(None)
                conn.execute(update(t.api_token).where(mine).values(revoked=self.clock()))
            if row.role == "manager" and not _managers(conn):
                raise UsageError("only-manager", hint="make-somebody-else-manager", name=row.name)
            self.note(
                conn, what, by=by, name=row.name, **({"role": values["role"]} if "role" in values else {})
            )

        self.write(work)


def new_person(
    name: str, role: Role, password: str | None, email: str | None = None, language: str | None = None
) -> dict[str, Any]:
    """The row of a new account, checked. Costly: hashing takes a while, so it is done outside of transactions."""
    email, language = check_profile(email, language)
    return {
        "name": check_name(name),
        "folded": folded(name),
        "role": check_role(role),
        "email": email,
        "language": language,
        "password": None if password is None else hash_password(password),
        "stamp": new_secret(),
    }


def as_person(row: Row[Any]) -> Person:
    """The record of a person's row; nothing secret is in it."""
    return record(Person, row, has_password=row.password is not None)


def find_named(conn: Connection, name: str) -> Row[Any] | None:
    """The row of that name; where none is spelt so, the only one that differs in case or spelling alone.

    Names that came with data may differ in case only; those of accounts do not.
    """
    if not is_storable(name):
        return None
    rows = conn.execute(select(t.person).where(t.person.c.folded == folded(name))).all()
    by_name = {row.name: row for row in rows}
    return by_name.get(name) or by_name.get(_same(name)) or (rows[0] if len(rows) == 1 else None)


def _row(conn: Connection, id: int) -> Row[Any]:
    row = conn.execute(PERSON, {"id": id}).one_or_none() if 0 < id <= LARGEST else None
    if row is None:
        raise UsageError("there-is-no-person", id=id)
    return row


def _managers(conn: Connection, *, lock: bool = False) -> int:
    """How many people can manage. Locked, they stay what they are until the transaction ends."""
    active = t.person.c.disabled.is_(None) & (t.person.c.role == "manager")
    query = select(t.person.c.id).where(active).order_by(t.person.c.id)
    return len(conn.execute(query.with_for_update() if lock else query).all())


def check_name(name: str) -> str:
    """A name for an account, in one spelling."""
    name = check_words(_same(name), "words-name", longest=LONGEST_NAME)
    if name.startswith(ANONYMOUS):
        raise InputError(
            "begins-names-unnamed-annotators",
            where=repr(name),
            hint="choose-another-name",
            anonymous=ANONYMOUS,
        )
    return name


def check_role(role: str) -> Role:
    """A role that there is."""
    for known in get_args(Role):
        if role == known:
            return cast(Role, known)
    raise UsageError("no-role-called", hint=did_you_mean(role, list(get_args(Role))), role=role)


def check_profile(email: str | None, language: str | None) -> tuple[str | None, str | None]:
    """Address and language, or neither."""
    if email is not None:
        email = check_words(email.strip(), "words-address", longest=LONGEST_NAME)
        if "@" not in email or " " in email:
            raise InputError("no-mail-address", where=repr(email))
    if language is not None:
        check_words(language, "words-language", longest=20)
    return email, language


def hash_password(password: str) -> str:
    """A password as it is kept."""
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise InputError(
            "password-characters", shortest_password=SHORTEST_PASSWORD, longest_password=LONGEST_PASSWORD
        )
    return HASHER.hash(spelling(password))


def spelling(text: str) -> str:
    """One spelling of what looks the same, whichever keyboard it was typed on."""
    return unicodedata.normalize("NFC", text)


def folded(name: str) -> str:
    """A name whatever its case, by which it is found."""
    return _same(name).casefold()


def _same(name: str) -> str:
    return spelling(name).strip()


def new_secret() -> str:
    """Something nobody can guess."""
    return secrets.token_urlsafe(32)
