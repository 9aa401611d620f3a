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
    false,
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
    Column("program", Boolean, nullable=False, server_default=false()),  # a detector or a model, nobody
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
    Column("stage", Text, nullable=False, server_default="main"),  # pilot or main
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
    Column("wanted", Integer, nullable=False, server_default="0"),  # places in all
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
    Column("part", Text, nullable=False, server_default="main"),  # training, checks, pilot or main
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
    Column(
        "wanted", Integer, nullable=False, server_default="1"
    ),  # places; FULL: everybody's, counted nowhere
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
    Column("begun", Moment),  # when the person had read the first page, and agreed where consent is asked for
    Column("stopped", Moment),  # failed the checks: gets nothing more
    Column("seen", Integer, nullable=False, server_default="0"),  # the last message that was read
    Column("origin", Text),  # ids of the platform that the person came from
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

# Units whose answers are known: what is right, and what to tell those who practise.
expected = Table(
    "expected",
    metadata,
    Column("campaign", Integer, nullable=False),
    Column("unit", Integer, nullable=False),
    Column("block", Text, nullable=False),  # training, checks or gold
    Column("answers", Text, nullable=False),
    Column("feedback", Text, nullable=False),
    PrimaryKeyConstraint("campaign", "unit"),
    ForeignKeyConstraint(["campaign", "unit"], ["unit.campaign", "unit.number"]),
)

check_result = Table(
    "check_result",
    metadata,
    Column("campaign", Integer, nullable=False),
    Column("person", Integer, nullable=False),
    Column("unit", Integer, nullable=False),
    Column("block", Text, nullable=False),
    Column("revision", Integer, nullable=False),  # of the first answer that was submitted
    Column("passed", Boolean, nullable=False),
    Column("at", Moment, nullable=False),
    PrimaryKeyConstraint("campaign", "person", "unit"),
    ForeignKeyConstraint(["campaign", "unit"], ["expected.campaign", "expected.unit"]),
    ForeignKeyConstraint(["campaign", "person"], ["member.campaign", "member.person"]),
)

message = Table(
    "message",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("campaign", ForeignKey("campaign.id"), nullable=False),
    Column("person", ForeignKey("person.id")),  # none: for everybody in the campaign
    Column("sender", ForeignKey("person.id")),  # none: the command line, or the program itself
    Column("text", Text, nullable=False),
    Column("at", Moment, nullable=False),
    Index(None, "campaign", "id"),
)

