"""Talks of people with systems, as they go on: every turn, and what people said of them."""

from sqlalchemy import Column, Float, ForeignKey, Index, Integer, PrimaryKeyConstraint, Table, Text

from lapsus.store.tables.base import Moment, metadata

talk = Table(
    "talk",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("campaign", ForeignKey("campaign.id"), nullable=False),
    Column("person", ForeignKey("person.id"), nullable=False),
    Column("partner", ForeignKey("person.id"), index=True),  # who speaks for the system, where a person does
    Column("system", Text, nullable=False),
    Column("topic", Integer),  # its place in the plan
    Column("state", Text, nullable=False),  # waiting for another person, open or done
    Column("turns", Integer, nullable=False),
    Column("begun", Moment, nullable=False),
    Column("last_at", Moment, nullable=False),
    Column("holder", Text),  # the server that makes the reply; none: nobody does
    Column("until", Moment),  # when another may, or when to try again
    Column("failures", Integer, nullable=False),  # since the last turn
    Column("failed", Integer, nullable=False),  # in all
    Index(None, "campaign", "person"),
    Index(None, "campaign", "state"),
)

talk_turn = Table(
    "talk_turn",
    metadata,
    Column("talk", ForeignKey("talk.id"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("key", Text, unique=True),  # of what a person sent
    Column("text", Text, nullable=False),
    Column("at", Moment, nullable=False),
    Column("seconds", Float),  # how long the system took
    Column("tokens_read", Integer, nullable=False, server_default="0"),
    Column("tokens_written", Integer, nullable=False, server_default="0"),
    PrimaryKeyConstraint("talk", "position"),
)

# What the person who talked said of a turn, or of the whole.
talk_answer = Table(
    "talk_answer",
    metadata,
    Column("talk", ForeignKey("talk.id"), nullable=False),
    Column("segment", Text, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("key", Text, nullable=False, unique=True),
    Column("answers", Text, nullable=False),
    Column("at", Moment, nullable=False),
    PrimaryKeyConstraint("talk", "segment", "revision"),
)
