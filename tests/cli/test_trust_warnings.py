"""What `trust`, `estimate` and gates say where their figures mean less than they look."""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

from lapsus.annotators import Annotator, detect, make_annotator
from lapsus.cli.app import app
from lapsus.cli.output import choose_words
from lapsus.errors import UsageError
from lapsus.formats import convert, read
from lapsus.formats.jsonl import Jsonl
from lapsus.model import Document, Entry, Judgment, Segment
from tests.annotators import invented

LEARNED = "judge learned from 12 of these 12 documents: these figures are too good"
Run = Callable[..., str]


@pytest.fixture
def run() -> Run:
    """Runs a command; what it says, warnings included."""

    def command(*arguments: object, code: int = 0) -> str:
        done = CliRunner().invoke(app, [str(one) for one in arguments], catch_exceptions=False)
        assert done.exit_code == code, done.output
        return done.output

    return command


def as_json(*arguments: object) -> Any:
    done = CliRunner().invoke(app, [*map(str, arguments), "--json"], catch_exceptions=False)
    return json.loads(done.stdout)


@cache
def judge(seed: int = 0) -> Annotator:
    return make_annotator("judge", scheme="breakdown").fit(*invented.data("en", 12, seed=seed))


def judged(annotator: Annotator, path: Path, seed: int = 0) -> Path:
    """People's judgments and a judge's in one file."""
    found = detect([invented.entry(place, "en", seed) for place in range(12)], model=annotator, keep=True)
    convert(found, path, "jsonl", overwrite=True)
    return path


def of_labels(path: Path, judge: Callable[[str, int], str], share: float) -> Path:
    """Turns of which people call `share` broken, most of the time; and a judge."""
    rng = np.random.default_rng(0)
    entries = []
    for number in range(60):
        document = Document(
            f"d{number}", tuple(Segment(str(place), "system", f"w {place}") for place in range(4)), "en"
        )
        said = []
        for place in range(4):
            truth = "X" if rng.random() < share else "O"
            people = [truth if rng.random() < 0.97 else "O" for _ in range(3)]
            answers = {"ann": people[0], "bo": people[1], "cy": people[2], "robot": judge(truth, place)}
            said += [
                Judgment(f"d{number}", str(place), who, "breakdown", "1.0", {"breakdown": answer})
                for who, answer in answers.items()
            ]
        entries.append(Entry(f"d{number}", document, tuple(said)))
    convert(entries, path, "jsonl")
    return path


def test_a_judge_that_never_marks_anything_is_not_praised(run: Run, tmp_path: Path) -> None:
    data = of_labels(tmp_path / "rare.jsonl", lambda truth, place: "O", 0.04)
    said = run("trust", data, "--judge", "robot")
    assert "robot: passes, but so does always the same answer" in said
    assert "on these data the test tells nothing" in said
    assert "may stand in" not in said
    found = as_json("trust", data, "--judge", "robot")
    assert (found[0]["passes"], found[0]["beats_constant"]) == (True, False)
    assert "(constant)" in found[0]["floors"]
    assert found[1]["verdict"] == "passes, though it is a floor: on these data the test tells nothing"


def test_the_same_is_said_in_japanese(run: Run, tmp_path: Path) -> None:
    data = of_labels(tmp_path / "rare.jsonl", lambda truth, place: "O", 0.04)
    try:
        said = run("--words", "ja", "trust", data, "--judge", "robot")
    finally:
        choose_words(None)
    assert "robot：合格しますが、いつも同じ答えも合格し" in said
    assert "検定からは何も言えません" in said


def test_a_judge_that_finds_what_is_rare_keeps_its_verdict(run: Run, tmp_path: Path) -> None:
    data = of_labels(tmp_path / "rare.jsonl", lambda truth, place: truth, 0.04)
    said = run("trust", data, "--judge", "robot")
    assert "robot: may stand in for these people, whoever they are; always the same answer passes for" in said
    assert "tells nothing" not in said
    assert "not shown" not in said
    common = of_labels(tmp_path / "common.jsonl", lambda truth, place: truth, 0.4)
    told = [
        line for line in run("trust", common, "--judge", "robot").splitlines() if line.startswith("robot: ")
    ]
    assert told == ["robot: may stand in for these people, whoever they are"]


