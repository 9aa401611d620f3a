"""The tables. What people said is in `judgment` and only ever grows; the rest says who may, who will and who did.

A row of `assignment` is what one person has to do with one unit. It also points at the newest and the newest
submitted revision, so that no reader goes through history. Counters (`taken`, `done`, `level`, those of `member`
and `campaign_total`) change in the transaction that gives reason to, so that nothing is ever recounted.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Dialect,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

FULL = 1 << 30
"""The level of a document in which there is nothing to judge: fuller than any plan asks for."""
WHOLE = ""
"""Stands for the whole document where a segment is named: no segment has an empty id."""

NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}
"""How constraints are called, so that a later migration can name them on every database."""


class Moment(TypeDecorator[datetime]):
    """A time, kept as microseconds since 1970 in UTC: the same number on every database, whatever its time zone."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        """A time without a zone counts as UTC."""
        if value is None:
            return None
        return ((value if value.tzinfo else value.replace(tzinfo=UTC)) - EPOCH) // _MICROSECOND

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        """Always in UTC."""
        return None if value is None else EPOCH + value * _MICROSECOND


metadata = MetaData(naming_convention=NAMES)

setting = Table(
    "setting", metadata, Column("key", Text, primary_key=True), Column("value", Text, nullable=False)
)

person = Table(
    "person",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("email", Text),
    Column("role", Text, nullable=False),
    Column("language", Text),
    Column("password", Text),  # argon2id; none: cannot sign in with one
    Column("stamp", Text, nullable=False),  # sessions carry it; a new one ends them all
    Column("created", Moment, nullable=False),
    Column("disabled", Moment),
)

api_token = Table(
    "api_token",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("person", ForeignKey("person.id"), nullable=False, index=True),
    Column("name", Text, nullable=False),
    Column("hash", Text, nullable=False, unique=True),
    Column("created", Moment, nullable=False),
    Column("revoked", Moment),
)

scheme = Table(
    "scheme",
    metadata,
    Column("id", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("content", Text, nullable=False),
    PrimaryKeyConstraint("id", "version"),
)

document = Table(
    "document",
    metadata,
    Column("digest", Text, primary_key=True),
    Column("id", Text, nullable=False),
    Column("content", Text, nullable=False),
)

campaign = Table(
    "campaign",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("scheme", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("plan", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column(
        "source", ForeignKey("campaign.id"), index=True
    ),  # the campaign whose votes choose this one's units
    Column("created", Moment, nullable=False),
    ForeignKeyConstraint(["scheme", "version"], ["scheme.id", "scheme.version"]),
)

# Apart from `campaign`, whose row is the lock under which units are handed out: a save never waits for that one.
campaign_total = Table(
    "campaign_total",
    metadata,
    Column("campaign", ForeignKey("campaign.id"), primary_key=True),
    Column("documents", Integer, nullable=False),
    Column("units", Integer, nullable=False),  # active ones
    Column("done", Integer, nullable=False),  # places with a submitted judgment
    Column("complete", Integer, nullable=False),  # units with all of theirs
)

campaign_document = Table(
    "campaign_document",
    metadata,
    Column("campaign", ForeignKey("campaign.id"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("name", Text, nullable=False),
    Column("digest", ForeignKey("document.digest"), nullable=False),
    Column(
        "level", Integer, nullable=False
    ),  # how often it was handed out: the least `taken` of its active units
    Column("shuffle", BigInteger, nullable=False),  # large: it is multiplied
    PrimaryKeyConstraint("campaign", "position"),
    UniqueConstraint("campaign", "name"),
    Index(None, "campaign", "level", "shuffle"),
)

unit = Table(
    "unit",
    metadata,
    Column("campaign", Integer, nullable=False),
    Column("number", Integer, nullable=False),
    Column("document", Integer, nullable=False),
    Column("segment", Text, nullable=False),
    Column("active", Boolean, nullable=False),
    Column("taken", Integer, nullable=False),  # places reserved or done
    Column("done", Integer, nullable=False),  # places done
    PrimaryKeyConstraint("campaign", "number"),
    UniqueConstraint("campaign", "document", "segment"),
    ForeignKeyConstraint(
        ["campaign", "document"], ["campaign_document.campaign", "campaign_document.position"]
    ),
)

member = Table(
    "member",
    metadata,
    Column("campaign", ForeignKey("campaign.id"), nullable=False),
    Column("person", ForeignKey("person.id"), nullable=False, index=True),
    Column("joined", Moment, nullable=False),
    Column("until", Moment),  # when what the person holds goes back, unless something is saved before
    Column("submitted", Integer, nullable=False),  # units
    Column("drafts", Integer, nullable=False),  # units whose newest revision is a draft
    Column("held", Integer, nullable=False),  # units reserved
    Column("seconds", Float, nullable=False),
    Column("last_at", Moment),
    PrimaryKeyConstraint("campaign", "person"),
    Index(None, "campaign", "until"),
)

assignment = Table(
    "assignment",
    metadata,
    Column("campaign", Integer, nullable=False),
    Column("unit", Integer, nullable=False),
    Column("person", Integer, nullable=False),
    Column("document", Integer, nullable=False),
    Column("place", Integer),  # none once it went back
    Column("state", Text, nullable=False),
    Column("revision", Integer, nullable=False),  # the newest; 0: nothing saved yet
    Column("submitted", Integer, nullable=False),  # the newest that is submitted; 0: none
    PrimaryKeyConstraint("campaign", "unit", "person"),
    UniqueConstraint("campaign", "unit", "place"),
    ForeignKeyConstraint(["campaign", "unit"], ["unit.campaign", "unit.number"]),
    ForeignKeyConstraint(["campaign", "person"], ["member.campaign", "member.person"]),
    Index(None, "campaign", "person", "state", "document"),
)

judgment = Table(
    "judgment",
    metadata,
    Column("campaign", Integer, nullable=False),
    Column("unit", Integer, nullable=False),
    Column("person", Integer, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("key", Text, nullable=False, unique=True),
    Column("version", Text, nullable=False),
    Column("submitted", Boolean, nullable=False),
    Column("answers", Text, nullable=False),
    Column("more", Text),  # distributions and metadata, where it came with any
    Column("given_at", Moment),
    Column("stored_at", Moment, nullable=False),
    Column("seconds", Float),
    Column("client", Text, nullable=False),
    PrimaryKeyConstraint("campaign", "unit", "person", "revision"),
    ForeignKeyConstraint(
        ["campaign", "unit", "person"], ["assignment.campaign", "assignment.unit", "assignment.person"]
    ),
)

invitation = Table(
    "invitation",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("hash", Text, nullable=False, unique=True),
    Column("role", Text, nullable=False),
    Column("campaign", ForeignKey("campaign.id")),
    Column("uses_left", Integer),  # none: any number
    Column("created", Moment, nullable=False),
    Column("expires", Moment, nullable=False),
)

flag = Table(
    "flag",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("key", Text, nullable=False, unique=True),
    Column("campaign", Integer, nullable=False),
    Column("unit", Integer, nullable=False),
    Column("person", ForeignKey("person.id"), nullable=False),
    Column("text", Text, nullable=False),
    Column("at", Moment, nullable=False),
    Column("settled", Moment),
    ForeignKeyConstraint(["campaign", "unit"], ["unit.campaign", "unit.number"]),
    Index(None, "campaign", "unit"),
)

event = Table(
    "event",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", Moment, nullable=False),
    Column("person", ForeignKey("person.id")),  # none: the command line, or the program itself
    Column("campaign", ForeignKey("campaign.id")),
    Column("what", Text, nullable=False),
    Column("details", Text, nullable=False),
    Index(None, "campaign", "id"),
)
