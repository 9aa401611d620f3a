"""Archive: campaigns that are over leave the lists.

Revision ID: 6
"""

import sqlalchemy as sa
from alembic import op

revision = "6"
down_revision = "5"


def upgrade() -> None:
    """Add the column."""
    op.add_column("campaign", sa.Column("archived", sa.BigInteger(), nullable=True))
