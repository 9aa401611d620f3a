"""Authentication: passwords, sessions, invitations and tokens. Secrets are kept as hashes only."""

import hashlib
import hmac
from datetime import timedelta
from functools import cache
from typing import Any

from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    bindparam,
    case,
    delete,
    insert,
    literal,
    select,
    update,
)

from lapsus.errors import InputError, UsageError
from lapsus.store import tables as t
from lapsus.store.base import Database, StorePart
from lapsus.store.people import (
    HASHER,
    LONGEST_PASSWORD,
    PERSON,
    People,
    as_person,
    check_role,
    find_named,
    hash_password,
    new_person,
    new_secret,
    spelling,
)
from lapsus.store.records import ApiToken, Invitation, Person, RefusedError, Role
from lapsus.store.rows import campaign_row, ensure_members, insert_missing, plan_of, record
from lapsus.store.validation import LARGEST, check_words, number

_FORGOTTEN = timedelta(days=1)
"""After which nobody needs to know how often something was tried."""
PREFIX = "lapsus_"
"""The beginning of every token, by which scanners for secrets find it."""
_OWNER = (
    select(t.person)
    .join(t.api_token)
    .where(t.api_token.c.hash == bindparam("hash"), t.api_token.c.revoked.is_(None))
)


class Access(StorePart):
    """Passwords, sessions, invitations and access tokens."""

    def __init__(self, database: Database, people: People) -> None:
        super().__init__(database)
        self.people = people

    def sign_in(self, name: str, password: str) -> Person | None:
        """The person, if name and password are right and the account is not shut."""
        with self.reading() as conn:
            row = find_named(conn, name)
        kept = row.password if row is not None and row.password is not None else _nobody()
        try:
            HASHER.verify(kept, spelling(password[:LONGEST_PASSWORD]))
        except (VerificationError, InvalidHashError, UnicodeEncodeError):
            return None
        if row is None or row.password is None or row.disabled is not None:
            return None
        if HASHER.check_needs_rehash(kept):
            with self.writing() as conn:
                values = {"password": hash_password(password)}
                conn.execute(update(t.person).where(t.person.c.id == row.id).values(values))
        return as_person(row)

    def take_try(self, key: str, most: int, seconds: float) -> bool:
        """Note a try, such as a password; whether it is one of the first so many within some seconds.

        Noted before its outcome is known, so that many at once count too, and in the database, so that all servers
        on it count together.
        """
        kept, now = t.attempt, self.clock()
        begins = now - timedelta(seconds=seconds)

        def work(conn: Connection) -> bool:
            conn.execute(delete(kept).where(kept.c.since < now - _FORGOTTEN))
            insert_missing(conn, kept, [{"key": token_hash(key), "since": now, "tries": 0}])
            # A clock that was set back must not count the tries of a time that is yet to come.
            is_old = (kept.c.since <= begins) | (kept.c.since > now)
            again = {
                "since": case((is_old, literal(now, kept.c.since.type)), else_=kept.c.since),
                "tries": case((is_old, 1), else_=kept.c.tries + 1),
            }
            mine = update(kept).where(kept.c.key == token_hash(key)).values(again)
            return bool(conn.execute(mine.returning(kept.c.tries)).scalar_one() <= most)

        return self.write(work, twice=True)

    def forgive_try(self, key: str) -> None:
        """The last try was right: it does not count."""
        mine = (t.attempt.c.key == token_hash(key)) & (t.attempt.c.tries > 0)
        self.write(
            lambda conn: conn.execute(update(t.attempt).where(mine).values(tries=t.attempt.c.tries - 1))
        )

    def secret(self, name: str) -> str:
        """A secret of this database, made when first asked for: what cookies are signed with."""
        query = select(t.setting.c.value).where(t.setting.c.key == f"secret:{name}")
        with self.reading() as conn:
            if (found := conn.scalar(query)) is not None:
                return str(found)
        with self.writing() as conn:
            insert_missing(conn, t.setting, [{"key": f"secret:{name}", "value": new_secret()}])
            return str(conn.scalar(query))

    def session_stamp(self, person: int) -> str:
        """What a session carries beside the person's number; a new password makes a new one."""
        return self.scalar(select(t.person.c.stamp).where(t.person.c.id == number(person))) or ""

    def person_in_session(self, person: int, stamp: str) -> Person | None:
        """The person, if the session still holds."""
        row = self.row(PERSON, {"id": number(person)})
        if row is None or row.disabled is not None:
            return None
        return as_person(row) if hmac.compare_digest(row.stamp.encode(), stamp.encode()) else None

    def invite(
        self,
        role: Role = "annotator",
        *,
        campaign: str | None = None,
        uses: int | None = 1,
        days: float = 14,
        by: int | None = None,
    ) -> str:
        """The token of a link that makes its bearer a person of that role, or a member of that campaign."""
        check_role(role)
        if (uses is not None and not 1 <= uses <= LARGEST) or not 0 < days <= 3650:
            raise UsageError("invitation-least-one-use")
        token, now, id = new_secret(), self.clock(), None if campaign is None else self._campaign_id(campaign)
        row = {
            "hash": token_hash(token), "role": role, "campaign": id, "uses_left": uses,
            "created": now, "expires": now + timedelta(days=days),
        }  # fmt: skip
        with self.writing() as conn:
            if uses is None and not (_is_open(conn, id) and role == "annotator"):
                raise UsageError("only-annotators-open-campaign")
            conn.execute(insert(t.invitation), row)
            self.note(conn, "invited", by=by, campaign=id, role=role, uses=uses)
        return token

    def invitation(self, token: str) -> Invitation | None:
        """What a link offers; None where it is wrong, used up or too old."""
        query = select(t.invitation, t.campaign.c.name).join(t.campaign, isouter=True)
        with self.reading() as conn:
            row = conn.execute(query.where(self.is_valid(token))).one_or_none()
            if row is None:
                return None
            needs_password = not _is_open(conn, row.campaign)
            return Invitation(row.role, row.name, row.expires, row.uses_left, needs_password)

    def accept(
        self, token: str, name: str, password: str | None = None, *, language: str | None = None
    ) -> Person:
        """Make an account by a link. Only those who come to an open campaign may do without a password."""
        person = new_person(name, "annotator", password, None, language)

        def work(conn: Connection) -> Person:
            row = self.use_invitation(conn, token)
            if password is None and not _is_open(conn, row.campaign):
                raise InputError("password-needed")
            added = self.people.insert(conn, {**person, "role": row.role})
            self.join_campaign(conn, row, added.id)
            return added

        return self.write(work)

    def join(self, token: str, person: int) -> None:
        """Bring somebody who has an account already into the campaign of a link."""

        def work(conn: Connection) -> None:
            row = self.use_invitation(conn, token)
            if row.campaign is None:
                raise UsageError("link-makes-new-account", hint="sign-out-first")
            self.join_campaign(conn, row, person)

        self.write(work)

    def join_campaign(self, conn: Connection, row: Row[Any], person: int) -> None:
        """Make a person a member of an invitation's campaign, where it is for one."""
        if row.campaign is not None:
            ensure_members(conn, row.campaign, [person], self.clock())
        self.note(conn, "invitation used", by=person, campaign=row.campaign, role=row.role)

    def is_valid(self, token: str) -> ColumnElement[bool]:
        """Whether an invitation can be used: the right token, not used up and not too old."""
        left = t.invitation.c.uses_left
        usable = left.is_(None) | (left > 0)
        return (t.invitation.c.hash == token_hash(token)) & (t.invitation.c.expires > self.clock()) & usable

    def use_invitation(self, conn: Connection, token: str) -> Row[Any]:
        """Take one use of an invitation; two who come at once do not both get the last."""
        taken = (
            update(t.invitation).where(self.is_valid(token)).values(uses_left=t.invitation.c.uses_left - 1)
        )
        row = conn.execute(taken.returning(t.invitation)).one_or_none()
        if row is None:
            raise RefusedError(
                "invitation", "this link was used already, or is too old", hint="ask for a new one"
            )
        return row

    def add_token(self, person: int, name: str, *, by: int | None = None) -> str:
        """A key by which a program acts for a person. It is shown now and never again."""
        owner = self.people.get(person)
        token = PREFIX + new_secret()
        row = {
            "person": person,
            "name": check_words(name, "words-token-name", longest=100),
            "hash": token_hash(token),
            "created": self.clock(),
        }
        with self.writing() as conn:
            conn.execute(insert(t.api_token), row)
            self.note(conn, "token added", by=by, name=owner.name, token=name)
        return token

    def person_of_token(self, token: str) -> Person | None:
        """The person of an access token; None where it does not hold."""
        row = self.row(_OWNER, {"hash": token_hash(token)})
        return as_person(row) if row is not None and row.disabled is None else None

    def tokens(self, person: int | None = None) -> list[ApiToken]:
        """A person's tokens; everybody's where nobody is named."""
        query = select(t.api_token, t.person.c.name.label("owner")).join(t.person).order_by(t.api_token.c.id)
        if person is not None:
            query = query.where(t.api_token.c.person == number(person))
        return [record(ApiToken, row) for row in self.rows(query)]

    def revoke_token(self, person: int, token: int, *, by: int | None = None) -> None:
        """End a person's token."""
        mine = (
            (t.api_token.c.id == number(token))
            & (t.api_token.c.person == number(person))
            & t.api_token.c.revoked.is_(None)
        )
        with self.writing() as conn:
            if not conn.execute(update(t.api_token).where(mine).values(revoked=self.clock())).rowcount:
                raise UsageError("no-token", token=token)
            self.note(conn, "token revoked", by=by, token=token)


@cache
def _nobody() -> str:
    """Checked where there is no such person, so that the time it takes does not tell."""
    return HASHER.hash(new_secret())


def _is_open(conn: Connection, campaign: int | None) -> bool:
    return campaign is not None and plan_of(campaign_row(conn, campaign)).who == "open"


def token_hash(token: str) -> str:
    """A token as it is kept. Tokens are long and random, so one quick hash is as good as a slow one."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
