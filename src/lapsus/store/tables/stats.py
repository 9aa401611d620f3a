"""What managers see and decide."""

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
    Column(
        "questions", Text, nullable=False
    ),  # how many units have gold or are undecided, by question, as JSON
    Column("units", Integer, nullable=False),
    Column("decided", Integer, nullable=False),  # units with an adjudicator's answer
    Column("content", Text, nullable=False),  # the answers, as JSON
)

# A program that judges beside the server's answers. Whoever works on it holds it until a moment, and says so again
# and again; then another server may go on. So it is done once, however many servers share the database.
program_run = Table(
    "program_run",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("campaign", ForeignKey("campaign.id"), nullable=False),
    Column("person", ForeignKey("person.id"), nullable=False),  # the program
    Column("spec", Text, nullable=False),  # which program and how it is asked, as JSON; never a key
    Column("state", Text, nullable=False),
    Column("note", Text, nullable=False),  # why it stopped by itself
    Column("refused", Integer, nullable=False),  # units that it could not judge since it was last started
    Column("added", Moment, nullable=False),
    Column("worker", Text),
    Column("until", Moment),
    UniqueConstraint("campaign", "person"),
    Index(None, "state"),
)


learning = Table(
    "learning",
    metadata,
    Column("campaign", ForeignKey("campaign.id"), primary_key=True),
    Column("next_at", Integer),  # how many units must be judged before it learns again; none: it does not
    Column("holder", Text),  # who is at work on it; none: nobody
    Column("until", Moment),  # the end of the lease; the holder renews it while it works
    Column("doing", Text, nullable=False, server_default=""),  # learn or judge, while somebody holds it
    Column("rest", Boolean, nullable=False, server_default=false()),  # it is to judge what nobody has judged
    Column("trouble", Text),  # the error of the last work, as JSON
    Column("curve", Text, nullable=False, server_default="[]"),  # what it reached each time, as JSON
    Column("model", Text),  # what it knows: a model's file, base64
)

# What it would answer about units that nobody had judged when it learned. Once one is judged, this stays.
learned_unit = Table(
    "learned_unit",
    metadata,
    Column("campaign", Integer, nullable=False),
    Column("unit", Integer, nullable=False),
    Column("answers", Text, nullable=False),
    Column("shown", Boolean, nullable=False),  # or kept back, so that it can be measured
    PrimaryKeyConstraint("campaign", "unit"),
    ForeignKeyConstraint(["campaign", "unit"], ["unit.campaign", "unit.number"]),
)

# Apart from `campaign_document`, which saves lock.
learned_document = Table(
    "learned_document",
    metadata,
    Column("campaign", Integer, nullable=False),
    Column("document", Integer, nullable=False),
    Column("doubt", Float, nullable=False),  # how unsure it is of the document's units, on average
    PrimaryKeyConstraint("campaign", "document"),
    ForeignKeyConstraint(
        ["campaign", "document"], ["campaign_document.campaign", "campaign_document.position"]
    ),
)
