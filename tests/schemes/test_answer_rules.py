"""Every broken rule at once, each with a message in the reader's language."""

from __future__ import annotations

from typing import Any

import pytest

from lapsus.kinds.messages import catalogue
from lapsus.model import Document, Segment, Span
from lapsus.schemes import asked_answers, broken_rules, check_scheme, load_scheme

PAIR = Document(
    "p",
    (
        Segment.triple("t1", "Lake_Orra", "area", "11.5"),
        Segment("text", "text", "lake orra 👍 covers 11.5 acres ."),
    ),
    "en",
)
CHAT = Document("c", (Segment("0", "system", "Hi"), Segment("1", "user", "Hello")), "en")


def rules(
    scheme: str, answers: dict[str, Any], document: Document | None = None, segment: str | None = None
) -> list[str]:
    return [broken.rule for broken in broken_rules(load_scheme(scheme), answers, document, segment)]


def spans(*spans: Span) -> list[str]:
    return rules("semantic-errors", {"errors": spans}, PAIR)


@pytest.mark.parametrize("label", ["O", "T", "X"])
def test_a_good_answer_breaks_nothing(label: str) -> None:
    assert rules("breakdown", {"breakdown": label}, CHAT, "0") == []
    assert rules("breakdown", {"breakdown": label, "comment": ""}, CHAT, "0") == []


def test_all_broken_rules_come_at_once() -> None:
    answers = {
        "types": ("uninterpretable", "unclear-intention", "topic-transition-error", "lack-of-information"),
        "x": 1,
    }
    assert rules("error-types", answers) == ["unknown-question", "alone", "apart", "apart"]


@pytest.mark.parametrize(
    "alone", ["uninterpretable", "grammatical-error", "semantic-error", "wrong-information"]
)
def test_the_first_four_types_stand_alone(alone: str) -> None:
    assert rules("error-types", {"types": (alone,)}) == []
    assert rules("error-types", {"types": (alone, "repetition")}) == ["alone"]


def test_other_types_go_together() -> None:
    assert rules("error-types", {"types": ("ignore-question", "topic-transition-error", "repetition")}) == []
    assert rules("error-types", {"types": ("unclear-intention", "repetition")}) == []


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({}, ["missing-answer"]),
        ({"types": ()}, ["too-few"]),
        ({"types": ("repetition", "repetition")}, ["repeated-label"]),
        ({"types": ("nonsense",)}, ["unknown-label"]),
        ({"types": "repetition"}, ["wrong-kind"]),
        ({"types": ("repetition",), "remark": 3}, ["wrong-kind"]),
    ],
)
def test_answers_of_the_wrong_make(answers: dict[str, Any], expected: list[str]) -> None:
    assert rules("error-types", answers) == expected


@pytest.mark.parametrize(
    ("level", "expected"),
    [(1, []), (5, []), (0, ["off-scale"]), (6, ["off-scale"]), (3.5, ["wrong-kind"]), (True, ["wrong-kind"])],
)
def test_scales(level: Any, expected: list[str]) -> None:
    found = rules("response-quality", {"soundness": level})
    assert [rule for rule in found if rule != "missing-answer"] == expected


def test_units_that_are_not_judged() -> None:
    assert rules("breakdown", {"breakdown": "O"}, CHAT, "1") == ["not-judged"]
    assert rules("breakdown", {"breakdown": "O"}, CHAT, None) == ["not-judged"]
    assert rules("semantic-errors", {"errors": ()}, PAIR, "text") == ["not-judged"]


def test_no_error_is_an_answer() -> None:
    assert spans() == []


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        (Span("t1", 0, 9, "omission"), []),
        (Span("t1", 12, 16, "omission"), []),
        (Span("t1", 0, 23, "omission"), []),
        (Span("t1", 0, 4, "omission"), ["cuts-element"]),
        (Span("text", 0, 4, "omission"), ["wrong-segment"]),
        (Span("text", 10, 11, "addition"), []),
        (Span("text", 24, 29, "addition"), []),
        (Span("text", 24, 28, "addition"), ["cuts-token"]),
        (Span("text", 24, 99, "addition"), ["outside"]),
        (Span("nowhere", 0, 1, "addition"), ["unknown-segment"]),
        (Span("text", 0, 4, "omision"), ["unknown-label"]),
    ],
)
def test_where_spans_may_stand(span: Span, expected: list[str]) -> None:
    assert spans(span) == expected


