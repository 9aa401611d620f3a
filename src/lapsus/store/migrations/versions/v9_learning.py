"""Judges that learn from campaigns while they run.

Revision ID: 9
"""

import sqlalchemy as sa
from alembic import op

revision = "9"
down_revision = "8"


def upgrade() -> None:
    """Add the tables."""
    op.create_table(
        "learning",
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.Integer()),
        sa.Column("holder", sa.Text()),
        sa.Column("until", sa.BigInteger()),
        sa.Column("doing", sa.Text(), nullable=False, server_default=""),
        sa.Column("rest", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("trouble", sa.Text()),
        sa.Column("curve", sa.Text(), nullable=False, server_default="[]"),
        sa.Column("model", sa.Text()),
        sa.PrimaryKeyConstraint("campaign", name="pk_learning"),
        sa.ForeignKeyConstraint(["campaign"], ["campaign.id"], name="fk_learning_campaign"),
    )
    op.create_table(
        "learned_unit",
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("unit", sa.Integer(), nullable=False),
        sa.Column("answers", sa.Text(), nullable=False),
        sa.Column("shown", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("campaign", "unit", name="pk_learned_unit"),
        sa.ForeignKeyConstraint(
            ["campaign", "unit"], ["unit.campaign", "unit.number"], name="fk_learned_unit_campaign_unit"
        ),
    )
    op.create_table(
        "learned_document",
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("document", sa.Integer(), nullable=False),
        sa.Column("doubt", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("campaign", "document", name="pk_learned_document"),
        sa.ForeignKeyConstraint(
            ["campaign", "document"],
            ["campaign_document.campaign", "campaign_document.position"],
            name="fk_learned_document_campaign_document",
        ),
    )
