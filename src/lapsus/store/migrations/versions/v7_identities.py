"""People who are known elsewhere.

Revision ID: 7
"""

import sqlalchemy as sa
from alembic import op

revision = "7"
down_revision = "6"


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "identity",
        sa.Column("issuer", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("person", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("issuer", "subject", name="pk_identity"),
        sa.ForeignKeyConstraint(["person"], ["person.id"], name="fk_identity_person"),
    )
    op.create_index("ix_identity_person", "identity", ["person"])