def test_spans_may_overlap_but_not_repeat() -> None:
    wide, narrow = Span("text", 0, 9, "repetition"), Span("text", 5, 9, "addition")
    assert spans(wide, narrow) == []
    assert spans(wide, wide) == ["repeated-span"]


def test_only_an_omission_and_an_addition_are_tied() -> None:
    omission, addition = Span("t1", 0, 9, "omission", "a"), Span("text", 0, 9, "addition", "a")
    assert spans(omission, addition) == []
    assert spans(omission) == ["tie"]
    assert spans(addition, Span("text", 12, 18, "repetition", "a")) == ["tie"]


def test_messages_name_the_labels_in_the_readers_language() -> None:
    (broken,) = broken_rules(load_scheme("error-types"), {"types": ("wrong-information", "repetition")})
    assert (
        broken.message("en") == "4 Wrong information stands alone: choose it or the others (15 Repetition)."
    )
    assert (
        broken.message("ja")
        == "4 誤情報は単独で付けます。これだけにするか、ほか（15 繰り返し）にしてください。"
    )
    assert broken.message("fr") == broken.message("en")


def test_every_message_is_there_in_both_languages() -> None:
    rules = {rule: words for rule, words in catalogue().items() if "en" in words}
    assert len(rules) > 10
    for rule, words in rules.items():
        assert set(words) == {"en", "ja"}
        places = {word: template.count("{") for word, template in words.items()}
        assert places["en"] == places["ja"], rule


CONDITIONS = """
scheme: conditions
version: "1"
title: {en: T}
summary: {en: S}
unit: {role: system, context: before}
questions:
  - id: faults
    kind: labels
    name: {en: Faults}
    ask: {en: Which?}
    labels:
      - {id: rude, name: {en: Rude}, definition: {en: d}}
      - {id: wrong, name: {en: Wrong}, definition: {en: d}}
  - id: badly
    kind: scale
    only_if: {question: faults, answers: [rude, wrong]}
    name: {en: Badly}
    ask: {en: How badly?}
    levels: [{value: 1, meaning: {en: a little}}, {value: 2, meaning: {en: very}}]
  - id: why
    kind: text
    only_if: {question: badly, answers: [2]}
    name: {en: Why}
    ask: {en: Why?}
"""


@pytest.mark.parametrize(
    ("answers", "broken"),
    [
        ({"faults": ()}, []),
        ({"faults": ("rude",)}, ["missing-answer"]),
        ({"faults": ("rude",), "badly": 1}, []),
        ({"faults": ("rude",), "badly": 2}, ["missing-answer"]),
        ({"faults": ("rude",), "badly": 2, "why": "So."}, []),
        ({"faults": (), "badly": 2, "why": "So."}, ["not-asked"]),
        ({"faults": (), "why": "So."}, ["not-asked"]),
    ],
)
def test_questions_that_are_asked_only_after_certain_answers(
    answers: dict[str, Any], broken: list[str]
) -> None:
    scheme, problems = check_scheme(CONDITIONS, "conditions")
    assert scheme is not None
    assert not [problem for problem in problems if problem.severe]
    assert [rule.rule for rule in broken_rules(scheme, answers)] == broken
    left = asked_answers(scheme, answers)
    assert "not-asked" not in {rule.rule for rule in broken_rules(scheme, left)}
    assert left.keys() <= answers.keys()


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("question: faults, answers: [rude, wrong]", "question: why, answers: [rude]"),
        ("question: faults, answers: [rude, wrong]", "question: faults, answers: [3]"),
        ("question: faults, answers: [rude, wrong]", "question: faults, answers: []"),
        ("question: badly, answers: [2]", "question: badly, answers: [3]"),
    ],
)
def test_a_condition_that_cannot_be_met_is_told(said: str, message: str) -> None:
    _, problems = check_scheme(CONDITIONS.replace(said, message), "conditions")
    assert [problem.rule for problem in problems if problem.severe] in (["reference"], ["only_if"])
