"""Challenges: test sets, teams and runs.

Revision ID: 4
"""

import sqlalchemy as sa
from alembic import op

revision = "4"
down_revision = "3"


def upgrade() -> None:
    """Make the tables."""
    _challenges()
    _runs()


def _challenges() -> None:
    """Test sets and who takes part."""
    op.create_table(
        "challenge",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("plan", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("floors", sa.Text(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_challenge"),
        sa.UniqueConstraint("name", name="uq_challenge_name"),
    )
    op.create_table(
        "challenge_document",
        sa.Column("challenge", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("votes", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["challenge"], ["challenge.id"], name="fk_challenge_document_challenge"),
        sa.ForeignKeyConstraint(["digest"], ["document.digest"], name="fk_challenge_document_digest"),
        sa.PrimaryKeyConstraint("challenge", "position", name="pk_challenge_document"),
        sa.UniqueConstraint("challenge", "name", name="uq_challenge_document_challenge_name"),
    )
    op.create_table(
        "challenge_team",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("challenge", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["challenge"], ["challenge.id"], name="fk_challenge_team_challenge"),
        sa.PrimaryKeyConstraint("id", name="pk_challenge_team"),
        sa.UniqueConstraint("hash", name="uq_challenge_team_hash"),
        sa.UniqueConstraint("challenge", "name", name="uq_challenge_team_challenge_name"),
    )


def _runs() -> None:
    """What teams handed in, and how it compares."""
    op.create_table(
        "challenge_run",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("challenge", sa.Integer(), nullable=False),
        sa.Column("team", sa.Integer()),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("answers", sa.Text(), nullable=False),
        sa.Column("sums", sa.Text(), nullable=False),
        sa.Column("scores", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["challenge"], ["challenge.id"], name="fk_challenge_run_challenge"),
        sa.ForeignKeyConstraint(["team"], ["challenge_team.id"], name="fk_challenge_run_team"),
        sa.PrimaryKeyConstraint("id", name="pk_challenge_run"),
        sa.UniqueConstraint(
            "challenge", "team", "language", "number", name="uq_challenge_run_challenge_team_language_number"
        ),
    )
    op.create_index("ix_challenge_run_challenge_id", "challenge_run", ["challenge", "id"])
    op.create_table(
        "challenge_pair",
        sa.Column("first", sa.Integer(), nullable=False),
        sa.Column("second", sa.Integer(), nullable=False),
        sa.Column("challenge", sa.Integer(), nullable=False),
        sa.Column("p", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["first"], ["challenge_run.id"], name="fk_challenge_pair_first"),
        sa.ForeignKeyConstraint(["second"], ["challenge_run.id"], name="fk_challenge_pair_second"),
        sa.ForeignKeyConstraint(["challenge"], ["challenge.id"], name="fk_challenge_pair_challenge"),
        sa.PrimaryKeyConstraint("first", "second", name="pk_challenge_pair"),
    )
    op.create_index("ix_challenge_pair_challenge", "challenge_pair", ["challenge"])
