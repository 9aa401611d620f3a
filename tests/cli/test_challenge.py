"""`lapsus challenge` as an organiser uses it."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path

import pytest

from lapsus.challenge.service import entrant, trained_for
from lapsus.cli.challenge import create_command, run_command
from lapsus.cli.challenge_tables import tables_command
from lapsus.errors import UsageError
from lapsus.store import open_store
from tests.cli.in_process import lapsus


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a challenge of two teams."""
    folder = tmp_path_factory.mktemp("challenge")

    def say(*arguments: str) -> str:
        done = lapsus(*arguments, cwd=folder, LAPSUS_DB="store.sqlite")
        assert done.returncode == 0, done.stderr
        return done.stdout

    say("sample", "dialogues-en", "gold.jsonl")
    options = ("--data", "gold.jsonl", "--title", "A try", "-t", "0.5", "--runs", "1", "--feedback", "none")
    made = json.loads(say("challenge", "create", "try", *options, "--json"))
    assert made["languages"] == {"en": {"dialogues": 16, "turns": 100}}
    say("challenge", "publish", "try", "-o", "test.zip")
    for method in ("prior", "majority"):
        say("train", method, "gold.jsonl", "-o", f"{method}.lapsus")
        say("detect", "test.zip", "-o", f"{method}.zip", "--with", f"{method}.lapsus")
    link = json.loads(say("challenge", "team", "try", "Kite", "--json"))
    assert link["path"] == f"/challenge/try/team/{link['token']}"
    say("challenge", "submit", "try", "majority.zip", "--team", "Kite", "--run", "sure")
    say("challenge", "run", "try", "--with", "prior.lapsus")
    return folder


def in_room(room: Path, *arguments: str) -> tuple[int, str, str]:
    done = lapsus("challenge", *arguments, cwd=room, LAPSUS_DB="store.sqlite")
    return done.returncode, done.stdout, done.stderr


def test_the_board_in_every_form(room: Path) -> None:
    _, text, _ = in_room(room, "board", "try", "--by", "jsd")
    assert "1. organisers prior" in text
    assert "(half against half)" in text
    _, text, _ = in_room(room, "board", "try", "--json")
    board = json.loads(text)
    assert {(row["team"], row["name"]) for row in board["rows"]} == {("Kite", "sure"), (None, "prior")}
    assert board["rows"][0]["p"]["jsd"] < 0.05
    assert "t:0.5" in board["signature"]
    _, text, _ = in_room(room, "board", "try", "--csv")
    assert len(list(csv.DictReader(io.StringIO(text)))) == 4
    _, text, _ = in_room(room, "board", "try", "--tex")
    assert text.startswith(r"\begin{tabular}")
    code, _, complaint = in_room(room, "board", "try", "--by", "jsdd")
    assert (code, "did you mean 'jsd'?" in complaint) == (2, True)


def test_the_papers_tables(room: Path) -> None:
    _, text, _ = in_room(room, "tables", "try", "--also", "gold.jsonl")
    assert [line for line in text.splitlines() if line.startswith("Table")] == [
        "Table 1: Statistics of the datasets.",
        "Table 2: Results of the runs by classification-related metrics (t = 0.5, a gold label needs at least t).",
        "Table 2: Results of the runs by classification-related metrics (t = 0, a gold label needs at least t).",
        "Table 3: Results of the runs by distribution-related metrics.",
    ]
    _, text, _ = in_room(room, "tables", "try", "--json")
    tables = json.loads(text)
    assert [len(table["rows"]) for table in tables] == [11, 20, 4, 20]
    assert ["t:0.5|" in tables[1]["signature"], "t:0|" in tables[2]["signature"]] == [True, True]
    _, text, _ = in_room(room, "tables", "try", "--tex")
    assert text.count(r"\begin{table}") == 4
    _, text, _ = in_room(room, "tables", "try", "--markdown")
    assert "by `lapsus challenge tables try --markdown`" in text
    assert in_room(room, "tables", "try", "--tex", "--csv")[0] == 2


def test_tables_are_of_a_challenge_or_of_data() -> None:
    gold = Path("gold")
    for wrong in ({}, {"name": "a", "data": gold}, {"name": "a", "train": "*"}, {"data": gold, "run": ["b"]}):
        with pytest.raises(UsageError):
            tables_command(**wrong)  # type: ignore[arg-type]


