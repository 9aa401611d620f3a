"""Plans as files: read with errors that name the line, written to be read again."""

from __future__ import annotations

from pathlib import Path

import pytest

from lapsus.errors import InputError, InvalidError
from lapsus.store import (
    Checks,
    Completion,
    KnownUnit,
    KnownUnits,
    Pilot,
    Plan,
    parse_plan,
    plan_yaml,
    read_plan,
)

WHOLE = """
name: spring
scheme: breakdown
title: {en: Spring chats, ja: 春の雑談}
data: {path: chats.jsonl, language: en}
per_unit: 3
per_person: 10
who: open
pilot: {documents: 2, per_unit: 5}
training:
  then: stop
  allow: 1
  units:
    - document: d0
      segment: "2"
      answers: {breakdown: X}
      feedback: {en: "Nobody can go on: the system left the topic.", ja: 話題から外れています。}
checks:
  every: 4
  then: warn
  units:
    - {document: d1, segment: "0", answers: [{breakdown: T}, {breakdown: X}]}
consent: {en: "I agree.\\n\\nReally."}
completion: {code: C1ABC, url: "https://example.org/done"}
suggest: rules
"""


def test_a_plan_is_read_and_written_and_read_again_the_same() -> None:
    plan = parse_plan(WHOLE)
    assert plan.pilot == Pilot(2, 5)
    assert plan.pilot_per_unit == 5
    assert isinstance(plan.checks, Checks)
    assert plan.checks.units[0].right == ({"breakdown": "T"}, {"breakdown": "X"})
    assert plan.completion == Completion("C1ABC", "https://example.org/done")
    assert plan.source is not None
    assert plan.source.path == "chats.jsonl"
    assert parse_plan(plan_yaml(plan)) == plan


@pytest.mark.parametrize(
    "words", ["yes", "on", "1", "null", "~", "a: b", "# no", "two\n\nlines \n", "\u0085x", "- x"]
)
def test_any_words_survive_the_file(words: str) -> None:
    plan = Plan("a", "breakdown", title={"en": words}, instructions={"ja": words})
    assert parse_plan(plan_yaml(plan)) == plan


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: a\nscheme: breakdown\nper_units: 3\n", r"line 3: unknown key 'per_units': did you mean 'per_unit'"),
        ("name: a\nscheme: b\nchecks:\n  evry: 3\n  file: x\n", r"line 4: unknown key 'evry': did you mean 'every'"),
        ("name: a\nscheme: b\nper_unit: many\n", "line 3: Expected `int`"),
        ("name: a\n", "missing required field `scheme`"),
        ("- a\n", "is a mapping"),
        ("name: A B\nscheme: b\n", "no short name"),
        ("name: a\nname: b\n", "stands there twice"),
        ("name: a\nscheme: b\ntraining: {then: stop}\n", "listed under `units`, or in a `file`"),
        ("name: a\nscheme: b\ncompletion: {code: 'a b'}\n", "completion code"),
        ("name: a\nscheme: b\nchain: {campaign: c}\ndata: x\n", "leave out data"),
        ("name: [", "not sound YAML"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_plan_is_said_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message) as error:
        read_plan(path)
    assert "plan.yaml" in str(error.value)


@pytest.mark.parametrize(
    "wrong",
    [
        {"per_person": -1},
        {"pilot": Pilot(1), "chain": None, "who": "named", "per_unit": 0},
        {"consent": {"en": "x" * 30_000}},
    ],
)
def test_plans_that_make_no_sense_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidError):
        Plan("a", "breakdown", **wrong)  # type: ignore[arg-type]


def test_known_answers_are_listed_or_in_a_file_not_both() -> None:
    unit = KnownUnit("d", {"breakdown": "O"})
    with pytest.raises(InvalidError):
        KnownUnits((unit,), "file.jsonl")
