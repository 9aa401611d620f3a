"""Judges that learn from campaigns while they run: what they do, what they know, what they would answer."""

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    false,
)

from lapsus.store.tables.base import Moment, metadata

learning = Table(
    "learning",
    metadata,
    Column("campaign", ForeignKey("campaign.id"), primary_key=True),
    Column("next_at", Integer),  # how many units must be judged before it learns again; none: it does not
    Column("holder", Text),  # who is at work on it; none: nobody
    Column("until", Moment),  # when others may take over, unless the holder says again that it is at work
    Column("doing", Text, nullable=False, server_default=""),  # learn or judge, while somebody holds it
    Column("rest", Boolean, nullable=False, server_default=false()),  # it is to judge what nobody has judged
    Column("trouble", Text),  # why the last work came to nothing, as JSON
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
