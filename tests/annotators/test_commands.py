"""`lapsus train` and `lapsus detect`, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lapsus.errors import InputError, LapsusError, UsageError
from lapsus.formats import read
from lapsus.formats.jsonl import Jsonl
from lapsus.model import Entry
from tests.annotators import invented
from tests.command_process import lapsus, refused


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for language in ("en", "ja"):
        Jsonl().write([invented.entry(n, language) for n in range(6)], tmp_path / f"{language}.jsonl")
    return tmp_path


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


def test_a_run_answers_the_turns_that_people_judged(folder: Path) -> None:
    """The challenge's program pairs answers by position, so a first turn without votes must have none."""
    whole = [invented.entry(n, "en") for n in range(6)]
    first = whole[0].judgments[0].segment
    fewer = [Entry(e.id, e.document, tuple(j for j in e.judgments if j.segment != first)) for e in whole]
    Jsonl().write([*fewer[:5], Entry(whole[5].id, whole[5].document)], folder / "some.jsonl")
    lapsus("train", "prior", "en.jsonl", "-o", "m.lapsus")
    detect = ("detect", "some.jsonl", "--with", "m.lapsus", "--overwrite", "-o")
    out, remarks = lapsus(*detect, "run.zip")
    assert "6 documents, 25 turns" in out
    assert "only turns with votes are answered, 5 others are not" in remarks
    assert {len(entry.judgments) for entry in read("run.zip")} == {4, 5}
    for more, turns in (
        (("run.zip", "--turns", "all"), 30),
        (("run.jsonl",), 30),
        (("r.jsonl", "--turns", "judged"), 25),
    ):
        assert f"{turns} turns" in lapsus(*detect, *more)[0]
    assert "known: judged, all" in str(refused(*detect, "run.zip", "--turns", "some"))


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


@pytest.mark.parametrize("language", ["en", "ja"])
def test_without_a_word_the_shipped_model_of_the_language_judges(folder: Path, language: str) -> None:
    out, remarks = lapsus("detect", f"{language}.jsonl", "-o", "run.zip")
    assert "6 documents, 30 turns" in out
    assert f"judged by breakdown-{language} (encoder" in remarks
    assert {j.annotator for e in read("run.zip") for j in e.judgments} == {f"breakdown-{language}"}


def test_each_dialogue_is_judged_in_its_own_language_as_its_script_tells(folder: Path) -> None:
    chats = [
        [("user", "…"), ("assistant", "👋")],
        [("user", "Hello!"), ("assistant", "Hello! How are you?")],
        [("user", "こんにちは"), ("assistant", "こんにちは。お元気ですか？")],
        [("user", "???"), ("assistant", "!!!")],
    ]
    lines = [
        {"id": str(number), "messages": [{"role": role, "content": text} for role, text in chat]}
        for number, chat in enumerate(chats)
    ]
    (folder / "chats.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    out, remarks = lapsus("detect", "chats.jsonl", "-o", "run.jsonl", "--json")
    assert json.loads(out)["by"] == "breakdown-en, breakdown-ja"
    assert "language told by script: en (1), ja (1); --lang sets it" in remarks
    judges = [entry.judgments[0].annotator for entry in read("run.jsonl")]
    # What has no letters goes with its neighbours.
    assert judges == ["breakdown-en", "breakdown-en", "breakdown-ja", "breakdown-ja"]
    (folder / "signs.jsonl").write_text(json.dumps(lines[0]), encoding="utf-8")
    assert "the language of the dialogues cannot be told" in refused("detect", "signs.jsonl", "-o", "x.zip")
    out, _ = lapsus("detect", "signs.jsonl", "-o", "x.zip", "--lang", "ja", "--json")
    assert json.loads(out)["by"] == "breakdown-ja"


def test_a_language_without_a_model_is_named(folder: Path) -> None:
    text = (folder / "en.jsonl").read_text(encoding="utf-8").replace('"language":"en"', '"language":"tlh"')
    (folder / "tlh.jsonl").write_text(text, encoding="utf-8")
    assert "no model 'breakdown-tlh'" in refused("detect", "tlh.jsonl", "-o", "x.zip")


def test_a_profile_judges_as_another_crowd(folder: Path) -> None:
    lapsus("detect", "en.jsonl", "-o", "usual.jsonl")
    lapsus("detect", "en.jsonl", "-o", "other.jsonl", "--profile", "dbdc3")
    usual, other = (
        [j.distributions["breakdown"]["T"] for e in read(name) for j in e.judgments]
        for name in ("usual.jsonl", "other.jsonl")
    )
    assert sum(other) > sum(usual) + 1
    assert "'breakdown-ja' has no profile 'dbdc3'" in refused(
        "detect", "ja.jsonl", "-o", "x", "--profile", "dbdc3"
    )
    lapsus("train", "rules", "en.jsonl", "-o", "r.lapsus")
    plain = ("detect", "en.jsonl", "-o", "x.zip", "--with", "r.lapsus", "--profile", "dbdc3")
    assert "'r' has no profiles" in refused(*plain)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_shipped_model_is_adapted_by_its_name(folder: Path, language: str) -> None:
    data = f"{language}.jsonl"
    out, _ = lapsus("train", "encoder", data, "-o", "own.lapsus", "--from", f"breakdown-{language}", "--json")
    assert json.loads(out)["units"] == 30
    _, remarks = lapsus("detect", data, "-o", "run.zip", "--with", "own.lapsus")
    assert f"judged by own (encoder, learned from 30 turns ({language}))" in remarks
    missing = ("train", "encoder", data, "-o", "x.lapsus", "--from", "breakdown-xx")
    assert "breakdown-xx: no such file" in refused(*missing)


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
