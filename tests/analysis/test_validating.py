"""Judgments held against their guideline, in files of any kind, and what measures say of broken ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lapsus.analysis.agreement import agree
from lapsus.analysis.gold_standard import gold
from lapsus.analysis.validating import validate
from lapsus.cli.app import app
from lapsus.errors import LapsusError
from lapsus.formats import convert
from lapsus.model import Document, Entry, Judgment, Segment
from lapsus.samples import SAMPLES, sample_path
from lapsus.schemes import load_scheme

TYPES = [label.id for label in load_scheme("error-types").questions[0].labels]


def number(*numbers: int) -> tuple[str, ...]:
    return tuple(TYPES[n - 1] for n in numbers)


def judged(path: Path, *sets: tuple[str, ...]) -> Path:
    """A dialogue whose one system turn several people judged under error-types."""
    document = Document("d", (Segment("0", "system", "Hello."), Segment("1", "user", "Hi.")), "en")
    said = tuple(
        Judgment("d", "0", f"p{place}", "error-types", "1.2", {"types": types})
        for place, types in enumerate(sets)
    )
    convert(iter([Entry("d", document, said)]), path, overwrite=True)
    return path


def run(*arguments: str, **env: str) -> Any:
    return CliRunner().invoke(app, list(arguments), env=env)


def brat_project(folder: Path, *marks: tuple[str, str], end: str = "") -> Path:
    text = f"10) MR: Vale_Tower | height | 184.0{end}\nVerbalisation: vale tower is the president of nothing.{end}\n"
    lines = []
    for place, (label, words) in enumerate(marks, 1):
        start = text.index(words)
        lines.append(f"T{place}\t{label} {start} {start + len(words)}\t{words}\n")
    (folder / "ann").mkdir(parents=True)
    (folder / "ann" / "a.txt").write_text(text, encoding="utf-8")
    (folder / "ann" / "a.ann").write_text("".join(lines), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("types", "rule"),
    [
        (number(4, 15), "alone"),
        (number(10, 11), "apart"),
        ((), "too-few"),
        ((TYPES[0], TYPES[0]), "repeated-label"),
        (("nonsense",), "unknown-label"),
    ],
)
def test_labels_that_break_the_guideline(tmp_path: Path, types: tuple[str, ...], rule: str) -> None:
    data = judged(tmp_path / "types.jsonl", number(4), types)
    result = run("validate", str(data), "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert (found["judgments"], found["broken"]) == (2, 1)
    (problem,) = [p for p in found["problems"] if p["rule"] == rule]
    assert problem["file"].endswith("types.jsonl")
    assert (problem["document"], problem["unit"], problem["annotator"]) == ("d", "0", "p1")


QUESTIONS = [question.id for question in load_scheme("response-quality").questions if question.required]


def rated(path: Path, answers: dict[str, Any], **more: Any) -> Path:
    """A reply that somebody, or something, judged under response-quality."""
    document = Document("d", (Segment("0", "system", "Hello."), Segment("1", "user", "Hi.")), "en")
    version = load_scheme("response-quality").version
    said = Judgment("d", "0", "it", "response-quality", version, answers, **more)
    convert(iter([Entry("d", document, (said,))]), path, overwrite=True)
    return path


@pytest.mark.parametrize(
    "more",
    [
        {"metadata": {"program": True}},
        {"metadata": {"setting": {}}},
        {"distributions": {"soundness": {"3": 1.0}}},
        {"metadata": {"scores": {"x": [0.5]}}},
    ],
)
def test_what_a_program_leaves_open_is_named_apart(tmp_path: Path, more: dict[str, Any]) -> None:
    data = rated(tmp_path / "rq.jsonl", {"soundness": 3}, **more)
    found = validate(data)
    assert found.broken == ()
    assert found.left_open == {id: 1 for id in QUESTIONS if id != "soundness"}
    result = run("validate", str(data))
    assert result.exit_code == 0
    assert "questions left open by programs: " in result.stdout
    assert "1 judgments, 0 of them" in result.stdout
    assert "プログラムが答えていない質問" in run("validate", str(data), LC_ALL="ja_JP.UTF-8").stdout
    assert json.loads(run("validate", str(data), "--json").stdout)["left_open"] == found.left_open


def test_people_leave_nothing_open_and_programs_break_no_other_rule(tmp_path: Path) -> None:
    by_person = validate(rated(tmp_path / "person.jsonl", {"soundness": 3}))
    assert by_person.left_open == {}
    assert {problem["rule"] for problem in by_person.problems()} == {"missing-answer"}
    wrong = validate(rated(tmp_path / "program.jsonl", {"soundness": 99}, metadata={"program": True}))
    assert [problem["question"] for problem in wrong.problems()] == ["soundness"]
    assert wrong.left_open
    assert run("validate", str(tmp_path / "program.jsonl")).exit_code == 1


@pytest.mark.parametrize(
    ("mark", "rule"), [(("addition", "pres"), "cuts-token"), (("omission", "heig"), "cuts-element")]
)
def test_marks_that_cut_words_and_elements(tmp_path: Path, mark: tuple[str, str], rule: str) -> None:
    data = brat_project(tmp_path / "project", mark)
    result = run("validate", str(data), "--json", LC_ALL="ja_JP.UTF-8")
    assert result.exit_code == 1
    (problem,) = json.loads(result.stdout)["problems"]
    assert problem["rule"] == rule
    assert f"「{mark[1]}」" in problem["message"]


def test_line_ends_for_pages_go_and_a_whole_triple_is_its_elements(tmp_path: Path) -> None:
    whole = "Vale_Tower | height | 184.0"
    data = brat_project(tmp_path / "project", ("omission", whole), ("addition", "nothing.<br/>"), end="<br/>")
    result = run("validate", str(data))
    assert result.exit_code == 0, result.output
    assert "<br> at line ends, taken away (2)" in result.stderr
    assert "one on each of its elements (1)" in result.stderr
    convert_result = run("convert", str(data), str(tmp_path / "out.jsonl"))
    assert "one on each of its elements (1)" in convert_result.stderr
    lines = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    spans = json.loads(lines[-1])["judgment"]["answers"]["errors"]
    assert "<br" not in lines[1]
    assert [(s["start"], s["end"]) for s in spans if s["segment"] == "t1"] == [(0, 10), (13, 19), (22, 27)]
    assert all("tie" not in s for s in spans)
    assert agree(data).notes[-1].endswith("one on each of its elements (1)")


@pytest.mark.parametrize("name", SAMPLES)
def test_our_samples_keep_their_guidelines(name: str) -> None:
    assert not validate(sample_path(name)).broken


def test_measures_count_what_is_broken_and_leave_it_out_when_asked(tmp_path: Path) -> None:
    data = judged(tmp_path / "types.jsonl", number(4), number(4), number(4, 15))
    table = agree(data, bootstrap=None)
    assert table.data["broken"] == 1
    assert "types: 1 of 3 judgments break the guideline" in table.notes[-1]
    without = agree(data, bootstrap=None, drop_broken=True)
    assert without.data["annotators_a_unit"] == "2"
    assert all("|broken:1 left out|lapsus:" in text for text in without.data["signatures"].values() if text)
    assert "left out" not in json.dumps(table.data)
    (made,) = gold(data, drop_broken=True).values()
    assert "|broken:1 left out|" in made.signature


def test_commands_say_how_many_are_broken(tmp_path: Path) -> None:
    data = judged(tmp_path / "types.jsonl", number(4), number(4), number(4, 15))
    out = str(tmp_path / "gold.jsonl")
    assert "1 of 3 judgments break the guideline" in run("gold", str(data), out).stderr
    assert json.loads(run("gold", str(data), out, "--overwrite", "--json").stdout)["broken"] == 1
    dropped = run("gold", str(data), out, "--overwrite", "--drop-broken")
    assert "|broken:1 left out|" in dropped.stdout
    scored = run("score", str(data), out, "--json", "--resamples", "0")
    assert json.loads(scored.stdout)["broken"] == 1
    assert "break the guideline" in scored.stderr
    all_gone = judged(tmp_path / "gone.jsonl", number(4, 15))
    with pytest.raises(LapsusError, match="all its 1 judgments break"):
        agree(all_gone, drop_broken=True)


def test_a_scheme_of_ones_own_is_named_by_its_file(tmp_path: Path) -> None:
    text = "scheme: mine\nversion: '1'\ntitle: {en: M}\nsummary: {en: M}\nunit: {role: system}\nquestions:\n"
    text += "  - {id: ok, kind: label, name: {en: Ok}, ask: {en: Ok}, labels: ["
    text += "{id: a, name: {en: A}, definition: {en: A}}, {id: b, name: {en: B}, definition: {en: B}}]}\n"
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    document = Document("d", (Segment("0", "system", "Hello."),), "en")
    said = tuple(
        Judgment("d", "0", who, "mine", "1", {"ok": label}) for who, label in (("p", "a"), ("q", "c"))
    )
    data = tmp_path / "d.jsonl"
    convert(iter([Entry("d", document, said)]), data)
    with pytest.raises(LapsusError, match="'mine' is not installed"):
        validate(data)
    assert len(validate(data, scheme=str(tmp_path / "mine.yaml")).broken) == 1
    with pytest.raises(LapsusError, match="nothing is judged under 'breakdown'"):
        validate(data, scheme="breakdown")
