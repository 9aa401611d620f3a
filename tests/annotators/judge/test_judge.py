"""A judge learns whatever guideline it is given, keeps to its rules, and says honestly how well."""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from functools import cache
from pathlib import Path

import msgspec
import pytest

import lapsus
from lapsus.annotators import Annotator, load_model, make_annotator
from lapsus.annotators.judge.judge import Judge
from lapsus.errors import InputError, UsageError
from lapsus.formats.jsonl import Jsonl
from lapsus.model import Document, Entry, Judgment, Scheme, Segment
from lapsus.samples import sample_path
from lapsus.schemes import broken_rules, load_scheme, read_scheme
from tests.annotators import invented
from tests.annotators.judge import behaviours
from tests.command_process import lapsus as command
from tests.command_process import refused


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("judge")


@pytest.fixture(scope="module")
def model(folder: Path) -> Judge:
    """A judge of five yes/no questions."""
    found = lapsus.train(
        "judge", behaviours.entries(50, seed=7), scheme=str(behaviours.yes_no_scheme(folder))
    )
    assert isinstance(found, Judge)
    return found


@cache
def of_sample(name: str, scheme: str) -> Judge:
    found = lapsus.train("judge", sample_path(name), scheme=scheme)
    assert isinstance(found, Judge)
    return found


def test_five_questions_of_ones_own_are_answered_better_than_by_a_constant(model: Judge) -> None:
    others = behaviours.entries(30, seed=1)
    judged = {j.unit: j for entry in lapsus.detect(others, model=model) for j in entry.judgments}
    said = [judgment for entry in others for judgment in entry.judgments]
    for question in ("asks", "food", "repeats", "rude"):
        usual = Counter(j.answers[question] for j in said).most_common(1)[0][0]
        ours = sum(judged[j.unit].answers[question] == j.answers[question] for j in said) / len(said)
        floor = sum(usual == j.answers[question] for j in said) / len(said)
        assert ours > floor + 0.05, question
        shares = judged[said[0].unit].distributions[question]
        assert set(shares) == {"yes", "no"}
        assert sum(shares.values()) == pytest.approx(1, abs=1e-9)


def test_what_cannot_be_told_is_left_unanswered_and_named_and_still_has_shares(model: Judge) -> None:
    assert model.unanswered == ["luck"]
    report = {report.question: report for report in model.reports_}
    assert [id for id, one in report.items() if not one.answered] == ["luck"]
    luck = report["luck"].ranking
    assert luck is not None
    assert luck.judge.low is not None
    assert luck.judge.low <= 0.5
    judgment = next(iter(lapsus.detect(behaviours.entries(1, seed=2), model=model))).judgments[0]
    assert "luck" not in judgment.answers
    assert sum(judgment.distributions["luck"].values()) == pytest.approx(1)
    assert "only shares are given: luck" in "\n".join(map(str, model.account()))
    assert model.summary()[-1] == "left unanswered: luck"


def test_a_rare_yes_is_said_as_often_as_people_say_it(folder: Path) -> None:
    """One turn in twelve is rude: the likeliest answer to each alone would hardly ever be yes."""
    rare = behaviours.entries(60, seed=5, rude=0.08)
    judge = lapsus.train("judge", rare, scheme=behaviours.scheme(folder), features="")
    others = behaviours.entries(60, seed=6, rude=0.08)
    people = [j.answers["rude"] == "yes" for entry in others for j in entry.judgments]
    judged = [j for entry in lapsus.detect(others, model=judge) for j in entry.judgments]
    said = [j.answers["rude"] == "yes" for j in judged]
    assert 0.6 < sum(said) / len(said) / (sum(people) / len(people)) < 1.6
    ranked = next(one.ranking for one in judge.reports_ if one.question == "rude")  # type: ignore[attr-defined]
    assert ranked.choices["yes"].said == pytest.approx(ranked.choices["yes"].prevalence, abs=0.05)
    assert ranked.average_precision > 2 * ranked.prevalence


def test_the_table_compares_judge_people_and_constant(model: Judge) -> None:
    for report in model.reports_[:4]:
        found = report.agreement
        assert found.judge.value is not None
        assert found.floor.value is not None
        assert found.people.value == pytest.approx(0.92**2 + 0.08**2, abs=0.06)
        assert found.judge.low is not None
        assert found.judge.high is not None
        assert found.judge.low <= found.judge.value <= found.judge.high
        units = [point.units for point in report.curve]
        assert units == sorted(units)
        assert units[-1] < report.units
    lines = "\n".join(map(str, model.account()))
    assert "judge beyond chance" in lines
    assert "AUC of a person" in lines
    assert "more" in lines


