"""Alembic runs this; the connection and its transaction are ours."""

from alembic import context

from lapsus.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
    transactional_ddl=False,
)
context.run_migrations()
