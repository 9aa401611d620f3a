"""Backups: one file, everything in it, into any database, never over another."""

from __future__ import annotations

import stat
import zipfile
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import select

from lapsus.errors import InputError, UsageError
from lapsus.store import Store, open_store, restore
from lapsus.store.tables import metadata
from tests.store.helpers import campaign, people, reserve, save
from tests.store.test_concurrency import check_counts
from tests.store.test_export import judged_campaign

PHRASE = "correct horse"


def everything(store: Store) -> dict[str, list[tuple[object, ...]]]:
    with store.database.reading() as conn:
        return {
            table.name: sorted((tuple(row) for row in conn.execute(select(table))), key=repr)
            for table in metadata.sorted_tables
        }


@pytest.fixture
def kept(store: Store, tmp_path: Path) -> Path:
    """A backup of a store that has something of everything."""
    judged_campaign(store)
    boss = store.people.add("boss", "manager", password=PHRASE)
    store.access.add_token(boss.id, "script")
    store.access.invite(campaign="chat")
    store.flags.add("f", "chat", 1, boss.id, "odd")
    store.access.secret("session")
    store.backups.backup(tmp_path / "kept.zip")
    return tmp_path / "kept.zip"


def test_a_backup_restored_is_the_same_on_either_database(store: Store, kept: Path, other_url: str) -> None:
    header = restore(kept, other_url)
    assert header.rows["judgment"] == len(everything(store)["judgment"]) > 9
    with open_store(other_url) as back:
        assert everything(back) == everything(store)
        assert back.access.sign_in("boss", PHRASE) is not None
        assert back.access.secret("session") == store.access.secret("session")
        (new,) = people(back, "somebody new")
        assert new == max(person.id for person in store.people.all()) + 1
        campaign(back, name="next")
        save(back, reserve(back, new, "next")[0], new, campaign="next")
        check_counts(back)


def test_a_backup_goes_back_into_the_same_kind_of_database(
    store: Store, kept: Path, other_url: str, tmp_path: Path
) -> None:
    """There and back again: what came from the other kind restores into this one."""
    restore(kept, other_url)
    with open_store(other_url) as back:
        back.backups.backup(tmp_path / "again.zip")
    restore(tmp_path / "again.zip", tmp_path / "third.sqlite")
    with open_store(tmp_path / "third.sqlite") as third:
        assert everything(third) == everything(store)


def test_a_restore_never_overwrites(kept: Path, url: str, store: Store) -> None:
    before = everything(store)
    with pytest.raises(UsageError, match="restore into a new database"):
        restore(kept, url)
    assert everything(store) == before


def test_a_backup_is_for_its_owner_only_and_replaces_nothing_unasked(store: Store, kept: Path) -> None:
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    with pytest.raises(UsageError, match="is there already"):
        store.backups.backup(kept)
    store.backups.backup(kept, overwrite=True)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def change(kept: Path, name: str, content: bytes | None) -> Path:
    """A backup with one of its files changed or left out."""
    target = kept.with_name("changed.zip")
    with zipfile.ZipFile(kept) as source, zipfile.ZipFile(target, "w") as copy:
        for member in source.namelist():
            if member != name:
                copy.writestr(member, source.read(member))
            elif content is not None:
                copy.writestr(member, content)
    return target


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("backup.json", None, "no whole backup"),
        ("backup.json", b"{", "no whole backup"),
        ("judgment.jsonl", None, "damaged"),
        ("judgment.jsonl", b"", "0 rows instead of"),
        ("judgment.jsonl", b"{]\n", "damaged"),
    ],
)
def test_a_damaged_backup_is_told_and_leaves_nothing_behind(
    kept: Path, other_url: str, name: str, content: bytes | None, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        restore(change(kept, name, content), other_url)
    restore(kept, other_url)


def test_a_backup_of_a_newer_version_is_refused(kept: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(kept) as archive:
        header = msgspec.json.decode(archive.read("backup.json"))
    newer = change(kept, "backup.json", msgspec.json.encode(header | {"version": "99"}))
    with pytest.raises(InputError, match=r"newer Lapsus.*update"):
        restore(newer, tmp_path / "new.sqlite")


def test_what_is_no_backup_is_told(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(InputError, match="is no backup"):
        restore(tmp_path / "notes.txt", tmp_path / "new.sqlite")
    with pytest.raises(InputError, match="no such file"):
        restore(tmp_path / "nowhere.zip", tmp_path / "new.sqlite")
    assert not (tmp_path / "new.sqlite").exists()
