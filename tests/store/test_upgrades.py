"""Databases of earlier versions, kept as they were written, open and lose nothing."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import MetaData, create_engine, text

from lapsus.store import open_store, restore
from lapsus.store.database import database_url
from lapsus.store.migrations import HEAD, upgrade
from tests.store.conftest import new_postgres
from tests.store.helpers import reserve, save

KEPT = sorted((Path(__file__).parent / "databases").glob("version-*.sql"))


@pytest.mark.parametrize("kept", KEPT, ids=lambda path: path.stem)
def test_a_database_of_an_earlier_version_opens_whole(kept: Path, tmp_path: Path, url: str) -> None:
    path = tmp_path / "old.sqlite"
    with closing(sqlite3.connect(path)) as conn:
        conn.executescript(kept.read_text())
        before = conn.execute("SELECT key, answers FROM judgment ORDER BY key").fetchall()
    version = kept.stem.removeprefix("version-")
    with open_store(path) as store:
        assert [person.name for person in store.people.all()] == ["Mori", "Ada", "健"]
        assert store.access.sign_in("ada", "correct horse") is not None
        new = store.people.add("Eve").id
        store.campaigns.add_documents("chat", [])
        assert store.campaigns.get("chat").name == "chat"
        store.backups.backup(tmp_path / "backup.zip")
    with closing(sqlite3.connect(path)) as conn:
        assert conn.execute("SELECT key, answers FROM judgment ORDER BY key").fetchall() == before
        assert conn.execute("SELECT version_num FROM alembic_version").fetchone() == (HEAD,)
    copies = list(tmp_path.glob(f"old.sqlite.version-{version}.*"))
    assert len(copies) == (version != HEAD)
    # The same into whichever database, where people go on.
    restore(tmp_path / "backup.zip", url)
    with open_store(url) as store:
        assert sum(len(entry.judgments) for entry in store.exports.export("chat")) == len(before)
        units = reserve(store, new)
        assert not units or save(store, units[0], new)


def as_of_then(kept: Path, url: str) -> None:
    """A PostgreSQL database as that version left it: its own tables, and every row of the one that is kept."""
    engine, tables = create_engine(database_url(url)), MetaData()
    with closing(sqlite3.connect(":memory:")) as old, engine.begin() as conn:
        old.executescript(kept.read_text())
        old.row_factory = sqlite3.Row
        upgrade(conn, kept.stem.removeprefix("version-"))
        tables.reflect(conn)
        for table in tables.sorted_tables:
            rows = [dict(row) for row in old.execute(f'SELECT * FROM "{table.name}"')]  # noqa: S608
            if rows and table.name != "alembic_version":
                conn.execute(table.insert(), rows)
                if "id" in table.c and isinstance(rows[0]["id"], int):
                    last = {"name": table.name, "last": max(row["id"] for row in rows)}
                    conn.execute(text("SELECT setval(pg_get_serial_sequence(:name, 'id'), :last)"), last)
    engine.dispose()


@pytest.mark.parametrize("kept", KEPT, ids=lambda path: path.stem)
def test_so_does_one_of_postgresql(kept: Path, request: pytest.FixtureRequest) -> None:
    with new_postgres(request) as url:
        as_of_then(kept, url)
        with open_store(url) as store:
            assert [person.name for person in store.people.all()] == ["Mori", "Ada", "健"]
            assert store.access.sign_in("ada", "correct horse") is not None
            said = sum(len(entry.judgments) for entry in store.exports.export("chat"))
            assert said == kept.read_text().count('INSERT INTO "judgment" ')
            units = reserve(store, store.people.add("Eve").id)
            assert not units or save(store, units[0], store.people.named("Eve").id)


def test_every_version_that_people_may_have_is_kept() -> None:
    assert {path.stem for path in KEPT} >= {"version-1", "version-4", "version-5", "version-10"}
