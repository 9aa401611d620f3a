"""Opening databases: new ones, ours, older, newer, others' and no databases at all."""

from __future__ import annotations

import sqlite3
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, make_url, text

from lapsus.errors import InputError, LapsusError, UsageError
from lapsus.store import Store, database, default_database, migrations, open_store
from lapsus.store.database import bring_up_to_date, open_engine
from lapsus.store.migrations import Step, schema_version
from lapsus.store.tables import metadata
from tests import quick
from tests.store.helpers import campaign, people, reserve, save


def test_opening_twice_changes_nothing(url: str) -> None:
    with open_store(url) as store:
        campaign(store)
        before = store.campaigns.all()
    with open_store(url) as store:
        assert store.campaigns.all() == before
        assert len(store.units.document_names("chat")) == 4


def test_migrations_make_the_tables_that_the_code_uses(url: str) -> None:
    engine = open_engine(url)
    with engine.connect() as conn:
        context = MigrationContext.configure(conn, opts={"version_table": migrations.VERSION.name})
        assert compare_metadata(context, metadata) == []
        assert schema_version(conn) == migrations.HEAD
    engine.dispose()


def test_a_step_stands_by_itself_once_another_follows_it() -> None:
    """Tables of the code change with every version, those of a step never: only the newest may be made from them."""
    assert metadata.create_all not in [step.upgrade for step in migrations.STEPS[:-1]]


def test_sqlite_is_set_to_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quick, "do_not_wait", lambda connection: None)
    with open_store(tmp_path / "a.sqlite") as store, store.database.reading() as conn:
        settings = {
            name: conn.scalar(text(f"PRAGMA {name}"))
            for name in ("journal_mode", "synchronous", "foreign_keys")
        }
    assert settings == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}
    assert stat.S_IMODE((tmp_path / "a.sqlite").stat().st_mode) == 0o600


def test_a_database_of_a_newer_version_is_left_alone(url: str) -> None:
    engine = open_engine(url)
    with engine.execution_options(lapsus_write=True).begin() as conn:
        conn.execute(text("UPDATE schema_version SET version = '99'"))
    engine.dispose()
    with pytest.raises(
        InputError,
        match=rf"made by a newer Lapsus .database version 99, known: {migrations.HEAD}.*update Lapsus",
    ):
        open_store(url)


def test_a_database_of_another_program_is_left_alone(url: str) -> None:
    engine = open_engine(url)
    with engine.execution_options(lapsus_write=True).begin() as conn:
        metadata.drop_all(conn)
        conn.execute(text("DROP TABLE schema_version"))
        conn.execute(text("CREATE TABLE recipes (id INTEGER)"))
    engine.dispose()
    with pytest.raises(InputError, match=r"tables of another program .recipes"):
        open_store(url)


def add_mood(conn: Connection) -> None:
    """The step of a later version: it adds a column and fills it."""
    conn.execute(text("ALTER TABLE judgment ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'"))


def later_version(upgrade: Callable[[Connection], None]) -> list[Step]:
    """The steps of a later Lapsus."""
    return [*migrations.STEPS, Step("later", upgrade)]


def test_an_older_database_is_copied_then_changed_and_keeps_everything(url: str) -> None:
    with open_store(url) as store:
        campaign(store)
        (me,) = people(store, "avery")
        for unit in reserve(store, me):
            save(store, unit, me)
        before = store.judgments.history("chat", 1)
    engine = open_engine(url)
    path = Path(engine.url.database or "") if url.startswith("sqlite") else None
    bring_up_to_date(engine, path, later_version(add_mood))
    with engine.connect() as conn:
        assert schema_version(conn) == "later"
        assert set(conn.scalars(text("SELECT mood FROM judgment"))) == {"calm"}
        assert conn.scalar(text("SELECT count(*) FROM judgment")) == 3
    assert Store(engine).judgments.history("chat", 1) == before
    engine.dispose()
    if path is not None:
        (copy,) = path.parent.glob(f"{path.name}.version-{migrations.HEAD}.*")
        assert stat.S_IMODE(copy.stat().st_mode) == 0o600
        with open_store(copy) as store:
            assert store.judgments.history("chat", 1) == before


def test_a_step_that_fails_leaves_the_database_as_it_was(url: str) -> None:
    with open_store(url) as store:
        campaign(store)

    def fails_in_the_middle(conn: Connection) -> None:
        add_mood(conn)
        conn.execute(text("DROP TABLE nowhere"))

    engine = open_engine(url)
    with pytest.raises(Exception, match="nowhere"):
        bring_up_to_date(engine, None, later_version(fails_in_the_middle))
    engine.dispose()
    with open_store(url) as store:
        assert len(store.units.document_names("chat")) == 4


@pytest.mark.parametrize(
    ("database", "message"),
    [
        ("mysql://host/name", "no database of kind 'mysql'"),
        ("sqlite://", "needs a file"),
        ("sqlite:///:memory:", "needs a file"),
        ("sqlite:///nowhere/at/all.sqlite", "no such folder"),
        ("://", "no address of a database"),
        ("postgresql://user:secret@localhost:1/name", "cannot be opened"),
    ],
)
def test_addresses_that_lead_nowhere_get_a_message(database: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as error:
        open_store(database)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("content", [b"this is no database" * 100, b"SQLite format 3\0" + b"x" * 2000])
def test_a_file_that_is_no_database_is_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(LapsusError, match=r"cannot be read|cannot be opened"):
        open_store(path)
    assert path.read_bytes() == content


def test_a_folder_is_no_database(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder"):
        open_store(tmp_path)


def test_without_an_address_the_database_is_in_the_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path))
    with open_store() as store:
        assert not store.people.has_manager()
    assert default_database().is_file()
    assert default_database().is_relative_to(tmp_path)


def test_a_writer_waits_for_another_program(tmp_path: Path) -> None:
    """As long as it is not for ever: SQLite's own clients may have the file open too."""
    with open_store(tmp_path / "a.sqlite") as store:
        campaign(store)
        other = sqlite3.connect(tmp_path / "a.sqlite", isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
        threading.Timer(0.5, other.rollback).start()
        assert people(store, "avery") == [1]
        other.close()


def test_a_database_that_cannot_hold_every_language_is_refused(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with psycopg.connect(postgres, autocommit=True) as conn:
        conn.execute("CREATE DATABASE ascii_only ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0")
    address = make_url(postgres).set(database="ascii_only").render_as_string(hide_password=False)
    with pytest.raises(UsageError, match="keeps text as SQL_ASCII"):
        open_store(address)
    with psycopg.connect(postgres, autocommit=True) as conn:
        conn.execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    latin = make_url(postgres).set(database="latin").render_as_string(hide_password=False)
    with pytest.raises(UsageError, match="keeps text as LATIN1"):
        open_store(latin)
    # One that was begun before this was asked still opens.
    with monkeypatch.context() as before:
        before.setattr(database, "_is_new", lambda connection: False)
        open_store(latin).close()
    open_store(latin).close()
