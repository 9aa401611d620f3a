"""`lapsus campaign`, as one types it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lapsus.cli.app import app
from lapsus.errors import LapsusError
from lapsus.formats import convert
from lapsus.model import Entry, Judgment
from lapsus.store import Nothing, open_store, read_plan
from tests.store.helpers import dialogue, judge_all, people, reserve


class Desk:
    """A folder with data and a database."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.db = folder, folder / "a.sqlite"
        self.write("chats.jsonl", *(Entry(f"d{n}", dialogue(f"d{n}", 2)) for n in range(4)))

    def write(self, name: str, *entries: Entry) -> Path:
        convert(iter(entries), self.folder / name)
        return self.folder / name

    def plan(self, text: str) -> str:
        (self.folder / "plan.yaml").write_text(text, encoding="utf-8")
        return str(self.folder / "plan.yaml")

    def run(self, *arguments: str) -> str:
        result = CliRunner().invoke(app, ["campaign", *arguments, "--db", str(self.db)])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == 0, result.output
        return result.stdout


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_campaign_from_options_and_the_same_from_its_plan(desk: Desk) -> None:
    data = str(desk.folder / "chats.jsonl")
    said = desk.run(
        "create", "spring", "--scheme", "breakdown", "--data", data, "--per-unit", "3", "--pilot", "1"
    )
    assert "4 documents, 2 units to judge 6 times" in said
    out = desk.folder / "spring.yaml"
    desk.run("plan", "spring", "-o", str(out))
    assert read_plan(out).per_unit == 3
    desk.run("create", "again", "--plan", str(out), "--per-unit", "2")
    rows = json.loads(desk.run("list", "--json"))
    assert [(row["name"], row["wanted"], row["stage"]) for row in rows] == [
        ("spring", 6, "pilot"),
        ("again", 4, "pilot"),
    ]
    assert "6 units more" in desk.run("main", "spring")
    assert desk.run("plan", "again").replace("again", "spring").replace("2", "3", 1) == out.read_text(
        encoding="utf-8"
    )


def test_paths_in_a_plan_start_from_its_folder(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    known = Judgment(
        "t0", "0", "a", "breakdown", "1.0", {"breakdown": "X"}, metadata={"feedback": "No way on."}
    )
    desk.write("known.jsonl", Entry("t0", dialogue("t0", 1), (known,)))
    plan = desk.plan("name: spring\nscheme: breakdown\ndata: chats.jsonl\ntraining: {file: known.jsonl}\n")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert "5 documents, 8 units" in desk.run("create", "--plan", plan)
    with open_store(desk.db) as store:
        (me,) = people(store, "avery")
        (unit,) = reserve(store, me, "spring")
        assert store.unit("spring", unit).document == "t0"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["create", "x", "--scheme", "breakdwn", "--data", "{d}"], "did you mean 'breakdown'"),
        (["create", "x", "--scheme", "breakdown"], "needs documents"),
        (["create", "x", "--scheme", "breakdown", "--data", "nowhere.jsonl"], "no such file"),
        (["create", "x", "--data", "{d}"], "--scheme is missing"),
        (["create", "--scheme", "breakdown", "--data", "{d}"], "NAME is missing"),
        (["create", "X Y", "--scheme", "breakdown", "--data", "{d}"], "no short name"),
        (["create", "x", "--scheme", "breakdown", "--data", "{d}", "--who", "them"], "them"),
        (["create", "x", "--scheme", "breakdown", "--data", "{d}", "--person", "nobody"], "nobody is called"),
        (["create", "x", "--scheme", "error-types", "--chain", "y"], "no campaign is called 'y'"),
        (["create", "x", "--scheme", "breakdown", "--lang", "en"], "--data too"),
        (["create", "--plan", "{p}", "--data", "{d}"], "training names a unit that is not there"),
        (["show", "x"], "no campaign"),
        (["annotate", "x", "--with", "nothing"], "neither a model's file nor a method"),
        (["invite", "x", "--for", "elsewhere"], "no platform"),
    ],
)
def test_mistakes_get_a_message_and_make_nothing(desk: Desk, arguments: list[str], message: str) -> None:
    plan = desk.plan(
        "name: x\nscheme: breakdown\ntraining:\n  units: [{document: d9, answers: {breakdown: O}}]\n"
    )
    places = {"d": str(desk.folder / "chats.jsonl"), "p": plan}
    with pytest.raises(LapsusError, match=message):
        desk.run(*(argument.format(**places) for argument in arguments))
    assert json.loads(desk.run("list", "--json")) == []


