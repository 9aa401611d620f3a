"""People, documents, campaigns and what was said."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    false,
)

from lapsus.store.tables.base import Moment, metadata

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
    Column("folded", Text, nullable=False, server_default="", index=True),  # the name, whatever its case
)

# How often something was tried lately, such as a password: shared by all servers on the database.
attempt = Table(
    "attempt",
    metadata,
    Column("key", Text, primary_key=True),
    Column("since", Moment, nullable=False),
    Column("tries", Integer, nullable=False),
)

# Whose account it is, as a provider of sign-in or a proxy calls the person.
identity = Table(
    "identity",
    metadata,
    Column("issuer", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("person", ForeignKey("person.id"), nullable=False, index=True),
    PrimaryKeyConstraint("issuer", "subject"),
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
    Column("archived", Moment),  # since when it is out of the lists
    ForeignKeyConstraint(["scheme", "version"], ["scheme.id", "scheme.version"]),
)

# Apart from `campaign`, whose row is the lock under which units are handed out: a save never waits for that one.
campaign_total = Table(
    "campaign_total",
    metadata,
    Column("campaign", ForeignKey("campaign.id"), primary_key=True),
    Column("documents", Integer, nullable=False),
    Column("units", Integer, nullable=False),  # active ones
    Column("done", Integer, nullable=False),  # judgments of these units
    Column("surplus", Integer, nullable=False, server_default="0"),  # those of them that no plan asked for
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
    Column("stored", BigInteger, nullable=False, server_default="0"),  # characters of answers, all revisions
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

# The file that the documents of a draft are read from, until the campaign is made.
draft_file = Table(
    "draft_file",
    metadata,
    Column("draft", ForeignKey("draft.id", ondelete="CASCADE"), primary_key=True),
    Column("name", Text, nullable=False),
    Column("content", Text, nullable=False),  # in base 64, as backups are JSON
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
    Column("seen", Integer, nullable=False, server_default="0"),  # the last reply that its author has read
    ForeignKeyConstraint(["campaign", "unit"], ["unit.campaign", "unit.number"]),
    Index(None, "campaign", "unit"),
    Index(None, "person"),
)

flag_reply = Table(
    "flag_reply",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("key", Text, nullable=False, unique=True),
    Column("flag", ForeignKey("flag.id"), nullable=False, index=True),
    Column("person", ForeignKey("person.id"), nullable=False),
    Column("text", Text, nullable=False),
    Column("at", Moment, nullable=False),
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