def test_a_judge_is_warned_of_that_is_tested_on_what_it_learned_from(run: Run, tmp_path: Path) -> None:
    seen, unseen = judged(judge(), tmp_path / "seen.jsonl"), judged(judge(), tmp_path / "new.jsonl", seed=1)
    for command in ("trust", "estimate"):
        assert f"warning: {LEARNED}" in run(command, seen, "--judge", "judge")
        assert "learned from" not in run(command, unseen, "--judge", "judge")
    assert as_json("trust", seen)[0]["learned_documents"] == 12
    assert as_json("trust", unseen)[0]["learned_documents"] == 0
    try:
        assert "警告：judgeはこの12文書のうち12文書から学習しています" in run("--words", "ja", "trust", seen)
    finally:
        choose_words(None)


def test_a_gate_warns_of_it_too_and_passes_all_the_same(run: Run, tmp_path: Path) -> None:
    seen, gate, junit = (tmp_path / name for name in ("seen.jsonl", "gate.yaml", "report.xml"))
    judged(judge(), seen)
    assert f"warning: {LEARNED}" in run("trust", seen, "--freeze", gate)
    assert f"warning: {LEARNED}" in run("trust", "--gate", gate, "--junit", junit)
    assert as_json("trust", "--gate", gate)["warnings"][0].startswith(LEARNED)
    assert f"<system-err>{LEARNED}" in junit.read_text()


def test_a_gate_sees_that_a_detector_was_swapped(run: Run, tmp_path: Path) -> None:
    gate, frozen = tmp_path / "gate.yaml", judged(judge(), tmp_path / "frozen.jsonl", seed=1)
    run("trust", frozen, "--freeze", gate)
    assert yaml.safe_load(gate.read_text())["setting"] == {"model": judge().digest}
    run("trust", frozen, "--gate", gate)

    def renamed(model: str | None) -> Path:
        """The same answers, by another model or by one that does not say which it is."""
        metadata = {"setting": {"model": model}} if model else {}
        entries = [
            Entry(entry.id, entry.document, tuple(
                msgspec.structs.replace(one, metadata=metadata) if one.annotator == "judge" else one
                for one in entry.judgments
            ))
            for entry in detect([invented.entry(place, "en", 1) for place in range(12)], model=judge(), keep=True)
        ]  # fmt: skip
        convert(entries, tmp_path / "swapped.jsonl", "jsonl", overwrite=True)
        return tmp_path / "swapped.jsonl"

    assert f"FAILED made with the same model: {judge(5).digest}" in run(
        "trust", renamed(judge(5).digest), "--gate", gate, code=1
    )
    assert "FAILED made with the same model: not said" in run("trust", renamed(None), "--gate", gate, code=1)
    # A gate and a run of before know no model, and pass as they did.
    old = {**yaml.safe_load(gate.read_text()), "setting": {}}
    gate.write_text(yaml.safe_dump(old))
    run("trust", renamed(None), "--gate", gate)


def test_a_run_for_the_challenge_holds_nothing_new(tmp_path: Path) -> None:
    found = detect([invented.entry(place, "en") for place in range(2)], model=judge())
    assert all(judgment.metadata["learned"] for entry in found for judgment in entry.judgments)
    found.write(tmp_path / "run.zip")
    with zipfile.ZipFile(tmp_path / "run.zip") as archive:
        labels = [
            label
            for name in archive.namelist()
            for turn in json.loads(archive.read(name))["turns"]
            for label in turn["labels"]
        ]
    assert labels
    assert {name for label in labels for name in label} == {
        "breakdown", "prob-O", "prob-T", "prob-X", "annotator-id",
    }  # fmt: skip