# A campaign that somebody is about to make in the browser: its plan so far, and the documents for it.
draft = Table(
    "draft",
    metadata,
    Column("id", Text, primary_key=True),
    Column("person", ForeignKey("person.id"), nullable=False),
    Column("plan", Text, nullable=False),
    Column("documents", Text, nullable=False),
    Column("changed", Moment, nullable=False),
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

challenge = Table(
    "challenge",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("plan", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("floors", Text, nullable=False),  # what costs nothing and what people reach, by language
    Column("created", Moment, nullable=False),
)

challenge_document = Table(
    "challenge_document",
    metadata,
    Column("challenge", ForeignKey("challenge.id"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("name", Text, nullable=False),
    Column("digest", ForeignKey("document.digest"), nullable=False),
    Column("language", Text, nullable=False),
    Column("votes", Text, nullable=False),  # how many said O, T and X of each turn that is scored
    PrimaryKeyConstraint("challenge", "position"),
    UniqueConstraint("challenge", "name"),
)

challenge_team = Table(
    "challenge_team",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("challenge", ForeignKey("challenge.id"), nullable=False),
    Column("name", Text, nullable=False),
    Column("hash", Text, nullable=False, unique=True),  # of the secret in the team's link
    Column("created", Moment, nullable=False),
    UniqueConstraint("challenge", "name"),
)

challenge_run = Table(
    "challenge_run",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("challenge", ForeignKey("challenge.id"), nullable=False),
    Column("team", ForeignKey("challenge_team.id")),  # none: the organisers
    Column("language", Text, nullable=False),
    Column("number", Integer, nullable=False),  # the team's first, second, … run in that language
    Column("name", Text, nullable=False),
    Column("at", Moment, nullable=False),
    Column("digest", Text, nullable=False),  # of the answers
    Column("answers", Text, nullable=False),
    Column("sums", Text, nullable=False),  # by document: what intervals and comparisons are made from
    Column("scores", Text, nullable=False),
    UniqueConstraint("challenge", "team", "language", "number"),
    Index(None, "challenge", "id"),
)

# Kept, since they cost much and never change.
challenge_pair = Table(
    "challenge_pair",
    metadata,
    Column("first", ForeignKey("challenge_run.id"), nullable=False),
    Column("second", ForeignKey("challenge_run.id"), nullable=False),
    Column("challenge", ForeignKey("challenge.id"), nullable=False, index=True),
    Column("p", Text, nullable=False),
    PrimaryKeyConstraint("first", "second"),
)

# What managers see is kept as sums, so that nobody counts a million judgments to show a page.
# A save leaves a row here and no more; whoever looks next brings the sums up to date and takes it away.
figure_change = Table(
    "figure_change",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("campaign", Integer, nullable=False),
    Column("documents", Text, nullable=False),  # positions of documents with new votes, as JSON
)

figure_state = Table(
    "figure_state",
    metadata,
    Column("campaign", ForeignKey("campaign.id"), primary_key=True),
    Column("version", Integer, nullable=False),  # grows whenever a figure changes
)

figure_block = Table(
    "figure_block",
    metadata,
    Column("campaign", Integer, nullable=False),
    Column("document", Integer, nullable=False),
    Column("content", Text, nullable=False),  # the document's counted judgments, packed; base64
    PrimaryKeyConstraint("campaign", "document"),
    ForeignKeyConstraint(
        ["campaign", "document"], ["campaign_document.campaign", "campaign_document.position"]
    ),
)

figure_pattern = Table(
    "figure_pattern",
    metadata,
    Column("campaign", ForeignKey("campaign.id"), nullable=False),
    Column("question", Text, nullable=False),
    Column("system", Text, nullable=False),
    Column("pattern", Text, nullable=False),  # how many people gave each answer, as JSON
    Column("times", Integer, nullable=False),  # how many units were voted on so
    PrimaryKeyConstraint("campaign", "question", "system", "pattern"),
)

figure_day = Table(
    "figure_day",
    metadata,
    Column("campaign", ForeignKey("campaign.id"), nullable=False),
    Column("person", ForeignKey("person.id"), nullable=False),
    Column("day", Integer, nullable=False),  # since 1970 in UTC; -1: not known
    Column("judgments", Integer, nullable=False),
    Column("milliseconds", BigInteger, nullable=False),
    PrimaryKeyConstraint("campaign", "person", "day"),
)

decision = Table(
    "decision",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("key", Text, nullable=False, unique=True),
    Column("campaign", Integer, nullable=False),
    Column("unit", Integer, nullable=False),
    Column("person", ForeignKey("person.id"), nullable=False),  # who decided
    Column("how", Text, nullable=False),  # majority, person or own
    Column("follows", ForeignKey("person.id")),  # whose answer was taken
    Column("answers", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("at", Moment, nullable=False),
    ForeignKeyConstraint(["campaign", "unit"], ["unit.campaign", "unit.number"]),
    Index(None, "campaign", "unit"),
)

gold = Table(
    "gold",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("campaign", ForeignKey("campaign.id"), nullable=False, index=True),
    Column("person", ForeignKey("person.id")),  # none: the command line
    Column("at", Moment, nullable=False),
    Column("method", Text, nullable=False),
    Column("signatures", Text, nullable=False),  # by question, as JSON
    Column("units", Integer, nullable=False),
    Column("decided", Integer, nullable=False),  # units with an adjudicator's answer
    Column("content", Text, nullable=False),  # the answers, as JSON
)
