"""The tables of the first version: those of `lapsus.store.tables`.

Whoever adds a second version first copies the tables as they are now into this file: a step never changes.

Revision ID: 1
"""

from alembic import op

from lapsus.store.tables import metadata

revision = "1"
down_revision = None


def upgrade() -> None:
    """Make them all."""
    metadata.create_all(op.get_bind())
