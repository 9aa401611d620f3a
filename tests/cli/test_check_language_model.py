"""`lapsus check --with openai:MODEL`, on a stub."""

from __future__ import annotations

import json
import os
import signal
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
from tests.patience import until


def check(data: Path, endpoint: str, *more: str) -> Any:
    arguments = ["check", str(data), "--with", "openai:tiny", "--endpoint", endpoint, *more]
    return CliRunner().invoke(app, arguments, catch_exceptions=False)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Answers are kept where one is."""
    made = tmp_path / "here"
    made.mkdir()
    monkeypatch.chdir(made)
    return made


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
    assert (found["by"], found["dialogues"], found["turns"], found["likely"]) == (
        "openai:tiny",
        2,
        4,
        2,
    )
    assert {one["label"] for one in found["findings"] if one["likely"]} == {"X"}
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
    before = signal.getsignal(signal.SIGINT)

    def server(body: dict[str, Any]) -> Said:
        os.kill(os.getpid(), signal.SIGINT)
        until(lambda: signal.getsignal(signal.SIGINT) is before)
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


def texts(bodies: list[dict[str, Any]]) -> list[str]:
    """The turns that a server was asked about."""
    return [json.loads(body["messages"][1]["content"])["target"]["text"] for body in bodies]


def cut_off(after: int) -> Any:
    """A server that answers so many requests, and then lets nobody in any more."""
    left = iter(range(after))
    return lambda body: refusal(401, "no more") if next(left, None) is None else by_text(body)


def broken_off(data: Path, endpoint: str, *more: str) -> str:
    """A check during which the server ends; what was told."""
    command = ["check", str(data), "--with", "openai:tiny", "--endpoint", endpoint, "--parallel", "1", *more]
    done = CliRunner().invoke(app, command)
    assert isinstance(done.exception, ServiceError)
    return done.stderr


def test_a_check_that_was_cut_off_goes_on(data: Path, tmp_path: Path, folder: Path) -> None:
    whole, gone_on = tmp_path / "whole.html", tmp_path / "gone-on.html"
    with serving(by_text) as stub:
        uncut = check(data, stub.endpoint, "--json", "--html", str(whole))
        (kept,) = folder.iterdir()
        kept.unlink()
        stub.answer = cut_off(3)
        assert f"3 answers of openai:tiny are kept in {kept.name}; the same" in broken_off(
            data, stub.endpoint
        )
        stub.answer, before = by_text, len(stub.asked)
        done = check(data, stub.endpoint, "--json", "--html", str(gone_on))
        rest = stub.asked[before:]
    assert kept.name == "chats.jsonl.tiny.answers"
    assert len(rest) == 1
    assert f"{kept.name} holds 3 answers about DATA; 1 units are left" in done.stderr
    assert "1 units, with their context, go to 127.0.0.1" in done.stderr
    assert "100 + 10 = 110 tokens" in done.stderr
    assert (done.exit_code, done.stdout) == (0, uncut.stdout)
    assert gone_on.read_bytes() == whole.read_bytes()


def test_what_is_known_is_not_asked_again(data: Path, folder: Path) -> None:
    with serving(by_text) as stub:
        first = check(data, stub.endpoint, "--words", "en")
        assert "the next check asks for what changed only" in first.stderr
        again = check(data, stub.endpoint, "--words", "en")
        shorter = check(data, stub.endpoint, "--top", "1", "--json")
    assert len(stub.asked) == 4
    assert again.stdout == first.stdout
    assert "go to" not in again.stderr
    assert len(json.loads(shorter.stdout)["findings"]) == 1


def test_nothing_is_sent_elsewhere_where_nothing_is_left_to_ask(data: Path, folder: Path) -> None:
    """Nor is anybody asked for leave."""
    with serving(by_text) as stub:
        check(data, stub.endpoint)
        (kept,) = folder.iterdir()
        host = stub.endpoint.removeprefix("http://").removesuffix("/v1")
    kept.write_text(kept.read_text().replace(host, "model.invalid"))
    done = check(data, "http://model.invalid/v1", "--json")
    assert (done.exit_code, json.loads(done.stdout)["turns"]) == (0, 4)
    with pytest.raises(UsageError, match="nobody said"):
        check(data, "http://model.invalid/v1", "--temperature", "1")


def test_only_what_changed_is_asked_again(data: Path, folder: Path) -> None:
    def wanted(*more: str) -> list[str]:
        before = len(stub.asked)
        assert check(data, stub.endpoint, *more).exit_code == 0
        return texts(stub.asked[before:])

    with serving(by_text) as stub:
        turns = wanted()
        assert len(turns) == 4
        for other in (("--examples", "0"), ("--temperature", "0.5"), ("--with", "openai:other")):
            assert len(wanted(*other)) == 4
            assert wanted(*other) == []
        assert wanted() == []  # the answers of before are still there
        data.write_text(data.read_text().replace("fun", "funny", 1))
        assert wanted() == [turn.replace("fun", "funny") for turn in turns if "fun" in turn][:1]
        assert wanted() == []
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["chats.jsonl.other.answers", "chats.jsonl.tiny.answers"]


def test_logs_of_one_name_do_not_spoil_each_other(data: Path, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere" / data.name
    other.parent.mkdir()
    other.write_text(data.read_text().replace("fun", "dull"))
    with serving(by_text) as stub:
        for log in (data, other, data, other):
            assert check(log, stub.endpoint).exit_code == 0
    assert len(stub.asked) == 6  # the first turns are the same in both


def test_a_folder_is_checked_from_within_twice(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept there is no log."""
    logs = data.parent / "logs"
    logs.mkdir()
    data.rename(logs / data.name)
    monkeypatch.chdir(logs)
    with serving(by_text) as stub:
        found = [check(Path(), stub.endpoint, "--json") for _ in range(2)]
    assert len(stub.asked) == 4
    assert found[0].stdout == found[1].stdout
    assert (logs / "logs.tiny.answers").is_file()


def test_what_could_not_be_judged_is_asked_again(data: Path) -> None:
    with serving(lambda body: completion("no idea") if len(stub.asked) < 4 else by_text(body)) as stub:
        assert check(data, stub.endpoint, "--parallel", "1").exit_code == 1
        before = len(stub.asked)
        assert check(data, stub.endpoint, "--parallel", "1").exit_code == 0
        assert len(stub.asked) == before + 1


def test_pairs_and_models_with_strokes_in_their_names(tmp_path: Path, folder: Path) -> None:
    data = tmp_path / "pairs.jsonl"
    convert((Entry(id, pair(id=id)) for id in ("p1", "p2")), data, "jsonl")
    command = ["check", str(data), "--with", "openai:org/tiny", "--words", "en", "--endpoint"]
    with serving(lambda _: completion(right("semantic-errors", "en")[0])) as stub:
        found = [CliRunner().invoke(app, [*command, stub.endpoint]).stdout for _ in range(2)]
    assert found[0] == found[1]
    assert len(stub.asked) == 2
    assert [path.name for path in folder.iterdir()] == ["pairs.jsonl.org%2Ftiny.answers"]


def test_where_nothing_can_be_kept_the_log_is_looked_over_all_the_same(data: Path, folder: Path) -> None:
    (folder / "chats.jsonl.tiny.answers").mkdir()
    with serving(by_text) as stub:
        done = check(data, stub.endpoint)
    assert (done.exit_code, len(stub.asked)) == (0, 4)
    assert "what the model says is not kept for another check" in done.stderr