@pytest.mark.parametrize(("language", "scheme"), [("en", "response-quality"), ("ja", "breakdown")])
def test_samples_end_to_end_within_the_rules(language: str, scheme: str) -> None:
    annotator = of_sample(f"dialogues-{language}", scheme)
    guideline = load_scheme(scheme)
    for entry in lapsus.detect(sample_path(f"dialogues-{language}"), model=annotator):
        for judgment in entry.judgments:
            rules = broken_rules(guideline, judgment.answers, entry.document, judgment.segment)
            left = {rule.question for rule in rules if rule.rule == "missing-answer"}
            assert left <= set(annotator.unanswered)
            assert {rule.rule for rule in rules} <= {"missing-answer"}
            for question, shares in judgment.distributions.items():
                assert all(0 <= share <= 1 for share in shares.values()), question


def test_several_labels_keep_the_rules_and_use_votes_of_the_scheme_before() -> None:
    guideline = load_scheme("error-types")
    entries = [*lapsus.read(sample_path("dialogues-en")), *lapsus.read(sample_path("dialogues-ja"))]
    annotator = lapsus.train("judge", entries, scheme="error-types")
    assert isinstance(annotator, Judge)
    assert annotator.earlier_ == ("O", "T", "X")
    judged = [j for entry in lapsus.detect(entries, model=annotator) for j in entry.judgments]
    wanted = {j.unit for entry in entries for j in entry.judgments if j.scheme == "error-types"}
    assert {judgment.unit for judgment in judged} >= wanted
    assert not any(broken_rules(guideline, judgment.answers) for judgment in judged)
    assert len({judgment.answers["types"] for judgment in judged}) > 1
    bare = [Entry(entry.id, entry.document) for entry in entries]
    without = [j for entry in lapsus.detect(bare, model=annotator) for j in entry.judgments]
    assert len(without) > len(judged)


def test_whole_documents_are_judged_too(tmp_path: Path) -> None:
    path = tmp_path / "fluency.yaml"
    path.write_text(
        'scheme: fluency\nversion: "1"\ntitle: {en: Fluency}\nsummary: {en: How fluent?}\n'
        "unit: {role: document, context: all}\nquestions:\n  - id: fluency\n    kind: scale\n"
        "    name: {en: Fluency}\n    ask: {en: How fluent?}\n    levels:\n"
        + "".join(f"      - {{value: {n}, meaning: {{en: level {n}}}}}\n" for n in (1, 2, 3)),
        encoding="utf-8",
    )
    entries = []
    for number in range(60):
        level = number % 3 + 1
        text = {1: "Berlin the is is of of", 2: "Berlin is capital", 3: "Berlin is the capital of Germany."}
        segments = (
            Segment.triple("t", "Germany", "capital", "Berlin"),
            Segment("x", "text", f"{text[level]} {number}"),
        )
        judgments = tuple(
            Judgment(f"p{number}", None, who, "fluency", "1", {"fluency": level}) for who in ("a", "b")
        )
        entries.append(Entry(f"p{number}", Document(f"p{number}", segments, "en"), judgments))
    annotator = lapsus.train("judge", entries, scheme=str(path))
    judgment = next(iter(lapsus.detect(entries, model=annotator))).judgments[0]
    assert judgment.segment is None
    assert judgment.answers == {"fluency": 1}
    assert set(judgment.distributions["fluency"]) == {"1", "2", "3"}


