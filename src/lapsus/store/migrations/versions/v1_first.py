"""The tables of the first version.

Revision ID: 1
"""

import sqlalchemy as sa
from alembic import op

revision = "1"
down_revision = None


def upgrade() -> None:
    """Make them all, what is referred to first."""
    _people()
    _material()
    _campaigns()
    _units()
    _members()
    _assignments()
    _judgments()
    _remarks()
    _invitations()


def _people() -> None:
    """People and ways in."""
    op.create_table(
        "setting",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_setting"),
    )
    op.create_table(
        "person",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("email", sa.Text()),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("language", sa.Text()),
        sa.Column("password", sa.Text()),
        sa.Column("stamp", sa.Text(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("disabled", sa.BigInteger()),
        sa.PrimaryKeyConstraint("id", name="pk_person"),
        sa.UniqueConstraint("name", name="uq_person_name"),
    )
    op.create_table(
        "api_token",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("person", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("revoked", sa.BigInteger()),
        sa.ForeignKeyConstraint(["person"], ["person.id"], name="fk_api_token_person"),
        sa.PrimaryKeyConstraint("id", name="pk_api_token"),
        sa.UniqueConstraint("hash", name="uq_api_token_hash"),
    )
    op.create_index("ix_api_token_person", "api_token", ["person"])


def _material() -> None:
    """What is judged, and by which guideline."""
    op.create_table(
        "scheme",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", "version", name="pk_scheme"),
    )
    op.create_table(
        "document",
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_document"),
    )


def _campaigns() -> None:
    """Campaigns."""
    op.create_table(
        "campaign",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("scheme", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("plan", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("source", sa.Integer()),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["scheme", "version"], ["scheme.id", "scheme.version"], name="fk_campaign_scheme_version"
        ),
        sa.ForeignKeyConstraint(["source"], ["campaign.id"], name="fk_campaign_source"),
        sa.PrimaryKeyConstraint("id", name="pk_campaign"),
        sa.UniqueConstraint("name", name="uq_campaign_name"),
    )
    op.create_index("ix_campaign_source", "campaign", ["source"])
    op.create_table(
        "campaign_total",
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("documents", sa.Integer(), nullable=False),
        sa.Column("units", sa.Integer(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("complete", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["campaign"], ["campaign.id"], name="fk_campaign_total_campaign"),
        sa.PrimaryKeyConstraint("campaign", name="pk_campaign_total"),
    )


def _units() -> None:
    """What there is to judge in them."""
    op.create_table(
        "campaign_document",
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("level", sa.Integer(), nullable=False),
        sa.Column("shuffle", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["campaign"], ["campaign.id"], name="fk_campaign_document_campaign"),
        sa.ForeignKeyConstraint(["digest"], ["document.digest"], name="fk_campaign_document_digest"),
        sa.PrimaryKeyConstraint("campaign", "position", name="pk_campaign_document"),
        sa.UniqueConstraint("campaign", "name", name="uq_campaign_document_campaign_name"),
    )
    op.create_index(
        "ix_campaign_document_campaign_level_shuffle", "campaign_document", ["campaign", "level", "shuffle"]
    )
    op.create_table(
        "unit",
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("document", sa.Integer(), nullable=False),
        sa.Column("segment", sa.Text(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("taken", sa.Integer(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign", "document"],
            ["campaign_document.campaign", "campaign_document.position"],
            name="fk_unit_campaign_document",
        ),
        sa.PrimaryKeyConstraint("campaign", "number", name="pk_unit"),
        sa.UniqueConstraint("campaign", "document", "segment", name="uq_unit_campaign_document_segment"),
    )


def _members() -> None:
    """Who takes part."""
    op.create_table(
        "member",
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("person", sa.Integer(), nullable=False),
        sa.Column("joined", sa.BigInteger(), nullable=False),
        sa.Column("until", sa.BigInteger()),
        sa.Column("submitted", sa.Integer(), nullable=False),
        sa.Column("drafts", sa.Integer(), nullable=False),
        sa.Column("held", sa.Integer(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("last_at", sa.BigInteger()),
        sa.ForeignKeyConstraint(["campaign"], ["campaign.id"], name="fk_member_campaign"),
        sa.ForeignKeyConstraint(["person"], ["person.id"], name="fk_member_person"),
        sa.PrimaryKeyConstraint("campaign", "person", name="pk_member"),
    )
    op.create_index("ix_member_campaign_until", "member", ["campaign", "until"])
    op.create_index("ix_member_person", "member", ["person"])


def _assignments() -> None:
    """Who has what to judge."""
    op.create_table(
        "assignment",
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("unit", sa.Integer(), nullable=False),
        sa.Column("person", sa.Integer(), nullable=False),
        sa.Column("document", sa.Integer(), nullable=False),
        sa.Column("place", sa.Integer()),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("submitted", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign", "person"], ["member.campaign", "member.person"], name="fk_assignment_campaign_person"
        ),
        sa.ForeignKeyConstraint(
            ["campaign", "unit"], ["unit.campaign", "unit.number"], name="fk_assignment_campaign_unit"
        ),
        sa.PrimaryKeyConstraint("campaign", "unit", "person", name="pk_assignment"),
        sa.UniqueConstraint("campaign", "unit", "place", name="uq_assignment_campaign_unit_place"),
    )
    op.create_index(
        "ix_assignment_campaign_person_state_document",
        "assignment",
        ["campaign", "person", "state", "document"],
    )


def _judgments() -> None:
    """What was said."""
    op.create_table(
        "judgment",
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("unit", sa.Integer(), nullable=False),
        sa.Column("person", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("submitted", sa.Boolean(), nullable=False),
        sa.Column("answers", sa.Text(), nullable=False),
        sa.Column("more", sa.Text()),
        sa.Column("given_at", sa.BigInteger()),
        sa.Column("stored_at", sa.BigInteger(), nullable=False),
        sa.Column("seconds", sa.Float()),
        sa.Column("client", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign", "unit", "person"],
            ["assignment.campaign", "assignment.unit", "assignment.person"],
            name="fk_judgment_campaign_unit_person",
        ),
        sa.PrimaryKeyConstraint("campaign", "unit", "person", "revision", name="pk_judgment"),
        sa.UniqueConstraint("key", name="uq_judgment_key"),
    )


def _remarks() -> None:
    """Flags and the audit trail."""
    op.create_table(
        "flag",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("unit", sa.Integer(), nullable=False),
        sa.Column("person", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("settled", sa.BigInteger()),
        sa.ForeignKeyConstraint(
            ["campaign", "unit"], ["unit.campaign", "unit.number"], name="fk_flag_campaign_unit"
        ),
        sa.ForeignKeyConstraint(["person"], ["person.id"], name="fk_flag_person"),
        sa.PrimaryKeyConstraint("id", name="pk_flag"),
        sa.UniqueConstraint("key", name="uq_flag_key"),
    )
    op.create_index("ix_flag_campaign_unit", "flag", ["campaign", "unit"])
    op.create_table(
        "event",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("person", sa.Integer()),
        sa.Column("campaign", sa.Integer()),
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("details", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["campaign"], ["campaign.id"], name="fk_event_campaign"),
        sa.ForeignKeyConstraint(["person"], ["person.id"], name="fk_event_person"),
        sa.PrimaryKeyConstraint("id", name="pk_event"),
    )
    op.create_index("ix_event_campaign_id", "event", ["campaign", "id"])


def _invitations() -> None:
    """Links."""
    op.create_table(
        "invitation",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("campaign", sa.Integer()),
        sa.Column("uses_left", sa.Integer()),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("expires", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["campaign"], ["campaign.id"], name="fk_invitation_campaign"),
        sa.PrimaryKeyConstraint("id", name="pk_invitation"),
        sa.UniqueConstraint("hash", name="uq_invitation_hash"),
    )
