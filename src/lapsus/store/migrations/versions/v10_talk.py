"""Flags are talk: replies to them, and how far their authors have read.

Revision ID: 10
"""

import sqlalchemy as sa
from alembic import op

revision = "10"
down_revision = "9"


def upgrade() -> None:
    """Flags of before have no replies, so there is nothing in them to read."""
    op.add_column("flag", sa.Column("seen", sa.Integer(), nullable=False, server_default="0"))
    op.create_index("ix_flag_person", "flag", ["person"])
    op.create_table(
        "flag_reply",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("flag", sa.Integer(), nullable=False),
        sa.Column("person", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["flag"], ["flag.id"], name="fk_flag_reply_flag"),
        sa.ForeignKeyConstraint(["person"], ["person.id"], name="fk_flag_reply_person"),
        sa.PrimaryKeyConstraint("id", name="pk_flag_reply"),
        sa.UniqueConstraint("key", name="uq_flag_reply_key"),
    )
    op.create_index("ix_flag_reply_flag", "flag_reply", ["flag"])