def test_train_and_detect_as_commands(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Jsonl().write(behaviours.entries(40, seed=7), tmp_path / "mine.jsonl")
    own = str(behaviours.yes_no_scheme(tmp_path))
    assert "if it is your own, say" in refused("train", "judge", "mine.jsonl", "-o", "m.lapsus")
    out, _ = command("train", "judge", "mine.jsonl", "-o", "m.lapsus", "--scheme", own)
    assert "judge learned from 40 documents, 160 turns, 2,400 votes → m.lapsus" in out
    assert "judge beyond chance" in out
    assert "only shares are given: luck" in out
    out, remarks = command("detect", "mine.jsonl", "-o", "run.jsonl", "--with", "m.lapsus", "--scheme", own)
    assert "asks: agrees with people" in remarks
    assert "left unanswered: luck" in remarks
    assert "40 documents, 160 turns" in out
    entries = list(lapsus.read("run.jsonl"))
    assert {j.annotator for entry in entries for j in entry.judgments} == {"m"}
    assert set(entries[0].judgments[0].distributions) == set(behaviours.QUESTIONS)
    message = refused("detect", "mine.jsonl", "-o", "run.zip", "--with", "m.lapsus")
    assert "under 'breakdown', not under 'behaviours'" in message
    Jsonl().write(behaviours.entries(10, seed=7), tmp_path / "few.jsonl")
    out, _ = command("train", "judge", "few.jsonl", "-o", "n.lapsus", "--scheme", own, "--json")
    told = json.loads(out)
    assert told["unanswered"] == []  # too few units to tell luck from knowledge
    assert [one["question"] for one in told["agreement"]] == list(behaviours.QUESTIONS)


def test_a_model_holds_its_guideline_and_says_what_differs(model: Judge, tmp_path: Path) -> None:
    path = tmp_path / "m.lapsus"
    model.save(path)
    with zipfile.ZipFile(path) as archive:
        header = json.loads(archive.read("model.json"))
    assert (header["scheme"], header["version"]) == ("behaviours", "1")
    again = load_model(path)
    assert again.scheme == model.scheme
    assert isinstance(again, Judge)
    assert again.reports_ == model.reports_
    documents = behaviours.entries(3, seed=4)
    answers = [j.answers for entry in lapsus.detect(documents, model=again) for j in entry.judgments]
    assert answers == [j.answers for entry in lapsus.detect(documents, model=model) for j in entry.judgments]
    newer = str(behaviours.yes_no_scheme(tmp_path, "2", more="kind"))
    with pytest.raises(
        UsageError, match=r"knows version 1 of 'behaviours', and this is 2: 'kind' is asked now"
    ):
        lapsus.detect(documents, model=path, scheme=newer)
    lapsus.detect(documents, model=path, scheme=str(behaviours.yes_no_scheme(tmp_path, "3")))
    assert "behaviours" in str(lapsus.check(documents, model=path).as_data("en")["scheme"])
    Jsonl().write(documents, tmp_path / "log.jsonl")
    told = refused(
        "check", str(tmp_path / "log.jsonl"), "--with", str(path), "--judge", str(tmp_path / "t.html")
    )
    assert "a model under 'behaviours' is not adapted" in told


def test_the_challenges_methods_are_for_breakdown_only(folder: Path) -> None:
    with pytest.raises(UsageError, match="method 'rules' is for 'breakdown' only, not for 'behaviours'"):
        make_annotator("rules", {}, behaviours.scheme(folder))
    with pytest.raises(UsageError, match="for 'breakdown' only"):
        lapsus.train("prior", behaviours.entries(6), scheme=behaviours.scheme(folder))


def _free_text(folder: Path) -> Scheme:
    """A guideline whose only question is answered in one's own words, under the name of one that people judged by."""
    path = folder / "free.yaml"
    path.write_text(
        "scheme: breakdown\nversion: free\ntitle: {en: Free}\nsummary: {en: In words}\n"
        "unit: {role: system, context: before}\n"
        "questions: [{id: breakdown, kind: text, name: {en: Why}, ask: {en: Why?}}]\n",
        encoding="utf-8",
    )
    return read_scheme(path)


def test_too_little_to_learn_from_is_told(folder: Path, tmp_path: Path) -> None:
    guideline = behaviours.scheme(folder)
    with pytest.raises(InputError, match="too little to learn from: 3 judged documents"):
        lapsus.train("judge", behaviours.entries(3), scheme=guideline)
    bare = [Entry(entry.id, entry.document) for entry in behaviours.entries(9)]
    with pytest.raises(InputError, match="nothing in it is judged under 'behaviours'"):
        lapsus.train("judge", bare, scheme=guideline)
    with pytest.raises(UsageError, match="asks nothing that a judge can learn"):
        lapsus.train(
            "judge", sample_path("dialogues-en"), scheme=_free_text(folder), out=tmp_path / "m.lapsus"
        )
    assert not list(tmp_path.iterdir())
    coins = [
        msgspec.structs.replace(
            entry,
            judgments=tuple(
                msgspec.structs.replace(j, answers={"luck": j.answers["luck"]}) for j in entry.judgments
            ),
        )
        for entry in behaviours.entries(20, seed=7)
    ]
    assert lapsus.train("judge", coins, scheme=guideline, features="").unanswered == list(
        behaviours.QUESTIONS
    )  # type: ignore[attr-defined]


def test_more_than_can_be_held_is_drawn_by_document() -> None:
    annotator = lapsus.train(
        "judge", (invented.entry(n, "en") for n in range(40)), scheme="breakdown", most=50
    )
    assert annotator.origin_ is not None
    assert annotator.origin_.units <= 50
    assert annotator.origin_.units == 5 * annotator.origin_.documents


def test_a_judge_for_breakdown_serves_check_and_other_languages() -> None:
    annotator: Annotator = lapsus.train(
        "judge", [invented.entry(n, "en") for n in range(20)], scheme="breakdown"
    )
    found = lapsus.check([invented.entry(1, "ja")], model=annotator, top=2)
    assert found.turns == 5
    assert "judge" in found.to_text()
    assert "<html" in found.to_html("ja")
