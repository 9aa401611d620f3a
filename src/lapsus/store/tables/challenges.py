"""Challenges: test sets, teams and runs."""

from sqlalchemy import (
    Column,
    ForeignKey,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
)

from lapsus.store.tables.base import Moment, metadata

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
