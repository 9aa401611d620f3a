"""Language models in campaigns, from the command line: `lapsus campaign annotate`."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from lapsus.errors import LapsusError, UsageError
from lapsus.formats import read
from lapsus.schemes import scheme_names
from lapsus.store import Plan, open_store
from tests.annotators.language_model.helpers import chat, document, right
from tests.annotators.language_model.stub import Said, Stub, completion, script, serving
from tests.cli.test_language_models import answered, labels, lapsus
from tests.patience import until
from tests.store.helpers import judge_all


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LAPSUS_API_KEY", raising=False)
    return tmp_path


@pytest.fixture
def stub() -> Iterator[Stub]:
    with serving(answered) as found:
        yield found


class Desk:
    """A campaign in a database."""

    def __init__(self, folder: Path, scheme: str = "breakdown", **plan: Any) -> None:
        self.db = str(folder / "a.sqlite")
        with open_store(self.db) as store:
            store.campaigns.create(Plan(name="spring", scheme=scheme, **plan))
            about = document(scheme, "en")
            more = [] if scheme in ("semantic-errors", "preference") else [chat("ja", "c2")]
            store.campaigns.add_documents("spring", [about, *more])

    def annotate(self, stub: Stub, *more: str, name: str = "spring", code: int = 0, **how: Any) -> Result:
        asked = ("--with", "openai:tiny", "--endpoint", stub.endpoint, "--db", self.db)
        return lapsus("campaign", "annotate", name, *asked, *more, code=code, **how)


@pytest.mark.parametrize("name", scheme_names())
def test_a_campaign_under_any_scheme(folder: Path, name: str) -> None:
    said, answers = right(name, "en")
    desk = Desk(folder, name)
    with serving(script(completion(said))) as stub:
        told = desk.annotate(stub, "--lang", "en").stdout
        assert f"openai:tiny judged {len(stub.asked)} of {len(stub.asked)} units of spring" in told
    lapsus("export", "spring", "out.jsonl", "--programs", "--db", desk.db)
    found = [judgment for entry in read(folder / "out.jsonl") for judgment in entry.judgments]
    assert [dict(judgment.answers) for judgment in found] == [answers] * len(stub.asked)
    assert {judgment.metadata["setting"]["language"] for judgment in found} == {"en"}


def test_a_program_in_a_campaign_goes_on_and_suggests(folder: Path) -> None:
    is_broken = True

    def server(body: dict[str, Any]) -> Said:
        is_first = "context" not in json.loads(body["messages"][1]["content"])
        return completion("?") if is_broken and not is_first else answered(body)

    desk = Desk(folder, suggest="openai:tiny")
    with serving(server) as stub:
        said = json.loads(desk.annotate(stub, "--json", code=1).stdout)
        assert (said["units"], said["judgments"]) == (4, 2)
        assert [refused["segment"] for refused in said["refused"]] == ["2", "2"]
        is_broken, before = False, len(stub.asked)
        assert "judged 2 of 2 units" in desk.annotate(stub).stdout
        assert len(stub.asked) == before + 2
        assert "judged 0 of 0 units" in desk.annotate(stub).stdout
        assert len(stub.asked) == before + 2
        with pytest.raises(UsageError, match="another temperature"):
            desk.annotate(stub, "--temperature", "0.5")
        assert "judged 4 of 4" in desk.annotate(stub, "--temperature", "0.5", "--as", "warm").stdout
    with open_store(desk.db) as store:
        assert store.progress.of_campaign("spring").done == 0
        assert [(who.name, who.program) for who in store.members.all("spring")] == [
            ("openai:tiny", True),
            ("warm", True),
        ]
        suggested = store.programs.suggestion("spring", 2)
        assert suggested is not None
        assert (suggested.annotator, suggested.answers) == ("openai:tiny", {"breakdown": "X"})


def test_beside_a_person_in_a_campaign(folder: Path, stub: Stub) -> None:
    desk = Desk(folder)
    with open_store(desk.db) as store:
        judge_all(store, store.people.add("avery").id, "spring", answer="O")
        done = store.progress.of_campaign("spring").done
    desk.annotate(stub)
    with open_store(desk.db) as store:
        assert store.progress.of_campaign("spring").done == done > 0
    lapsus("export", "spring", "both.jsonl", "--programs", "--db", desk.db)
    by = {who for _, _, who in labels(folder / "both.jsonl")}
    assert "openai:tiny" in by
    assert len(by) == 2
    assert "avery" not in (folder / "both.jsonl").read_text(encoding="utf-8")
    each = json.loads(lapsus("agree", "both.jsonl", "--each", "--resamples", "0", "--json").stdout)
    assert "openai:tiny_with_the_rest" in each


def test_started_twice_by_mistake_each_unit_is_kept_once(folder: Path) -> None:
    desk, is_first = Desk(folder), True

    def server(body: dict[str, Any]) -> Said:
        nonlocal is_first
        if is_first:
            is_first = False
            assert "judged 4 of 4 units" in desk.annotate(stub).stdout
        return answered(body)

    with serving(server) as stub:
        said = desk.annotate(stub, "--parallel", "1")
    assert "judged 0 of 4 units" in said.stdout
    assert "4 were judged under the same name meanwhile, and stand" in said.stderr
    lapsus("export", "spring", "out.jsonl", "--programs", "--db", desk.db)
    assert len(labels(folder / "out.jsonl")) == 4


def test_ctrl_c_in_a_campaign_keeps_what_was_judged(folder: Path) -> None:
    def server(body: dict[str, Any]) -> Said:
        if "context" in json.loads(body["messages"][1]["content"]):
            os.kill(os.getpid(), signal.SIGINT)
            until(lambda: signal.getsignal(signal.SIGINT) is before)
        return answered(body)

    desk = Desk(folder)
    before = signal.getsignal(signal.SIGINT)
    with serving(server) as stub:
        said = desk.annotate(stub, "--parallel", "1", code=1)
        assert "judged 2 of 4 units" in said.stdout
        assert "stopped" in said.stderr
        assert signal.getsignal(signal.SIGINT) is before
        stub.answer = answered
        assert "judged 2 of 2 units" in desk.annotate(stub).stdout
    assert len(stub.asked) == 4


def test_only_open_units_are_asked_about(folder: Path) -> None:
    desk = Desk(folder, pilot={"documents": 1})
    with serving(answered) as stub:
        assert "judged 2 of 2 units" in desk.annotate(stub).stdout
        lapsus("campaign", "main", "spring", "--db", desk.db)
        assert "judged 2 of 2 units" in desk.annotate(stub).stdout


def test_a_no_leaves_nothing_behind(folder: Path, stub: Stub) -> None:
    desk = Desk(folder)
    stub.endpoint = "https://model.invalid/v1"
    said = desk.annotate(stub, code=1, input="n\n")
    assert "4 units, with their context, go to model.invalid, another machine\n" in said.stderr
    with open_store(desk.db) as store:
        assert store.people.all() == []


def test_a_persons_name_is_not_taken(folder: Path, stub: Stub) -> None:
    desk = Desk(folder)
    with open_store(desk.db) as store:
        judge_all(store, store.people.add("avery").id, "spring", answer="O")
    with pytest.raises(LapsusError, match="is a person"):
        desk.annotate(stub, "--as", "avery")
    assert stub.asked == []
