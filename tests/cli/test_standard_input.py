"""Commands whose data comes on standard input: read once, though some commands look at it twice."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from typer.main import get_command
from typer.testing import CliRunner, Result

from lapsus.cli.app import app
from lapsus.formats.remote import location
from lapsus.samples import sample_path

DATA = ("DATA", "DATA…", "IN", "GOLD", "RUN…", "CHATLOG", "JUDGED")


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """A command with a sample on its standard input."""
    monkeypatch.chdir(tmp_path)
    content = sample_path("dialogues-en").read_bytes()

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(app, list(arguments), input=zstandard.compress(content))

    return run


@pytest.mark.parametrize(
    "arguments",
    [
        ("gold", "-", "gold.jsonl", "--scheme", "breakdown"),
        ("agree", "-", "--scheme", "breakdown"),
        ("validate", "-"),
        ("convert", "-", "out.jsonl"),
        ("campaign", "create", "c", "--scheme", "breakdown", "--data", "-", "--db", "c.sqlite"),
    ],
)
def test_data_on_standard_input(arguments: tuple[str, ...], given: Callable[..., Result]) -> None:
    result = given(*arguments)
    assert result.exit_code == 0, result.output
    assert "lapsus-" not in result.output
    assert "standard-input." not in result.output


def test_push_cannot_ask_there(given: Callable[..., Result]) -> None:
    result = given("push", "langfuse", "-", "--url", "https://langfuse.example.org")
    assert result.exit_code != 0
    assert "--yes" in str(result.exception)


def test_every_command_that_reads_data_takes_addresses_whole() -> None:
    def parameters(command: Any, path: str) -> Any:
        yield from ((path, one) for one in command.params)
        for name, inner in getattr(command, "commands", {}).items():
            yield from parameters(inner, f"{path} {name}")

    found = [pair for pair in parameters(get_command(app), "lapsus") if pair[1].metavar in DATA]
    assert len(found) > 15
    for path, parameter in found:
        assert getattr(parameter.type, "func", None) is location, (path, parameter.name)


def test_a_signature_is_not_kept_with_the_campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    import fsspec

    with fsspec.open("memory://room/secret@chats?sig=secret.jsonl", "wb") as stream:
        stream.write(sample_path("dialogues-en").read_bytes())
    address = "memory://room/secret@chats?sig=secret.jsonl"
    arguments = ["campaign", "create", "c", "--scheme", "breakdown", "--data", address, "--db", "c.sqlite"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    with sqlite3.connect("c.sqlite") as database:
        kept = "".join(database.iterdump())
    assert "memory://room" in kept
    assert "sig=secret" not in kept
