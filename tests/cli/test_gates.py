"""Gates and cascades of judges as a user runs them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml

import lapsus
from lapsus.analysis.cascade import cascade
from lapsus.analysis.trust import doubts
from lapsus.errors import InputError, UsageError
from lapsus.kinds import kinds_of
from lapsus.model import Entry, Judgment
from lapsus.schemes import load_scheme
from tests.cli.trust_cases import TURNS, document, entries, refused, run, say, write

__all__ = ["write"]


def test_a_gate_passes_as_it_stands_and_fails_when_answers_are_shuffled(write: Any, tmp_path: Path) -> None:
    whole = entries(40, 40)
    data, gate, report = write(whole), tmp_path / "gate.yaml", tmp_path / "out.xml"
    run("trust", data, "--freeze", gate)
    frozen = yaml.safe_load(gate.read_text())
    assert frozen["people"] == "data.jsonl"
    assert frozen["setting"] == {"model": "m1", "prompt": "abc"}
    assert "passes the gate" in run("trust", "--gate", gate, "--junit", report)
    assert ElementTree.parse(report).getroot().attrib["failures"] == "0"  # noqa: S314  our own file
    answers = [j.answers for e in whole for j in e.judgments if j.annotator == "robot"]
    order = iter(np.random.default_rng(0).permutation(len(answers)).tolist())

    def shuffled(judgment: Judgment) -> Judgment:
        if judgment.annotator != "robot":
            return judgment
        return say(int(judgment.document[1:]), int(judgment.segment or 0) // 2, "robot",
                   str(answers[next(order)]["breakdown"]), metadata=judgment.metadata)  # fmt: skip

    run_file = write([Entry(e.id, e.document, tuple(map(shuffled, e.judgments))) for e in whole], "run.jsonl")
    told = run("trust", run_file, "--gate", gate, "--junit", report, code=1)
    assert "FAILED breakdown: better than its answers shuffled" in told
    assert "FAILED breakdown: agreement with people" in told
    suite = ElementTree.parse(report).getroot()  # noqa: S314  our own file
    assert int(suite.attrib["failures"]) == sum(case.find("failure") is not None for case in suite) >= 3


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model": "m2"}, "made with the same model: m2 (wanted: m1)"),
        ({"prompt": "xyz"}, "made with the same prompt: xyz (wanted: abc)"),
    ],
)
def test_a_gate_sees_another_model_or_prompt(
    write: Any, tmp_path: Path, change: dict[str, str], words: str
) -> None:
    whole, gate = entries(40, 40), tmp_path / "gate.yaml"
    run("trust", write(whole), "--freeze", gate)
    setting = {"setting": {"model": "m1", "prompt": "abc"} | change}
    changed = [
        say(
            int(j.document[1:]),
            int(j.segment or 0) // 2,
            "robot",
            str(j.answers["breakdown"]),
            metadata=setting,
        )
        for e in whole
        for j in e.judgments
        if j.annotator == "robot"
    ]
    by_document = [Entry(e.id, e.document, tuple(j for j in changed if j.document == e.id)) for e in whole]
    assert words in run("trust", write(by_document, "run.jsonl"), "--gate", gate, code=1)
    fewer = write(by_document[:20], "fewer.jsonl")
    assert "units answered: 120 of 240" in run("trust", fewer, "--gate", gate, code=1)


def test_a_gate_sees_when_the_frozen_set_was_changed(write: Any, tmp_path: Path) -> None:
    gate = tmp_path / "gate.yaml"
    run("trust", write(entries(40, 40)), "--freeze", gate)
    write(entries(40, 39))
    assert "FAILED the frozen set is unchanged" in run("trust", "--gate", gate, code=1)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[]", "is no gate"),
        ("judge: a", "is no gate"),
        ("judge: r\nscheme: breakdown\npeople: p\nbounds: {}\nsurprise: 1", "is no gate"),
        ("{", "not sound YAML"),
        ("[" * 5000, "nested too deep"),
        ("judge: !!timestamp x", "not the kind of value"),
        ("judge: &a [x]\nscheme: [*a, *a]", "aliases"),
    ],
)
def test_a_broken_gate_is_told(tmp_path: Path, text: str, told: str) -> None:
    gate = tmp_path / "gate.yaml"
    gate.write_text(text)
    with pytest.raises(InputError, match=told):
        run("trust", "--gate", gate)
    with pytest.raises(UsageError, match="no such file"):
        run("trust", "--gate", tmp_path / "none.yaml")


def test_a_cascade_goes_on_from_stage_to_stage(write: Any, tmp_path: Path) -> None:
    whole = entries(20, 0)
    first, out = write(whole, "first.jsonl"), tmp_path / "next.jsonl"
    named = ("--judge", "robot", "--judge", "model", "--overwrite", "-o", out)
    robot = {j.unit: j for e in whole for j in e.judgments}
    doubted = {unit for unit, j in robot.items() if max(j.distributions["breakdown"].values()) < 0.7}
    told = json.loads(run("cascade", first, *named, "--json"))
    assert (told["units"], told["waits_for"], told["waiting"]) == (120, "second", len(doubted))
    waiting = {
        (entry.id, segment)
        for entry in lapsus.read(out)
        for segment in entry.document.metadata["drawn_units"]["units"]
    }
    assert waiting == {tuple(unit) for unit in doubted}

    def judged(who: str, units: Any, label: Callable[[Any], str], **more: Any) -> list[Entry]:
        found: dict[str, list[Judgment]] = {}
        for unit in sorted(units):
            found.setdefault(unit.document, []).append(
                say(int(unit.document[1:]), int(unit.segment) // 2, who, label(unit), **more)
            )
        return [Entry(name, document(int(name[1:])), tuple(judgments)) for name, judgments in found.items()]

    cost = {"metadata": {"tokens": {"prompt": 90, "completion": 10}}, "seconds": 0.5}
    second = write(judged("model", doubted, lambda unit: "X", **cost), "second.jsonl")
    disputed = {unit for unit in doubted if robot[unit].answers["breakdown"] != "X"}
    told = json.loads(run("cascade", first, second, *named, "--json"))
    assert (told["waits_for"], told["waiting"]) == ("people", len(disputed))
    assert told["stages"][1]["tokens"] == 100 * len(doubted)
    assert told["stages"][1]["seconds"] == pytest.approx(0.5 * len(doubted))
    assert told["stages"][1]["settled"] == len(doubted) - len(disputed)
    # Nobody measured how long the first took; nothing was asked of people yet, which took no time.
    assert [told["stages"][place]["seconds"] for place in (0, 2)] == [None, 0.0]
    shown = run("cascade", first, second, *named).splitlines()
    assert [line.split()[-1] for line in shown[1:4:2]] == ["–", "0.0"]
    people = write(judged("ann", disputed, lambda unit: "T"), "people.jsonl")
    assert "all 120 units are settled" in run("cascade", first, second, people, *named)
    final = {j.unit: j for entry in lapsus.read(out) for j in entry.judgments}
    assert len(final) == 120
    for unit, judgment in final.items():
        assert judgment.annotator == "cascade"
        assert judgment.answers["breakdown"] == (
            "T" if unit in disputed else robot[unit].answers["breakdown"]
        )


def test_a_cascade_needs_a_first_judge_that_doubts(write: Any) -> None:
    sure = [
        Entry(e.id, e.document, tuple(say(int(e.id[1:]), t, "robot", "O") for t in range(TURNS)))
        for e in entries(4, 0)
    ]
    assert "does not say how sure it is" in refused("cascade", write(sure), "--judge", "robot")
    three = [part for name in "abc" for part in ("--judge", name)]
    assert "a first judge, and a second" in refused("cascade", write(sure), *three)


def test_a_judge_of_several_labels_doubts_those_that_may_be_or_not(write: Any) -> None:
    """Such shares do not add up to 1: that every label is unlikely is no doubt, that one is as likely as not is."""
    labels = ("uninterpretable", "grammatical-error")
    shares = [(0.02, 0.03), (0.98, 0.5), (0.9, 0.1)]
    data = [
        Entry(
            f"d{number}",
            document(number),
            (
                Judgment(
                    f"d{number}",
                    "1",
                    "robot",
                    "error-types",
                    "1.2.1",
                    {"types": labels[:1]},
                    {"types": dict(zip(labels, given, strict=True))},
                ),
            ),
        )
        for number, given in enumerate(shares)
    ]
    told, waiting = cascade(write(data), judges=["robot", "model"])
    assert (told.waiting, [entry.id for entry in waiting]) == (1, ["d1"])
    kinds = kinds_of(load_scheme("error-types"))
    assert [doubts(entry.judgments[0], kinds) for entry in data] == [
        [pytest.approx(0.03)],
        [pytest.approx(0.5)],
        [pytest.approx(0.1)],
    ]
