"""Programs that judge beside a server's answers.

Revision ID: 8
"""

import sqlalchemy as sa
from alembic import op

revision = "8"
down_revision = "7"


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "program_run",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("person", sa.Integer(), nullable=False),
        sa.Column("spec", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("refused", sa.Integer(), nullable=False),
        sa.Column("added", sa.BigInteger(), nullable=False),
        sa.Column("worker", sa.Text()),
        sa.Column("until", sa.BigInteger()),
        sa.PrimaryKeyConstraint("id", name="pk_program_run"),
        sa.ForeignKeyConstraint(["campaign"], ["campaign.id"], name="fk_program_run_campaign"),
        sa.ForeignKeyConstraint(["person"], ["person.id"], name="fk_program_run_person"),
        sa.UniqueConstraint("campaign", "person", name="uq_program_run_campaign_person"),
    )
    op.create_index("ix_program_run_state", "program_run", ["state"])
