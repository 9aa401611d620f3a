"""The commands that work on a store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from lapsus.cli.app import app
from lapsus.errors import InputError, LossError, UsageError
from lapsus.formats import read
from lapsus.store import open_store
from tests.store.helpers import campaign, judge_all, people, reserve, save

PHRASE = "correct horse"


def run(url: str, *arguments: str, typed: str = "") -> Result:
    done = CliRunner().invoke(
        app, list(arguments), input=typed, env={"LAPSUS_DB": url}, catch_exceptions=True
    )
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def test_accounts_are_added_listed_and_changed(url: str) -> None:
    run(url, "user", "add", "boss", "--role", "manager", "--lang", "ja", typed=f"{PHRASE}\n")
    run(url, "user", "add", "avery", "--no-password", "--email", "a@example.org")
    people = json.loads(run(url, "user", "list", "--json").stdout)
    assert [(p["name"], p["role"], p["has_password"]) for p in people] == [
        ("boss", "manager", True),
        ("avery", "annotator", False),
    ]
    run(url, "user", "passwd", "avery", typed="battery staple\n")
    run(url, "user", "role", "avery", "adjudicator")
    run(url, "user", "disable", "avery")
    assert "shut out" in run(url, "user", "list").stdout
    run(url, "user", "enable", "avery")
    token = run(url, "user", "token", "avery").stdout.strip()
    link = json.loads(run(url, "user", "invite", "--json").stdout)["path"]
    with open_store(url) as store:
        assert store.access.sign_in("boss", PHRASE) is not None
        found = store.access.sign_in("avery", "battery staple")
        assert found is not None
        assert found.role == "adjudicator"
        assert store.access.person_of_token(token) == found
        assert store.access.invitation(link.removeprefix("/join/")) is not None


def test_mistakes_are_told(url: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="did you mean 'manager'"):
        run(url, "user", "add", "boss", "--role", "manger", "--no-password")
    with pytest.raises(InputError, match="a password has from"):
        run(url, "user", "add", "boss", typed="short\n")
    with pytest.raises(UsageError, match="nobody is called"):
        run(url, "user", "passwd", "nobody", typed=f"{PHRASE}\n")
    with pytest.raises(UsageError, match="no campaign is called"):
        run(url, "export", "nothing", str(tmp_path / "out.jsonl"))
    assert list(tmp_path.glob("out*")) == []


def test_a_campaign_is_exported_with_pseudonyms_unless_told_otherwise(url: str, tmp_path: Path) -> None:
    with open_store(url) as store:
        campaign(store, documents=2)
        (me,) = people(store, "avery")
        judge_all(store, me)
    done = json.loads(run(url, "export", "chat", str(tmp_path / "a.jsonl"), "--json").stdout)
    assert (done["documents"], done["judgments"], done["to"]) == (2, 6, "jsonl")
    assert "avery" not in (tmp_path / "a.jsonl").read_text()
    run(url, "export", "chat", str(tmp_path / "b.jsonl"), "--names")
    entries = list(read(tmp_path / "b.jsonl", "jsonl"))
    assert {judgment.annotator for entry in entries for judgment in entry.judgments} == {"avery"}
    assert "6 judgments" in run(url, "export", "chat", str(tmp_path / "c"), "--to", "dbdc", "--lossy").stdout
    with pytest.raises(UsageError, match="is there already"):
        run(url, "export", "chat", str(tmp_path / "a.jsonl"))


def test_what_a_format_cannot_carry_is_told(url: str, tmp_path: Path) -> None:
    with open_store(url) as store:
        campaign(store, documents=1, turns=1, scheme="error-types")
        (me,) = people(store, "avery")
        save(store, reserve(store, me)[0], me, answers={"types": ("uninterpretable",)})
    with pytest.raises(LossError, match="cannot carry"):
        run(url, "export", "chat", str(tmp_path / "run"), "--to", "dbdc")
    assert list(tmp_path.glob("run*")) == []


def test_a_backup_goes_into_a_new_database(url: str, other_url: str, tmp_path: Path) -> None:
    with open_store(url) as store:
        campaign(store, documents=2)
        judge_all(store, people(store, "avery")[0])
    kept = str(tmp_path / "kept.zip")
    assert "1 people, 1 campaigns, 6 judgments" in run(url, "backup", kept).stdout
    assert json.loads(run(url, "backup", kept, "--overwrite", "--json").stdout)["rows"]["judgment"] == 6
    assert "6 judgments as of" in run(other_url, "restore", kept).stdout
    with open_store(other_url) as back:
        assert back.progress.of_campaign("chat").done == 6
    with pytest.raises(UsageError, match="new database"):
        run(other_url, "restore", kept, "--json")
