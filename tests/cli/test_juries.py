"""Several judges at once: `lapsus detect`, `check` and `challenge run`, each with a row for all as a jury."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lapsus.cli.app import app
from lapsus.errors import InputError, LapsusError, UsageError
from lapsus.formats import read
from lapsus.formats.jsonl import Jsonl
from tests.annotators.language_model.stub import Said, Stub, completion, refusal, serving
from tests.cli.test_language_models import lapsus, votes

SAID = {"one": "X", "two": "X", "three": "O", "four": "T"}


@pytest.fixture
def stub() -> Iterator[Stub]:
    def answer(body: dict[str, Any]) -> Said:
        return completion({"breakdown": SAID[body["model"]], "comment": None})

    with serving(answer) as found:
        yield found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Jsonl().write([votes("c1", "TTX"), votes("c2", "OOT")], tmp_path / "chats.jsonl")
    return tmp_path


def members(stub: Stub, *names: str) -> tuple[str, ...]:
    return (*(word for name in names for word in ("--with", f"openai:{name}")), "--endpoint", stub.endpoint)


def test_a_run_holds_every_member_and_the_jury(stub: Stub, folder: Path) -> None:
    asked = members(stub, "one", "two", "three")
    lapsus("detect", "chats.jsonl", "-o", "run.jsonl", *asked, "--keep")
    said = [judgment for entry in read(folder / "run.jsonl") for judgment in entry.judgments]
    jury = [one for one in said if one.annotator == "jury"]
    assert [(one.answers["breakdown"], one.distributions["breakdown"]["X"]) for one in jury] == [
        ("X", pytest.approx(2 / 3))
    ] * 4
    assert {one.annotator for one in said} >= {"p0", "openai:one", "openai:three", "jury"}
    lapsus("detect", "chats.jsonl", "-o", "run.zip", *asked)
    assert sorted(path.name for path in folder.iterdir()) == ["chats.jsonl", "run.jsonl", "run.zip"]


def test_what_a_member_said_is_not_asked_for_again(stub: Stub, folder: Path) -> None:
    usual = stub.answer
    stub.answer = lambda body: refusal(401) if body["model"] == "two" else usual(body)
    asked = members(stub, "one", "two")
    with pytest.raises(LapsusError, match="401"):
        lapsus("detect", "chats.jsonl", "-o", "run.jsonl", *asked)
    assert not (folder / "run.jsonl").exists()
    stub.answer, before = usual, [body["model"] for body in stub.asked].count("one")
    lapsus("detect", "chats.jsonl", "-o", "run.jsonl", *asked)
    models = [body["model"] for body in stub.asked]
    assert before >= 1
    assert models.count("one") == 4
    assert sorted(path.name for path in folder.iterdir()) == ["chats.jsonl", "run.jsonl"]
    with pytest.raises(UsageError, match="named twice"):
        lapsus("detect", "chats.jsonl", "-o", "again.jsonl", *members(stub, "one", "one"))


def test_a_log_is_checked_by_a_jury(stub: Stub, folder: Path) -> None:
    done = lapsus("check", "chats.jsonl", *members(stub, "one", "three", "two"), "--json")
    found = json.loads(done.stdout)
    assert found["by"] == "jury (openai:one, openai:three, openai:two)"
    with pytest.raises(UsageError, match="a jury is not adapted"):
        lapsus("check", "chats.jsonl", *members(stub, "one", "two"), "--adapt", "chats.jsonl")


def test_language_models_run_in_a_challenge(stub: Stub, folder: Path) -> None:
    db = ("--db", str(folder / "db.sqlite"))
    lapsus("challenge", "create", "spring", "--data", "chats.jsonl", *db)
    alone = lapsus("challenge", "run", "spring", *members(stub, "one"), "--run", "lm", *db, "--json")
    (run,) = json.loads(alone.stdout)
    assert (run["name"], run["without_distribution"]) == ("lm", 4)
    several = lapsus("challenge", "run", "spring", *members(stub, "four", "three"), *db, "--json")
    assert [run["name"] for run in json.loads(several.stdout)] == ["openai:four", "openai:three", "jury"]


def test_a_run_in_a_challenge_goes_on_where_it_was(stub: Stub, folder: Path) -> None:
    usual, db = stub.answer, ("--db", str(folder / "db.sqlite"))
    lapsus("challenge", "create", "spring", "--data", "chats.jsonl", *db)
    command = ["challenge", "run", "spring", *members(stub, "one", "org/six"), *db]
    part = folder / "spring.org%2Fsix.part.jsonl"

    def answer(body: dict[str, Any]) -> Said:
        is_first = "context" not in json.loads(body["messages"][1]["content"])
        return completion("no" if is_first else {"breakdown": "T"}) if "six" in body["model"] else usual(body)

    stub.answer = answer
    done = CliRunner().invoke(app, command)
    assert isinstance(done.exception, InputError)
    assert "2 of 4 turns were not judged" in str(done.exception)
    assert "document 'c2', segment '0': no answer that can be taken" in done.stderr
    assert f"2 answers of openai:org/six are kept in {part.name}; the same command asks for" in done.stderr
    assert "4 answers of openai:one are kept in spring.one.part.jsonl" in done.stderr
    with pytest.raises(UsageError, match="begun with another prompt"):
        lapsus(*command, "--examples", "0")
    stub.answer, before = lambda body: completion({"breakdown": "T"}), len(stub.asked)
    again = lapsus(*command, "--json")
    assert [body["model"] for body in stub.asked[before:]] == ["org/six"] * 2
    assert f"{part.name} holds 2 answers about DATA; 2 units are left" in again.stderr
    assert "200 + 20 = 220 tokens" in again.stderr
    assert [run["name"] for run in json.loads(again.stdout)] == ["openai:one", "openai:org/six", "jury"]
    assert not list(folder.glob("*.part.jsonl"))