def under_two_schemes(path: Path) -> Path:
    """Turns judged under two guidelines, by people and a judge, and under one that nobody has installed."""
    given = list(read(of_labels(path.with_name("one.jsonl"), lambda truth, place: truth, 0.4)))
    entries = []
    for entry in given:
        more = [
            msgspec.structs.replace(one, scheme=scheme, answers=answers)
            for one in entry.judgments
            for scheme, answers in (("response-quality", {"coherence": 3}), ("ours", {"ok": "yes"}))
        ]
        entries.append(Entry(entry.id, entry.document, (*entry.judgments, *more)))
    convert(entries, path, "jsonl")
    return path


def test_where_no_scheme_is_named_each_has_its_part(run: Run, tmp_path: Path) -> None:
    data = under_two_schemes(tmp_path / "two.jsonl")
    for command in ("trust", "estimate"):
        said = run(command, data, "--judge", "robot").splitlines()
        assert [line for line in said if line in ("breakdown", "response-quality", "ours")] == [
            "breakdown", "response-quality",
        ]  # fmt: skip
        assert sum("is read as" in line for line in said) == 1
        told = "ours: the scheme 'ours' is not installed (if it is your own, say --scheme with its file"
        assert any(line.startswith(told) for line in said)
        with pytest.raises(UsageError, match="several schemes: breakdown, response-quality, ours"):
            run(command, data, "--judge", "robot", "--json")


def test_for_a_scheme_of_ones_own_the_file_is_asked_for(run: Run, tmp_path: Path) -> None:
    data = under_two_schemes(tmp_path / "two.jsonl")
    with pytest.raises(UsageError) as caught:
        run("trust", data, "--judge", "robot", "--scheme", "ours")
    assert caught.value.hint == "if it is your own, say --scheme with its file, such as ours.yaml"
    with pytest.raises(UsageError, match="no scheme is called 'theirs'"):
        run("trust", data, "--judge", "robot", "--scheme", "theirs")


def test_a_plan_says_where_there_are_too_few_units(run: Run, tmp_path: Path) -> None:
    few = [invented.entry(place, "en", 1) for place in range(2)]
    convert(detect(few, model=judge()), tmp_path / "few.jsonl", "jsonl")
    said = run("plan", tmp_path / "few.jsonl", "--epsilon", "0.2")
    assert "units and judge judged 10: judging all of these does not reach them" in said
    many = [invented.entry(place, "en", 1) for place in range(80)]
    convert(detect(many, model=judge()), tmp_path / "many.jsonl", "jsonl")
    assert "does not reach" not in run("plan", tmp_path / "many.jsonl", "--epsilon", "0.2")


def test_several_labels_are_counted_too() -> None:
    entries = [invented.entry(place, "en", 1) for place in range(3)]
    found = detect(entries, model="error-types")
    given = Counter(
        label for entry in found for one in entry.judgments for label in one.answers.get("types", ())
    )
    assert given
    assert found.answers["types"] == given


def test_a_jury_names_no_file_that_does_not_stay(tmp_path: Path) -> None:
    Jsonl().write([invented.entry(place, "en", 1) for place in range(3)], tmp_path / "talk.jsonl")
    judge().save(tmp_path / "ours.lapsus")
    members = ("--with", str(tmp_path / "ours.lapsus"), "--with", "breakdown-en")
    target = str(tmp_path / "jury.jsonl")
    done = CliRunner().invoke(app, ["detect", str(tmp_path / "talk.jsonl"), *members, "-o", target])
    assert done.exit_code == 0, done.output
    assert "jury.jsonl." not in done.output
    assert "jury of judge, breakdown-en" in done.output
    assert done.stdout.count("→") == 1
    told = CliRunner().invoke(
        app, ["detect", str(tmp_path / "talk.jsonl"), *members, "-o", target, "--overwrite", "--json"]
    )
    assert json.loads(told.stdout)["by"] == "jury"
    marks = {
        one.metadata.get("learned")
        for entry in read(target)
        for one in entry.judgments
        if one.annotator == "jury"
    }
    assert marks == {None}
