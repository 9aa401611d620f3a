"""A team's own scheme file is checked with messages that name line and rule."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from lapsus.errors import InputError, UsageError
from lapsus.schemes import check_scheme, load_scheme, read_scheme

GOOD = """\
scheme: tone
version: "1"
title: {en: Tone, ja: 口調}
summary: {en: How does it sound?, ja: どんな口調ですか。}
unit: {role: system}
questions:
  - id: tone
    kind: labels
    name: {en: Tone, ja: 口調}
    ask: {en: Which?, ja: どれですか。}
    alone: [flat]
    labels:
      - {id: warm, name: {en: warm, ja: 温かい}, definition: {en: It is warm., ja: 温かいです。}}
      - {id: flat, name: {en: flat, ja: 平板}, definition: {en: It is flat., ja: 平板です。}}
"""


def found(text: str) -> list[tuple[int, str]]:
    return [(problem.line, problem.rule) for problem in check_scheme(text, "own.yaml")[1]]


def test_a_good_file_has_no_problems() -> None:
    scheme, problems = check_scheme(GOOD, "own.yaml")
    assert problems == []
    assert scheme is not None
    assert scheme.questions[0].labels[1].id == "flat"


@pytest.mark.parametrize(
    ("right", "wrong", "line"),
    [
        ("en: How does it sound?", "en: Is it helpful, and is it kind?", 4),
        ("definition: {en: It is warm.", "definition: {en: It is warm, and is it kind?", 13),
    ],
)
def test_a_comma_inside_braces_is_told_to_need_quotation_marks(right: str, wrong: str, line: int) -> None:
    (problem,) = check_scheme(GOOD.replace(right, wrong), "own.yaml")[1]
    assert (problem.line, problem.rule) == (line, "shape")
    assert problem.message == (
        "'and is it kind?' has no text: a text with a comma needs quotation marks inside braces"
    )
    quoted = wrong.replace("en: ", 'en: "') + '"'
    assert check_scheme(GOOD.replace(right, quoted), "own.yaml")[1] == []


@pytest.mark.parametrize("text", ["[" * 100_000, "{a: " * 50_000, "- " * 50_000])
def test_bottomless_nesting_is_an_error_and_no_crash(text: str) -> None:
    assert [rule for _, rule in found(text)] == ["yaml"]


@pytest.mark.parametrize(
    "value",
    [
        "1" * 5000, ":".join(["1"] * 50_000), ":".join(["1"] * 5000) + ".5", "0x_", "0b_", "!!int abc", "!!int ''",
        "!!float abc", "!!bool maybe", "!!timestamp 2001-99-99", "!!timestamp x",
    ],
)  # fmt: skip
def test_what_is_no_number_and_no_day_is_told_at_once(value: str) -> None:
    begun = time.process_time()
    assert found(f"scheme: tone\nversion: {value}") == [(2, "yaml")]
    assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    ("old", "new", "line", "rule"),
    [
        ("alone: [flat]", "alone: [flatt]", 11, "reference"),
        ("kind: labels", "kind: lables", 8, "shape"),
        ("ask: {en: Which?, ja: どれですか。}", "ask: {en: Which?}", 10, "language"),
        ("ask: {en: Which?, ja: どれですか。}", "ask: {en: Which?, ja: あ, fr: Quoi}", 10, "language"),
        ("- {id: flat,", "- {id: warm,", 14, "unique"),
        ("alone: [flat]", "levels: [{value: 1, meaning: {en: a, ja: あ}}]", 11, "kind"),
        ("alone: [flat]", "apart: [[flat, flat]]", 11, "apart"),
        ("alone: [flat]", "in_order: true", 13, "in_order"),
        ("alone: [flat]", "at_least: 3\n    at_most: 2", 12, "at_most"),
        ("alone: [flat]", "reference: acts", 11, "reference"),
        ("scheme: tone", "scheme: to ne", 1, "id"),
        ("unit: {role: system}", "unit: {role: sistem}", 5, "shape"),
        ("- {id: flat,", "- {id: flat, on: text,", 14, "on"),
        ('version: "1"', "version: 1", 2, "shape"),
        ("  - id: tone", "  - id: tone\n    id: tone", 8, "yaml"),
        ("alone: [flat]", "alone: [flat", 12, "yaml"),
    ],
)
def test_problems_name_line_and_rule(old: str, new: str, line: int, rule: str) -> None:
    assert old in GOOD
    assert (line, rule) in found(GOOD.replace(old, new))


def test_a_mistyped_key_is_told_with_what_was_meant() -> None:
    _, problems = check_scheme(
        GOOD.replace("definition: {en: It is flat.", "definiton: {en: It is flat."), "own.yaml"
    )
    messages = " ".join(problem.message for problem in problems)
    assert "did you mean 'definition'" in messages


def test_several_problems_come_at_once() -> None:
    broken = GOOD.replace("definition: {en: It is warm., ja: 温かいです。}", "x: 1").replace(
        "kind: labels", "kind: k"
    )
    assert {line for line, _ in found(broken)} == {8, 13}


def test_on_and_no_are_words() -> None:
    """YAML 1.1 would read both as truth values."""
    spans = (
        GOOD.replace("kind: labels", "kind: spans")
        .replace("    alone: [flat]\n", "")
        .replace("- {id: flat", "- {id: no")
    )
    spans = spans.replace("{id: warm,", "{id: warm, on: text,").replace("{id: no,", "{id: no, on: text,")
    scheme, problems = check_scheme(spans, "own.yaml")
    assert problems == []
    assert scheme is not None
    assert [label.id for label in scheme.questions[0].labels] == ["warm", "no"]


@pytest.mark.parametrize(
    "text", ["", "[]", "scheme", "a: &x [1]\nb: *x", "\x00", "scheme: !!python/object:os.system {}"]
)
def test_hostile_files_end_in_a_problem(text: str) -> None:
    scheme, problems = check_scheme(text, "own.yaml")
    assert scheme is None
    assert problems


def test_a_file_can_stand_for_a_name(tmp_path: Path) -> None:
    path = tmp_path / "tone.yaml"
    path.write_text(GOOD, encoding="utf-8")
    assert load_scheme(str(path)) == read_scheme(path)
    path.write_text(GOOD.replace("[flat]", "[x]"), encoding="utf-8")
    with pytest.raises(InputError, match="line 11"):
        load_scheme(str(path))


def test_unknown_names_get_a_suggestion() -> None:
    with pytest.raises(UsageError, match="did you mean 'breakdown'"):
        load_scheme("breakdwon")
