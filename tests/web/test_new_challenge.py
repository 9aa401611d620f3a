"""A challenge made in the browser: from a file or a campaign, with every mistake said and nothing half made."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest

from lapsus.challenge.service import create
from lapsus.formats import convert
from lapsus.store import Plan
from lapsus.store.challenge_records import ChallengePlan
from tests.challenge.helpers import gold_set, judged, write_zip
from tests.web.helpers import Bench, Browser

GOLD = gold_set(3, ("en", "ja"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    convert(judged(GOLD), tmp_path / "gold.jsonl")
    return tmp_path / "gold.jsonl"


@pytest.fixture
def mori(bench: Bench) -> Browser:
    return bench.person("Mori", "manager")


def make(person: Browser, file: Path | None = None, **fields: str) -> Any:
    form = {"csrf": person.csrf, "name": "spring", **fields}
    files = {} if file is None else {"file": (file.name, file.read_bytes())}
    return person.http.post("/challenges/new.json", data=form, files=files)


def test_the_form_makes_what_the_command_makes(bench: Bench, mori: Browser, file: Path) -> None:
    plan = {"title_en": "Spring", "title_ja": "春", "threshold": "0.5", "runs": "2", "feedback": "none"}
    assert make(mori, file, **plan).json()["challenge"]["turns"] == {"en": 6, "ja": 6}
    made = bench.store.challenges.get("spring")
    wanted = ChallengePlan("same", {"en": "Spring", "ja": "春"}, 0.5, 2, "none", "gold.jsonl")
    same = create(bench.store, wanted, file)
    assert made.floors == same.floors
    assert bench.store.challenges.gold(made.id) == bench.store.challenges.gold(same.id) == GOLD
    assert (made.plan.title, made.plan.threshold, made.plan.runs, made.plan.feedback, made.plan.source) == (
        wanted.title, 0.5, 2, "none", "gold.jsonl",
    )  # fmt: skip


def test_a_campaigns_votes_are_a_test_set(bench: Bench, mori: Browser) -> None:
    bench.store.campaigns.create(Plan("votes", "breakdown", per_unit=10))
    bench.store.imports.add_judgments("votes", judged(GOLD))
    assert [one["value"] for one in mori.get("/challenges/new.json").json()["campaigns"]] == ["votes"]
    assert make(mori, campaign="votes").status_code == 200
    assert bench.store.challenges.gold(bench.store.challenges.get("spring").id) == GOLD


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": "Not A Name"}, "no short name"),
        ({"threshold": "2"}, "from 0 to 1"),
        ({"threshold": "nan"}, "from 0 to 1"),
        ({"threshold": "half"}, "no number"),
        ({"runs": "0"}, "from 1 to 100"),
        ({"runs": "many"}, "no whole number"),
        ({"feedback": "own"}, "none, overall or all"),
        ({"campaign": "nowhere"}, "nowhere"),
        ({"campaign": "empty"}, "nothing in it is judged"),
    ],
)
def test_what_is_wrong_is_said_and_what_was_typed_stays(
    bench: Bench, mori: Browser, file: Path, fields: dict[str, str], message: str
) -> None:
    bench.campaign(name="empty")
    answer = make(mori, None if "campaign" in fields else file, **fields)
    assert answer.status_code == 422
    assert message in answer.json()["error"]
    assert {name: answer.json()["fields"][name] for name in fields} == fields
    assert bench.store.challenges.all() == []


def test_errors_name_the_file_and_the_turn(
    bench: Bench, mori: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = b"""{"dialogue-id": "d1", "speaker-id": "a", "group-id": "g", "turns": [
        {"turn-index": 0, "speaker": "S", "time": "", "utterance": "hi", "annotations": [
            {"annotator-id": "1", "breakdown": "Q", "ungrammatical-sentence": "O", "comment": ""}]}]}"""
    path = write_zip(tmp_path / "spring gold.zip", {"eval/d1.log.json": broken})
    (tmp_path / "room").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "room"))
    answer = make(mori, path)
    assert answer.status_code == 422
    for part in ("eval/d1.log.json", "turn", "'Q'"):
        assert part in answer.json()["error"]
    assert str(tmp_path) not in answer.text
    assert list((tmp_path / "room").iterdir()) == []


def test_a_name_is_given_once_and_a_file_is_needed(mori: Browser, file: Path) -> None:
    assert "choose a file" in make(mori).json()["error"]
    assert make(mori, file).status_code == 200
    assert "already" in make(mori, file).json()["error"]


def test_only_managers_make_challenges_and_everybody_finds_them(
    bench: Bench, mori: Browser, file: Path
) -> None:
    make(mori, file)
    for person in (bench.person("Ada"), bench.person("Judy", "adjudicator")):
        assert person.get("/challenges/new").status_code == 403
        assert make(person, file, name="mine").status_code == 403
        assert 'href="/challenges"' in person.get("/").text
        page = person.get("/challenges").text
        assert "/challenge/spring" in page
        assert "/challenges/new" not in page
    assert "/challenges/new" in mori.get("/challenges").text
    assert bench.stranger().get("/challenges/new.json").status_code == 401


def test_a_file_and_a_campaign_are_too_much(bench: Bench, mori: Browser, file: Path) -> None:
    bench.store.campaigns.create(Plan("votes", "breakdown", per_unit=10))
    bench.store.imports.add_judgments("votes", judged(GOLD))
    assert "not both" in make(mori, file, campaign="votes").json()["error"]
    assert bench.store.challenges.all() == []


def test_files_are_called_as_their_owner_calls_them(mori: Browser, file: Path) -> None:
    file.write_bytes(file.read_bytes() * 2)
    error = make(mori, file).json()["error"]
    assert "en-0 (gold.jsonl, 2 times)" in error
    assert "upload" not in error


def test_a_large_upload_is_refused_without_being_read(mori: Browser, tmp_path: Path) -> None:
    (tmp_path / "large.jsonl").write_bytes(b" " * 10_100_000)
    assert make(mori, tmp_path / "large.jsonl").status_code == 413
