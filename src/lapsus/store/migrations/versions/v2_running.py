"""How campaigns are run: stages, checks, consent, messages, programs that judge.

Revision ID: 2
"""

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "2"
down_revision = "1"


def upgrade() -> None:
    """Add to the tables there are, then make new ones."""
    _columns()
    _count_places()
    _known_answers()
    _words()


def _columns() -> None:
    """More about people, campaigns, documents, units and members."""
    added: dict[str, list[sa.Column[Any]]] = {
        "person": [sa.Column("program", sa.Boolean(), nullable=False, server_default=sa.false())],
        "campaign": [sa.Column("stage", sa.Text(), nullable=False, server_default="main")],
        "campaign_total": [sa.Column("wanted", sa.Integer(), nullable=False, server_default="0")],
        "campaign_document": [sa.Column("part", sa.Text(), nullable=False, server_default="main")],
        "unit": [sa.Column("wanted", sa.Integer(), nullable=False, server_default="1")],
        "member": [
            sa.Column("begun", sa.BigInteger()),
            sa.Column("stopped", sa.BigInteger()),
            sa.Column("seen", sa.Integer(), nullable=False, server_default="0"),
            sa.Column("origin", sa.Text()),
        ],
    }
    for table, columns in added.items():
        for column in columns:
            op.add_column(table, column)


def _count_places() -> None:
    """How many places units have: until now, what the plan says for all of a campaign's."""
    conn = op.get_bind()
    for row in conn.execute(sa.text("SELECT id, plan FROM campaign")).all():
        values = {"campaign": row.id, "wanted": json.loads(row.plan).get("per_unit", 1)}
        conn.execute(sa.text("UPDATE unit SET wanted = :wanted WHERE campaign = :campaign"), values)
        total = "UPDATE campaign_total SET wanted = units * :wanted WHERE campaign = :campaign"
        conn.execute(sa.text(total), values)


def _known_answers() -> None:
    """Units whose answers are known, and how people did."""
    op.create_table(
        "expected",
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("unit", sa.Integer(), nullable=False),
        sa.Column("block", sa.Text(), nullable=False),
        sa.Column("answers", sa.Text(), nullable=False),
        sa.Column("feedback", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign", "unit"], ["unit.campaign", "unit.number"], name="fk_expected_campaign_unit"
        ),
        sa.PrimaryKeyConstraint("campaign", "unit", name="pk_expected"),
    )
    op.create_table(
        "check_result",
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("person", sa.Integer(), nullable=False),
        sa.Column("unit", sa.Integer(), nullable=False),
        sa.Column("block", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("passed", sa.Boolean(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign", "unit"], ["expected.campaign", "expected.unit"], name="fk_check_result_campaign_unit"
        ),
        sa.ForeignKeyConstraint(
            ["campaign", "person"],
            ["member.campaign", "member.person"],
            name="fk_check_result_campaign_person",
        ),
        sa.PrimaryKeyConstraint("campaign", "person", "unit", name="pk_check_result"),
    )


def _words() -> None:
    """Messages to people, and campaigns that are still being made."""
    op.create_table(
        "message",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("person", sa.Integer()),
        sa.Column("sender", sa.Integer()),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["campaign"], ["campaign.id"], name="fk_message_campaign"),
        sa.ForeignKeyConstraint(["person"], ["person.id"], name="fk_message_person"),
        sa.ForeignKeyConstraint(["sender"], ["person.id"], name="fk_message_sender"),
        sa.PrimaryKeyConstraint("id", name="pk_message"),
    )
    op.create_index("ix_message_campaign_id", "message", ["campaign", "id"])
    op.create_table(
        "draft",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("person", sa.Integer(), nullable=False),
        sa.Column("plan", sa.Text(), nullable=False),
        sa.Column("documents", sa.Text(), nullable=False),
        sa.Column("changed", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["person"], ["person.id"], name="fk_draft_person"),
        sa.PrimaryKeyConstraint("id", name="pk_draft"),
    )
