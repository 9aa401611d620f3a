"""The four guidelines: complete in both languages, every rule kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from lapsus.errors import InvalidError
from lapsus.model import Label, Question, Scheme
from lapsus.schemes import check_scheme, load_scheme, scheme_names
from lapsus.schemes.library import OWN

GRID = {
    ("utterance", "form"): [1, 2],
    ("utterance", "content"): [3, 4],
    ("response", "form"): [5, 6, 7, 8],
    ("response", "content"): [9],
    ("context", "form"): [10, 11, 12],
    ("context", "content"): [13, 14, 15],
    ("society", "form"): [16],
    ("society", "content"): [17],
}


def question(scheme: str, id: str) -> Question:
    found = load_scheme(scheme).question(id)
    assert found is not None
    return found


def labels(scheme: Scheme) -> Iterator[Label]:
    for question in scheme.questions:
        yield from question.labels


@pytest.mark.parametrize("name", OWN)
def test_nothing_is_wrong_with_our_own(name: str) -> None:
    from importlib.resources import files

    text = (files("lapsus.schemes") / "data" / f"{name}.yaml").read_text(encoding="utf-8")
    scheme, problems = check_scheme(text, name)
    assert problems == []
    assert scheme is not None
    assert scheme.id == name
    assert set(scheme.languages) == {"en", "ja"}


# Which of two replies is A says nothing of what it is like.
@pytest.mark.parametrize("name", [name for name in OWN if name != "preference"])
def test_each_label_has_examples_that_fit_and_that_do_not(name: str) -> None:
    for label in labels(load_scheme(name)):
        for language in ("en", "ja"):
            fits = [example.fits for example in label.examples[language]]
            assert True in fits
            assert False in fits


@pytest.mark.parametrize("name", OWN)
def test_the_judged_turn_of_an_example_is_the_systems(name: str) -> None:
    for question in load_scheme(name).questions:
        groups = [question.examples, *(label.examples for label in question.labels)]
        for example in (e for group in groups for examples in group.values() for e in examples):
            if example.turns:
                assert example.turns[-1].startswith("S: ")


@pytest.mark.parametrize("name", OWN)
def test_japanese_is_written_in_japanese(name: str) -> None:
    from lapsus.language import language_by_script

    def texts(value: Any) -> Iterator[str]:
        if isinstance(value, str):
            yield value
        elif isinstance(value, tuple):
            for item in value:
                yield from texts(item)

    scheme = load_scheme(name)
    for text in texts((scheme.summary["ja"], *(label.definition["ja"] for label in labels(scheme)))):
        assert language_by_script(text) == "ja", text


def test_breakdown_labels_and_their_spellings() -> None:
    asked = question("breakdown", "breakdown")
    assert [label.id for label in asked.labels] == ["O", "T", "X"]
    for spellings, id in ((("O", "NB", "○"), "O"), (("T", "PB", "△"), "T"), (("X", "B", "×"), "X")):
        for spelling in spellings:
            label = asked.label(spelling)
            assert label is not None
            assert label.id == id
    assert load_scheme("breakdown").unit.context == "before"
    assert not question("breakdown", "comment").required


def test_error_types_stand_in_the_manuals_grid() -> None:
    asked = question("error-types", "types")
    found: dict[Any, list[int | None]] = {}
    for label in asked.labels:
        found.setdefault(label.cell, []).append(label.number)
    assert found == GRID
    assert asked.in_order
    assert asked.at_least == 1
    numbers = {label.id: label.number for label in asked.labels}
    assert sorted(numbers[id] or 0 for id in asked.alone) == [1, 2, 3, 4]
    assert {frozenset((numbers[a], numbers[b])) for a, b in asked.apart} == {
        frozenset((10, 11)),
        frozenset((10, 12)),
    }
    own = question("error-types", "own-view")
    assert not own.required
    assert [label.id for label in own.labels] == ["no-breakdown", "breakdown"]


@pytest.mark.parametrize(
    ("counts", "judged"),
    [
        ({"O": 15, "T": 7, "X": 8}, True),
        ({"O": 16, "T": 7, "X": 7}, False),
        ({"X": 1}, True),
        ({"O": 3}, False),
        ({}, False),
    ],
)
def test_error_types_are_for_turns_that_half_or_more_find_broken(
    counts: dict[str, int], judged: bool
) -> None:
    target = load_scheme("error-types").target
    assert target is not None
    assert target.admits(counts) is judged


def test_languages_keep_rules_of_their_own() -> None:
    """Particles and inflection matter in Japanese grammar, not in English; lacking objects are named in Japanese."""
    by_id = {label.id: label for label in labels(load_scheme("error-types"))}
    assert "助詞" in by_id["grammatical-error"].definition["ja"] + "".join(
        by_id["grammatical-error"].notes["ja"]
    )
    assert "主語" in by_id["lack-of-information"].definition["ja"]
    assert len(by_id["topic-transition-error"].notes["en"]) >= 5


def test_response_quality_has_seven_scales_and_three_choices() -> None:
    scheme = load_scheme("response-quality")
    scales = [q for q in scheme.questions if q.kind == "scale"]
    assert [q.id for q in scales] == [
        "soundness", "conciseness", "completeness", "relevance", "clarity", "brevity", "coherence",
    ]  # fmt: skip
    assert all([level.value for level in q.levels] == [1, 2, 3, 4, 5] for q in scales)
    choices = [q for q in scheme.questions if q.kind == "label"]
    assert [q.id for q in choices] == ["dialogue-act", "emotion", "communicative-goal"]
    assert all({label.id for label in q.labels} == {"Y", "N", "P"} for q in choices)


def test_reference_lists_have_all_classes() -> None:
    scheme = load_scheme("response-quality")
    acts, emotions = scheme.reference("dialogue-acts"), scheme.reference("emotions")
    assert acts is not None
    assert emotions is not None
    assert [len(group.items) for group in acts.groups] == [13, 10]
    assert [len(group.items) for group in emotions.groups] == [12, 11, 4, 1]
    fitting = scheme.question("fitting-acts")
    assert fitting is not None
    assert len(scheme.labels_of(fitting)) == 23


@pytest.mark.parametrize(
    ("stated", "necessary", "level"),
    [
        (1, 2, 3),
        (0, 2, 1),
        (2, 2, 5),
        (1, 3, 2),
        (2, 3, 3),
        (1, 10, 1),
        (3, 10, 2),
        (9, 10, 5),
        (7, 10, 4),
        (1, 50, 1),
    ],
)
def test_completeness_rounds_halves_up_and_never_gives_zero(stated: int, necessary: int, level: int) -> None:
    calculator = question("response-quality", "completeness").calculator
    assert calculator is not None
    assert calculator.level(stated, necessary) == level


@pytest.mark.parametrize(("stated", "necessary"), [(1, 0), (3, 2), (-1, 2)])
def test_completeness_of_impossible_counts_is_an_error(stated: int, necessary: int) -> None:
    calculator = question("response-quality", "completeness").calculator
    assert calculator is not None
    with pytest.raises(InvalidError, match="is not a share"):
        calculator.level(stated, necessary)


def test_semantic_errors_stand_where_they_belong() -> None:
    scheme = load_scheme("semantic-errors")
    places = {label.id: (label.on, label.covers) for label in labels(scheme)}
    assert places == {
        "omission": ("triple", "element"),
        "addition": ("text", "token"),
        "repetition": ("text", "token"),
    }
    assert [set(step.labels) for step in scheme.steps] == [{"omission"}, {"addition"}, {"repetition"}]
    assert question("semantic-errors", "errors").ties == (("omission", "addition"),)
    assert scheme.unit.role == "document"


def test_our_own_are_listed_first() -> None:
    assert tuple(scheme_names()[: len(OWN)]) == OWN
