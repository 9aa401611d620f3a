"""`lapsus doctor`: what is here, what is missing, and that nothing is changed by looking."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lapsus.cli.app import app
from lapsus.store import open_store


def states(db: Path) -> tuple[int, dict[str, tuple[str, str]]]:
    done = CliRunner().invoke(app, ["doctor", "--db", str(db), "--json"])
    return done.exit_code, {one["check"]: (one["state"], one["found"]) for one in json.loads(done.stdout)}


def test_a_sound_installation(tmp_path: Path) -> None:
    db = tmp_path / "a.sqlite"
    code, found = states(db)
    assert code == 0
    assert "first start makes it" in found["database"][1]
    assert not db.exists()
    assert {found[name][0] for name in ("packages", "disk", "detector en", "detector ja")} == {"ok"}
    with open_store(db) as store:
        store.people.add("Ada")
    _, found = states(db)
    assert found["database"][0] == "ok"
    assert found["database"][1].endswith(": people: 1; campaigns: 0; judgments: 0")


def test_an_older_database_is_told_and_left_alone(tmp_path: Path) -> None:
    db = tmp_path / "a.sqlite"
    open_store(db).close()
    with closing(sqlite3.connect(db)) as conn:
        conn.execute("UPDATE schema_version SET version = '0'")
        conn.commit()
    code, found = states(db)
    assert (code, found["database"][0]) == (0, "warning")
    with closing(sqlite3.connect(db)) as conn:
        assert conn.execute("SELECT version FROM schema_version").fetchone() == ("0",)


def test_a_damaged_database_is_an_error(tmp_path: Path) -> None:
    db = tmp_path / "a.sqlite"
    db.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    code, found = states(db)
    assert (code, found["database"][0]) == (1, "error")


def test_a_large_reader_that_was_not_installed_as_a_package_goes_by_its_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Reader:
        digest = "0123abcd"

        def said(self, passages: list[object]) -> None:
            assert passages

    def no_metadata(package: str) -> str:
        raise PackageNotFoundError(package)

    monkeypatch.setattr("lapsus.annotators.encoder.large_reader.is_installed", lambda: True)
    monkeypatch.setattr("lapsus.annotators.encoder.large_reader.large_reader", Reader)
    monkeypatch.setattr("importlib.metadata.version", no_metadata)
    _, found = states(tmp_path / "a.sqlite")
    assert found["large reader"] == ("ok", "lapsus-large 0123abcd answers")


def test_looking_makes_no_folder(tmp_path: Path) -> None:
    own = {"HOME": str(tmp_path), "XDG_DATA_HOME": "", "LOCALAPPDATA": str(tmp_path), "LAPSUS_DB": None}
    done = CliRunner().invoke(app, ["doctor"], env=own)
    assert done.exit_code == 0, done.output
    assert list(tmp_path.iterdir()) == []


def test_a_database_that_does_not_answer_is_told_in_the_readers_language() -> None:
    command = ["--words", "ja", "doctor", "--db", "postgresql://a:b@127.0.0.1:9/c"]
    done = CliRunner().invoke(app, command)
    said = "".join(done.stdout.split())
    assert done.exit_code == 1
    assert "127.0.0.1:9/c：開けません：" in said
    assert "アドレスが正しいかを確かめてください" in said


def test_the_table_is_in_the_readers_language(tmp_path: Path) -> None:
    db = tmp_path / "a.sqlite"
    open_store(db).close()
    with closing(sqlite3.connect(db)) as conn:
        conn.execute("UPDATE schema_version SET version = '0'")
        conn.commit()
    english, japanese = (
        CliRunner().invoke(app, ["--words", language, "doctor", "--db", str(db)]).stdout
        for language in ("en", "ja")
    )
    assert english.split()[:3] == ["what", "state", "found"]
    assert "(the next start brings it up to date, after a copy)" in " ".join(english.split())
    for words in (
        "項目",
        "データベース",
        "注意",
        "（版 0、最新は ",
        "控えを取ってから新しくします",
        "必要なものはそろっています",
    ):
        assert words in "".join(japanese.split("\n")), japanese
    for words in ("ok", "free at", "people", "packages", "answers"):
        assert words not in japanese
