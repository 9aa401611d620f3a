"""What managers see and decide.

Revision ID: 3
"""

import sqlalchemy as sa
from alembic import op

revision = "3"
down_revision = "2"


def upgrade() -> None:
    """Make the tables, and let the figures of what was judged before be worked out at the first look."""
    _figures()
    _sums()
    _decisions()
    op.execute(
        "INSERT INTO figure_change (campaign, documents)"
        " SELECT campaign, '[' || position || ']' FROM campaign_document"
    )


def _figures() -> None:
    """What changed, and what was counted so far."""
    op.create_table(
        "figure_change",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("documents", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_figure_change"),
    )
    op.create_table(
        "figure_state",
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("campaign", name="pk_figure_state"),
        sa.ForeignKeyConstraint(["campaign"], ["campaign.id"], name="fk_figure_state_campaign"),
    )
    op.create_table(
        "figure_block",
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("document", sa.Integer(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("campaign", "document", name="pk_figure_block"),
        sa.ForeignKeyConstraint(
            ["campaign", "document"],
            ["campaign_document.campaign", "campaign_document.position"],
            name="fk_figure_block_campaign_document",
        ),
    )


def _sums() -> None:
    """Sums over what was counted."""
    op.create_table(
        "figure_pattern",
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("system", sa.Text(), nullable=False),
        sa.Column("pattern", sa.Text(), nullable=False),
        sa.Column("times", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("campaign", "question", "system", "pattern", name="pk_figure_pattern"),
        sa.ForeignKeyConstraint(["campaign"], ["campaign.id"], name="fk_figure_pattern_campaign"),
    )
    op.create_table(
        "figure_day",
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("person", sa.Integer(), nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("judgments", sa.Integer(), nullable=False),
        sa.Column("milliseconds", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("campaign", "person", "day", name="pk_figure_day"),
        sa.ForeignKeyConstraint(["campaign"], ["campaign.id"], name="fk_figure_day_campaign"),
        sa.ForeignKeyConstraint(["person"], ["person.id"], name="fk_figure_day_person"),
    )


def _decisions() -> None:
    """What adjudicators decided, and gold."""
    op.create_table(
        "decision",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("unit", sa.Integer(), nullable=False),
        sa.Column("person", sa.Integer(), nullable=False),
        sa.Column("how", sa.Text(), nullable=False),
        sa.Column("follows", sa.Integer()),
        sa.Column("answers", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_decision"),
        sa.UniqueConstraint("key", name="uq_decision_key"),
        sa.ForeignKeyConstraint(
            ["campaign", "unit"], ["unit.campaign", "unit.number"], name="fk_decision_campaign_unit"
        ),
        sa.ForeignKeyConstraint(["person"], ["person.id"], name="fk_decision_person"),
        sa.ForeignKeyConstraint(["follows"], ["person.id"], name="fk_decision_follows"),
    )
    op.create_index("ix_decision_campaign_unit", "decision", ["campaign", "unit"])
    op.create_table(
        "gold",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("person", sa.Integer()),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("signatures", sa.Text(), nullable=False),
        sa.Column("units", sa.Integer(), nullable=False),
        sa.Column("decided", sa.Integer(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_gold"),
        sa.ForeignKeyConstraint(["campaign"], ["campaign.id"], name="fk_gold_campaign"),
        sa.ForeignKeyConstraint(["person"], ["person.id"], name="fk_gold_person"),
    )
    op.create_index("ix_gold_campaign", "gold", ["campaign"])
