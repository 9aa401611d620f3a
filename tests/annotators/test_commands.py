"""`lapsus train` and `lapsus detect`, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from lapsus.cli.detect import detect_command
from lapsus.cli.train import train_command
from lapsus.errors import InputError, LapsusError, UsageError
from lapsus.formats import read
from lapsus.formats.jsonl import Jsonl
from tests.annotators import invented

app = typer.Typer()
app.command("train")(train_command)
app.command("detect")(detect_command)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for language in ("en", "ja"):
        Jsonl().write([invented.entry(n, language) for n in range(6)], tmp_path / f"{language}.jsonl")
    return tmp_path


def lapsus(*arguments: str) -> tuple[str, str]:
    """What a command prints and remarks; its error is raised."""
    done = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout, done.stderr


def refused(*arguments: str) -> str:
    with pytest.raises(LapsusError) as caught:
        lapsus(*arguments)
    return str(caught.value)


def test_train_then_detect(folder: Path) -> None:
    out, remarks = lapsus("train", "svm", "en.jsonl", "-o", "m.lapsus", "--set", "degree=1", "--seed", "3")
    assert "svm learned from 6 documents, 30 turns, 240 votes → m.lapsus" in out
    assert "en.jsonl is read as jsonl" in remarks
    out, remarks = lapsus("detect", "en.jsonl", "-o", "run.zip", "--with", "m.lapsus")
    assert "6 documents, 30 turns" in out
    assert "judged by m (svm, learned from 30 turns (en))" in remarks
    entries = list(read("run.zip"))
    assert {j.annotator for e in entries for j in e.judgments} == {"m"}
    assert all(set(j.distributions["breakdown"]) == {"O", "T", "X"} for e in entries for j in e.judgments)


def test_the_ending_tells_the_format_and_evidence_is_kept(folder: Path) -> None:
    lapsus("train", "rules", "ja.jsonl", "-o", "m.lapsus")
    out, _ = lapsus("detect", "ja.jsonl", "-o", "run.jsonl", "--with", "m.lapsus", "--json")
    assert json.loads(out)["turns"] == 30
    entries = list(read("run.jsonl"))
    assert [len(entry.judgments) for entry in entries] == [5] * 6
    assert all("evidence" in judgment.metadata for entry in entries for judgment in entry.judgments)


def test_the_same_seed_writes_the_same_file(folder: Path) -> None:
    for name in ("a", "b"):
        (folder / name).mkdir()
        settings = ["--set", "epochs=1", "--set", "members=1", "--seed", "7"]
        lapsus("train", "acts", "en.jsonl", "-o", f"{name}/m.lapsus", *settings)
    assert (folder / "a/m.lapsus").read_bytes() == (folder / "b/m.lapsus").read_bytes()


def test_going_on_from_a_model(folder: Path) -> None:
    lapsus("train", "acts", "en.jsonl", "-o", "m.lapsus", "--set", "epochs=1", "--set", "members=1")
    again = ("train", "acts", "en.jsonl", "-o", "n.lapsus", "--from", "m.lapsus")
    out, _ = lapsus(*again, "--set", "epochs=2", "--json")
    assert json.loads(out)["parameters"]["epochs"] == 2
    lapsus("train", "rules", "en.jsonl", "-o", "r.lapsus")
    again = ("train", "rules", "en.jsonl", "-o", "s.lapsus", "--from", "r.lapsus")
    assert "cannot go on from a model" in refused(*again)


def test_a_method_without_chance_says_that_a_seed_changes_nothing(folder: Path) -> None:
    _, remarks = lapsus("train", "prior", "en.jsonl", "-o", "m.lapsus", "--seed", "1")
    assert "prior leaves nothing to chance" in remarks


def test_the_language_picks_the_shipped_model_or_it_is_said_that_there_is_none(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lapsus("train", "rules", "ja.jsonl", "-o", "shipped.lapsus")
    monkeypatch.setattr("lapsus.annotators.default_model", lambda language: folder / "shipped.lapsus")
    _, remarks = lapsus("detect", "ja.jsonl", "-o", "run.zip")
    assert "the dialogues are in 'ja'" in remarks
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    text = (folder / "en.jsonl").read_text(encoding="utf-8").replace('"language":"en"', '"language":"tlh"')
    (folder / "tlh.jsonl").write_text(text, encoding="utf-8")
    assert "no model 'breakdown-tlh'" in refused("detect", "tlh.jsonl", "-o", "x.zip")


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        (("train", "crv", "en.jsonl", "-o", "m"), UsageError, "did you mean 'crf'"),
        (("train", "svm", "en.jsonl", "-o", "m", "--set", "degree"), UsageError, "sets nothing"),
        (
            ("train", "svm", "en.jsonl", "-o", "m", "--set", "degree=two"),
            UsageError,
            "a whole number, not 'two'",
        ),
        (("train", "svm", "bare.jsonl", "-o", "m"), InputError, "bare.jsonl: nothing in it is judged"),
        (("train", "prior", "en.jsonl", "-o", "en.jsonl"), UsageError, "is there already"),
        (("train", "prior", "nowhere", "-o", "m"), InputError, "no such file"),
        (
            ("detect", "en.jsonl", "-o", "x.zip", "--with", "crf"),
            UsageError,
            "must learn before it can judge",
        ),
        (
            ("detect", "en.jsonl", "-o", "x.zip", "--with", "en.jsonl"),
            InputError,
            "cannot be read as a model",
        ),
        (("detect", "ja.jsonl", "-o", "x.zip", "--with", "en.lapsus"), UsageError, "has learned en"),
        (("detect", "en.jsonl", "-o", "x.pdf", "--with", "en.lapsus"), UsageError, "ending does not say"),
    ],
)
def test_mistakes(folder: Path, arguments: tuple[str, ...], kind: type[LapsusError], words: str) -> None:
    lapsus("train", "rules", "en.jsonl", "-o", "en.lapsus")
    bare = '{"lapsus":1}\n{"document":{"id":"d","segments":[{"id":"0","role":"system","text":"Hi."}]}}\n'
    (folder / "bare.jsonl").write_text(bare)
    before = sorted(path.name for path in folder.iterdir())
    with pytest.raises(kind, match=words):
        lapsus(*arguments)
    assert sorted(path.name for path in folder.iterdir()) == before
