"""Limits: how much is kept of whom, how often something was tried, and names whatever their case.

Revision ID: 5
"""

import unicodedata

import sqlalchemy as sa
from alembic import op

revision = "5"
down_revision = "4"


def upgrade() -> None:
    """Add the columns and the table, and fold the names that are there."""
    op.add_column("member", sa.Column("stored", sa.BigInteger(), nullable=False, server_default="0"))
    op.add_column("person", sa.Column("folded", sa.Text(), nullable=False, server_default=""))
    op.create_index("ix_person_folded", "person", ["folded"])
    op.create_table(
        "attempt",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_attempt"),
    )
    conn = op.get_bind()
    fold = sa.text("UPDATE person SET folded = :folded WHERE id = :id")
    for row in conn.execute(sa.text("SELECT id, name FROM person")).all():
        folded = unicodedata.normalize("NFC", row.name).strip().casefold()
        conn.execute(fold, {"id": row.id, "folded": folded})
