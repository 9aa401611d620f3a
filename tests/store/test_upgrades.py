"""Databases of earlier versions, kept as they were written, open and lose nothing."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from lapsus.store import open_store, restore
from lapsus.store.migrations import HEAD
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


def test_every_version_that_people_may_have_is_kept() -> None:
    assert {path.stem for path in KEPT} >= {"version-1", "version-4", "version-5", "version-10"}