def test_the_papers_threshold_is_the_usual_one_and_the_baseline_learns_with_it(
    room: Path, tmp_path: Path
) -> None:
    db = str(tmp_path / "usual.sqlite")
    create_command("usual", data=room / "gold.jsonl", db=db)
    run_command("usual", judges=["crf"], train=room / "gold.jsonl", db=db)
    with open_store(db) as store:
        assert store.challenges.get("usual").plan.threshold == 0.5
        assert "t:0.5" in entrant(store.challenges.runs("usual")[0]).figures.all.signature
        assert trained_for(store, "usual", "crf", room / "gold.jsonl").parameters()["t"] == 0.5
    with pytest.raises(UsageError, match="--only says which"):
        run_command("usual", judges=["crf"], only="*", db=db)


def test_a_broken_run_is_told_everything(room: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.zip"
    with zipfile.ZipFile(room / "prior.zip") as good, zipfile.ZipFile(bad, "w") as archive:
        for name in good.namelist()[2:]:
            archive.writestr(name, good.read(name).replace(b'"O"', b'"Q"', 1))
    code, said, complaint = in_room(room, "submit", "try", str(bad), "--team", "Kite")
    assert (code, said) == (1, "")
    assert "is not taken, for" in complaint
    assert "has the unknown label 'Q'" in complaint
    assert complaint.count("is missing: dialogue") == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("submit", "try", "prior.zip", "--team", "Kite"), "its 1 runs"),
        (("submit", "try", "majority.zip", "--team", "Kite"), "same answers as 'sure'"),
        (("submit", "try", "prior.zip", "--team", "Kit"), "did you mean 'Kite'?"),
        (("submit", "try", "nowhere.zip", "--team", "Kite"), "no such file"),
        (("board", "tri"), "did you mean 'try'?"),
        (("create", "try", "--data", "gold.jsonl"), "there is a challenge 'try' already"),
        (("create", "Try it", "--data", "gold.jsonl"), "is no short name"),
        (("create", "x", "--data", "gold.jsonl", "--feedback", "own"), "none, overall or all"),
        (("create", "x", "--data", "majority.zip"), "no dialogues in it"),
        (("publish", "try", "-o", "test.zip"), "is there already"),
        (("run", "try", "--with", "prior"), "must learn before"),
        (("tables", "try", "--lang", "ja"), "no dialogues in 'ja'"),
    ],
)
def test_mistakes_get_a_message(room: Path, arguments: tuple[str, ...], message: str) -> None:
    code, _, complaint = in_room(room, *arguments)
    assert code in (1, 2)
    assert message in complaint


def test_states(room: Path, tmp_path: Path) -> None:
    (tmp_path / "store.sqlite").write_bytes((room / "store.sqlite").read_bytes())
    for suffix in ("-wal", "-shm"):
        if (room / f"store.sqlite{suffix}").exists():
            (tmp_path / f"store.sqlite{suffix}").write_bytes((room / f"store.sqlite{suffix}").read_bytes())
    for command, state in (("freeze", "frozen"), ("open", "open"), ("reveal", "revealed")):
        assert in_room(tmp_path, command, "try")[0] == 0
        _, text, _ = in_room(tmp_path, "list", "--json")
        assert json.loads(text) == [{"challenge": "try", "state": state, "teams": 1, "runs": 2}]
    code, _, complaint = in_room(tmp_path, "open", "try")
    assert (code, "stays seen" in complaint) == (1, True)


def test_a_campaign_is_a_test_set_too(room: Path) -> None:
    done = lapsus(
        "campaign", "create", "votes", "--scheme", "breakdown", "--data", "gold.jsonl", "--per-unit", "1",
        cwd=room, LAPSUS_DB="store.sqlite",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    code, _, complaint = in_room(room, "create", "later", "--campaign", "votes")
    assert (code, "campaign 'votes': nothing in it is judged" in complaint) == (1, True)
    code, _, complaint = in_room(room, "create", "later", "--campaign", "votes", "--data", "gold.jsonl")
    assert (code, "made from one test set" in complaint) == (2, True)
    assert in_room(room, "create", "later")[0] == 2
