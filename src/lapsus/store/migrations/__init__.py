"""The tables through time: each change a file in `versions`, run one after the other."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection

HEAD = "1"
"""The newest version. Kept here too so that an up-to-date database opens without loading Alembic."""

_FOLDER = str(Path(__file__).parent)


def known_versions(scripts: str | None = None) -> list[str]:
    """Every version that there are steps from or to, the newest first."""
    from alembic.script import ScriptDirectory

    return [step.revision for step in ScriptDirectory(scripts or _FOLDER).walk_revisions()]


def upgrade(conn: Connection, to: str = "head", *, scripts: str | None = None) -> None:
    """Bring the tables to a version, within the transaction that is under way."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", (scripts or _FOLDER).replace("%", "%%"))
    config.attributes["connection"] = conn
    command.upgrade(config, to)
