"""`lapsus check --with openai:MODEL`, on a stub."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lapsus.annotators.language_model.service import ServiceError
from lapsus.cli.app import app
from lapsus.errors import UsageError
from lapsus.formats import convert
from lapsus.model import Entry
from tests.annotators.language_model.helpers import chat, pair, right
from tests.annotators.language_model.stub import Said, completion, refusal, serving


def check(data: Path, endpoint: str, *more: str) -> Any:
    arguments = ["check", str(data), "--with", "openai:tiny", "--endpoint", endpoint, *more]
    return CliRunner().invoke(app, arguments, catch_exceptions=False)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "chats.jsonl"
    convert((Entry(id, chat(id=id)) for id in ("c1", "c2")), path, "jsonl")
    return path


def by_text(body: dict[str, Any]) -> Said:
    target = json.loads(body["messages"][1]["content"])["target"]["text"]
    return completion({"breakdown": "X" if "fun" in target else "O", "comment": None})


def test_its_breakdowns_are_listed(data: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    with serving(by_text) as stub:
        done = check(data, stub.endpoint, "--json", "--html", str(page))
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    assert (found["by"], found["dialogues"], found["turns"], found["standing_out"]) == (
        "openai:tiny",
        2,
        4,
        2,
    )
    assert {one["label"] for one in found["findings"]} == {"X"}
    assert len(stub.asked) == 4
    assert "openai:tiny" in page.read_text(encoding="utf-8")


def test_pairs_are_asked_about_under_their_own_guideline(tmp_path: Path) -> None:
    data, page = tmp_path / "pairs.jsonl", tmp_path / "pairs.html"
    convert((Entry(id, pair(id=id)) for id in ("p1", "p2")), data, "jsonl")

    def server(body: dict[str, Any]) -> Said:
        return completion(right("semantic-errors", "en")[0] if not stub.asked[1:] else "no idea")

    with serving(server) as stub:
        done = check(data, stub.endpoint, "--html", str(page), "--parallel", "1", "--words", "en")
    assert done.exit_code == 1
    assert "pairs that were not judged, and are not in this report: 1" in done.stdout
    assert "| [-Orsk-]" in done.stdout
    assert "are not in this report: 1" in page.read_text(encoding="utf-8")


def test_what_it_could_not_judge_is_told(data: Path) -> None:
    def server(body: dict[str, Any]) -> Said:
        said = by_text(body)
        return completion("no idea") if "Hello" in body["messages"][1]["content"].split("target")[1] else said

    with serving(server) as stub:
        done = check(data, stub.endpoint, "--words", "en")
        told = json.loads(check(data, stub.endpoint, "--json").stdout)
    assert done.exit_code == 1
    assert "no answer that can be taken" in done.stderr
    assert "2 of 4 units were not judged" in done.stderr
    assert "system turns that were not judged, and are not in this report: 2" in done.stdout
    assert (told["turns"], told["unjudged"]) == (2, 2)


def test_a_report_that_was_stopped_says_what_it_is_not_about(data: Path, tmp_path: Path) -> None:
    def server(body: dict[str, Any]) -> Said:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)
        return by_text(body)

    page = tmp_path / "report.html"
    with serving(server) as stub:
        done = check(data, stub.endpoint, "--parallel", "1", "--words", "ja", "--html", str(page))
    assert (done.exit_code, len(stub.asked)) == (1, 1)
    assert "3 of 4 units were not judged" in done.stderr
    assert "判定されていないシステム発話が3件" in page.read_text(encoding="utf-8")


def test_a_server_that_is_broken_is_an_error(data: Path) -> None:
    with serving(lambda _: refusal(401, "who are you?")) as stub, pytest.raises(ServiceError):
        check(data, stub.endpoint)


def test_options_that_do_not_fit_are_refused(data: Path) -> None:
    with pytest.raises(UsageError, match="no profiles"):
        check(data, "http://127.0.0.1:9/v1", "--profile", "dbdc3")
    with pytest.raises(UsageError, match="for language models"):
        CliRunner().invoke(app, ["check", str(data), "--samples", "3"], catch_exceptions=False)