def test_known_answers_with_many_judgments_are_refused(desk: Desk) -> None:
    twice = tuple(Judgment("t0", "0", who, "breakdown", "1.0", {"breakdown": "X"}) for who in "ab")
    desk.write("known.jsonl", Entry("t0", dialogue("t0", 1), twice))
    plan = desk.plan("name: x\nscheme: breakdown\ndata: chats.jsonl\ngold: {file: known.jsonl}\n")
    with pytest.raises(LapsusError, match=r"gold, document 't0', segment '0': is judged more than once"):
        desk.run("create", "--plan", plan)


def test_running_a_campaign(desk: Desk) -> None:
    data = str(desk.folder / "chats.jsonl")
    desk.run(
        "create", "spring", "--scheme", "breakdown", "--data", data, "--who", "open", "--title", "Spring"
    )
    with open_store(desk.db) as store:
        avery, blake = people(store, "avery", "blake")
        store.add_people("spring", ["avery", "blake"])
        assert len(reserve(store, avery, "spring")) == 2
    assert "spring is paused" in desk.run("pause", "spring")
    assert "2 units" in desk.run("release", "spring", "avery")
    desk.run("open", "spring")
    desk.run("stop", "spring", "avery")
    desk.run("message", "spring", "Please read section 2.", "--to", "blake")
    with open_store(desk.db) as store:
        assert store.next_units(avery, "spring") == Nothing("stopped")
        assert [message.text for message in store.unread(blake)] == ["Please read section 2."]
        assert judge_all(store, blake, "spring") == 8
    desk.run("resume", "spring", "avery")
    link = desk.run("invite", "spring", "--any", "--for", "mturk", "--at", "https://x.example/").strip()
    assert link.startswith("https://x.example/join/")
    assert link.endswith("?workerId=${workerId}&assignmentId=${assignmentId}&hitId=${hitId}")
    more = desk.write("more.jsonl", Entry("e0", dialogue("e0", 1)), Entry("d0", dialogue("d0", 2)))
    assert "1 documents, 1 units more; 1 were there" in desk.run("add", "spring", str(more))
    shown: dict[str, Any] = json.loads(desk.run("show", "spring", "--json"))
    assert (shown["done"], shown["wanted"], [who["name"] for who in shown["people"]]) == (
        8,
        9,
        ["avery", "blake"],
    )
    desk.run("close", "spring")
    assert json.loads(desk.run("list", "--json"))[0]["state"] == "closed"


def test_a_detector_judges_and_goes_on_where_it_stopped(desk: Desk) -> None:
    from lapsus.annotators import make_annotator, training_data

    judged = [
        Entry(
            f"d{n}",
            dialogue(f"d{n}", 2),
            tuple(
                Judgment(f"d{n}", s, "a", "breakdown", "1.0", {"breakdown": "OTX"[n % 3]}) for s in ("0", "2")
            ),
        )
        for n in range(6)
    ]
    model = desk.folder / "prior.lapsus"
    make_annotator("prior").fit(*training_data(judged)).save(model)
    data = str(desk.folder / "chats.jsonl")
    desk.run("create", "spring", "--scheme", "breakdown", "--data", data)
    said = json.loads(desk.run("annotate", "spring", "--with", str(model), "--as", "floor", "--json"))
    assert said == {"program": "floor", "documents": 4, "judgments": 8}
    again = json.loads(desk.run("annotate", "spring", "--with", str(model), "--as", "floor", "--json"))
    assert again == {"program": "floor", "documents": 0, "judgments": 0}
    desk.run("create", "types", "--scheme", "error-types", "--chain", "spring")
    with pytest.raises(LapsusError, match="judges under 'breakdown'"):
        desk.run("annotate", "types", "--with", str(model))
    with open_store(desk.db) as store:
        assert store.progress("spring").done == 0
        assert [person.name for person in store.people()] == ["floor"]
