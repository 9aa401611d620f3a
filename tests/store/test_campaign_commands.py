"""`lapsus campaign`, as one types it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lapsus.cli.app import app
from lapsus.errors import LapsusError, UsageError
from lapsus.formats import convert
from lapsus.model import Entry, Judgment
from lapsus.samples import sample_path
from lapsus.store import Nothing, Plan, open_store, read_plan
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
        assert store.units.get("spring", unit).document == "t0"


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
    open_store(desk.db).close()
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
        store.campaigns.add_people("spring", ["avery", "blake"])
        assert len(reserve(store, avery, "spring")) == 2
    assert "spring is paused" in desk.run("pause", "spring")
    assert "2 units" in desk.run("release", "spring", "avery")
    desk.run("open", "spring")
    desk.run("stop", "spring", "avery")
    desk.run("message", "spring", "Please read section 2.", "--to", "blake")
    with open_store(desk.db) as store:
        assert store.assignment.next_units(avery, "spring") == Nothing("stopped")
        assert [message.text for message in store.messages.unread(blake)] == ["Please read section 2."]
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
        assert store.progress.of_campaign("spring").done == 0
        assert [person.name for person in store.people.all()] == ["floor"]


def test_a_detector_judges_under_the_profile_that_is_asked_for(desk: Desk) -> None:
    from lapsus.annotators import find_annotator

    desk.run("create", "spring", "--scheme", "breakdown", "--data", str(desk.folder / "chats.jsonl"))
    model = find_annotator("breakdown-en")
    for profile, more in (("general", ()), ("dbdc5", ("--profile", "dbdc5"))):
        desk.run("annotate", "spring", "--with", "breakdown-en", "--as", profile, *more)
        with open_store(desk.db) as store:
            judged = list(store.exports.export("spring", programs=True, names="names"))
        expected = list(model.under(profile).judge(entry.document for entry in judged if entry.document))
        kept = [one for entry in judged for one in entry.judgments if one.annotator == profile]
        assert [one.distributions for one in kept] == [one.distributions for one in expected]
    with pytest.raises(LapsusError, match="no profile 'generall'"):
        desk.run("annotate", "spring", "--with", "breakdown-en", "--profile", "generall")
    with pytest.raises(LapsusError, match="a language model has no profiles"):
        desk.run("annotate", "spring", "--with", "openai:tiny", "--profile", "general")


def votes(document: str, *turns: tuple[str, str]) -> tuple[Judgment, ...]:
    """Votes on breakdown: for each turn, a label a person."""
    return tuple(
        Judgment(document, segment, f"p{place}", "breakdown", "1.0", {"breakdown": label})
        for segment, labels in turns
        for place, label in enumerate(labels)
    )


def test_only_target_turns_are_judged_where_votes_came_along(desk: Desk) -> None:
    """The audit's case: the sample's votes choose 42 of its 100 turns."""
    data = ["--scheme", "error-types", "--data", str(sample_path("dialogues-en"))]
    made = json.loads(desk.run("create", "types", *data, "--json"))
    assert made["units"] == 42
    assert made["targets"] == {"judged": 100, "chosen": 42}
    assert "42 of 100 turns are targets" in desk.run("create", "again", *data)
    everything = json.loads(desk.run("create", "all", *data, "--all-turns", "--json"))
    assert (everything["units"], everything["targets"]) == (100, None)
    assert "all_turns: true" in desk.run("plan", "all")


def test_documents_without_votes_are_judged_whole_with_a_warning(desk: Desk) -> None:
    entries = [Entry(name, dialogue(name, 2)) for name in ("a", "b")]
    voted = Entry("c", dialogue("c", 2), votes("c", ("0", "OOX"), ("2", "XTO")))
    data = str(desk.write("mixed.jsonl", *entries, voted))
    options = ["campaign", "create", "x", "--scheme", "error-types", "--data", data, "--db", str(desk.db)]
    result = CliRunner().invoke(app, options)
    assert "1 of 2 turns are targets" in result.stdout
    assert "2 documents hold no votes under 'breakdown'" in result.stderr
    assert "5 units" in result.stdout
    more = desk.write("more.jsonl", Entry("e", dialogue("e", 2), votes("e", ("0", "TX"), ("2", "OO"))))
    assert "1 units more" in desk.run("add", "x", str(more))


def test_who_forgot_the_database_is_told_where_was_looked(desk: Desk) -> None:
    open_store(desk.db).close()
    with pytest.raises(UsageError) as empty:
        desk.run("invite", "mychats")
    assert (empty.value.where, empty.value.what) == (str(desk.db), "no campaign is called 'mychats'")
    assert empty.value.hint == "`lapsus campaign create` makes one; --db names another database"
    assert empty.value.in_language("ja").hint == (
        "`lapsus campaign create` で作れます。ほかのデータベースは --db で指定できます"
    )
    desk.run("create", "spring", "--scheme", "breakdown", "--data", str(desk.folder / "chats.jsonl"))
    with pytest.raises(UsageError) as other:
        desk.run("show", "mychats")
    assert other.value.hint == "known: spring; --db names another database"


@pytest.mark.parametrize(
    "arguments", [["list"], ["show", "x"], ["invite", "x"], ["plan", "x"], ["close", "x"]]
)
def test_a_command_that_makes_no_campaign_makes_no_database(desk: Desk, arguments: list[str]) -> None:
    with pytest.raises(UsageError, match=r"a\.sqlite: there is no database \(--db names another"):
        desk.run(*arguments)
    assert not desk.db.exists()


def test_votes_that_choose_nothing_make_no_campaign(desk: Desk) -> None:
    data = str(desk.write("fine.jsonl", Entry("a", dialogue("a", 2), votes("a", ("0", "OO"), ("2", "OO")))))
    with pytest.raises(LapsusError, match="none of its 2 judged turns is a target"):
        desk.run("create", "x", "--scheme", "error-types", "--data", data)
    assert json.loads(desk.run("list", "--json")) == []


def test_a_judged_corpus_is_imported_and_chained(desk: Desk) -> None:
    data = str(desk.write("dbdc.jsonl", Entry("a", dialogue("a", 2), votes("a", ("0", "OOX"), ("2", "XTO")))))
    desk.run("create", "votes", "--scheme", "breakdown", "--data", data)
    done = json.loads(desk.run("import", "votes", data, "--json"))
    assert (done["judgments"], done["people"], done["known"], done["broken"]) == (6, 3, 0, 0)
    again = json.loads(desk.run("import", "votes", data, "--json"))
    assert (again["judgments"], again["people"], again["known"]) == (0, 0, 6)
    chained = json.loads(desk.run("create", "types", "--scheme", "error-types", "--chain", "votes", "--json"))
    assert chained["units"] == 1
    assert chained["targets"]["chosen"] == 1
    assert chained["targets"]["judged"] > 1


def test_an_import_that_breaks_the_guideline_is_refused_whole(desk: Desk) -> None:
    good = votes("a", ("0", "OX"))
    bad = Judgment("a", "2", "p9", "breakdown", "1.0", {"breakdown": "maybe"})
    data = str(desk.write("bad.jsonl", Entry("a", dialogue("a", 2), (*good, bad))))
    desk.run("create", "votes", "--scheme", "breakdown", "--data", data)
    with pytest.raises(LapsusError, match="1 of 3 judgments break the guideline"):
        desk.run("import", "votes", data)
    assert json.loads(desk.run("show", "votes", "--json"))["done"] == 0
    done = json.loads(desk.run("import", "votes", data, "--drop-broken", "--json"))
    assert (done["judgments"], done["broken"], done["people"]) == (2, 1, 2)


def test_a_report_says_how_many_judgments_break_the_guideline(desk: Desk) -> None:
    bad = Judgment("a", "2", "p9", "breakdown", "1.0", {"breakdown": "maybe"})
    with open_store(desk.db) as store:
        store.campaigns.set_up(Plan("votes", "breakdown"), [dialogue("a", 2)])
        entry = Entry("a", None, (*votes("a", ("0", "OX"), ("2", "TO")), bad))
        store.imports.add_judgments("votes", [entry], check=False)
    command = ["report", "votes", "-o", str(desk.folder / "r.html"), "--db", str(desk.db), "--json"]
    result = CliRunner().invoke(app, command)
    assert json.loads(result.stdout)["broken"] == 1, result.output
    assert "1 judgments of the campaign break the guideline" in result.stderr
    result = CliRunner().invoke(app, [*command, "--drop-broken", "--overwrite"])
    assert "1 judgments of the campaign break the guideline and were left out" in result.stderr
    written = (desk.folder / "r.html").read_text(encoding="utf-8")
    assert "judgments left out: they break the guideline" in written
    assert "|broken:1 left out|lapsus:" in written
    assert "raters:2|" in written
    # The campaign itself is as it was.
    with open_store(desk.db) as store:
        progress = store.progress.of_campaign("votes")
        assert (progress.done, progress.surplus) == (2, 3)
