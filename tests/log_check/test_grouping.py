"""Flagged turns in groups, kinds still unseen, and the guideline drafted from them."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lapsus.cli.app import app
from lapsus.log_check.grouping import MOST, Flagged, Group, Grouping, grouped
from lapsus.schemes import load_scheme

REFUSALS = [f"I'm sorry, but I can't help you with your {what}." for what in ("invoice", "parcel", "ticket")]
ERRORS = [f"Error {number}: upstream timed out" for number in (502, 503, 504)]
ODD = Flagged("Bananas ripen faster in a paper bag beside an apple.", "Where is my parcel?", ())


def turns() -> list[Flagged]:
    refused = [Flagged(text, "Can you help?", ("refuses",), "refuses") for text in REFUSALS]
    return [*refused, *(Flagged(text, "Hello?", ("error-text",), "an error") for text in ERRORS), ODD]


def test_turns_with_the_same_sign_hang_together_and_others_stand_alone() -> None:
    found = grouped(turns())
    assert [(group.size, group.kind is None) for group in found.groups] == [
        (3, False),
        (3, False),
        (1, True),
    ]
    assert all(group.holds == 1 for group in found.groups[:2])
    assert found.groups[2].holds is None
    assert {one.text for one in found.groups[0].typical} == set(REFUSALS)


def test_light_signs_beside_the_heaviest_do_not_part_what_hangs_together() -> None:
    beside = [("refuses",), ("refuses", "too-little"), ("refuses", "ignores-question", "leaves-topic")]
    turns = [Flagged(text, "", signs) for text, signs in zip(REFUSALS, beside, strict=True)]
    assert [group.size for group in grouped(turns).groups] == [3]


def test_words_are_those_of_the_group() -> None:
    refused, failed, _ = grouped(turns()).groups
    assert "sorry" in refused.words
    assert {"upstream", "error"} <= set(failed.words)


def test_turns_without_a_sign_are_told_apart_by_what_they_say() -> None:
    alike = [Flagged("The museum opens at nine in the morning.", "", ())] * 2
    found = grouped([*alike, ODD])
    assert sorted(group.size for group in found.groups) == [1, 2]


@pytest.mark.parametrize(
    ("sizes", "share", "kinds"),
    [([5, 1, 1, 1], 3 / 8, 3.0), ([2, 2, 1], 1 / 5, 0.0), ([1, 1, 1, 2], 3 / 5, 1.5)],
)
def test_unseen_kinds_are_estimated_as_good_turing_and_chao_do(
    sizes: list[int], share: float, kinds: float
) -> None:
    found = Grouping(tuple(Group(None, size, (), (), None) for size in sizes), sum(sizes), sum(sizes))
    assert found.unseen_share == pytest.approx(share)
    assert found.unseen_kinds == pytest.approx(kinds)


def test_nothing_flagged_makes_no_groups() -> None:
    assert grouped([]) == Grouping()
    assert Grouping().unseen_share is None


def test_as_many_turns_as_are_kept_are_grouped() -> None:
    found = grouped(turns() * (MOST // 7))
    assert sum(group.size for group in found.groups) == MOST // 7 * 7


def ranking(path: Path, likely: bool = True) -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        out = csv.writer(stream)
        out.writerow(["likely", "score", "signs", "says", "asked", "text"])
        out.writerows([likely, 2.0, " ".join(one.signs), one.says, one.asked, one.text] for one in turns())
    return path


@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_drafted_guideline_passes_its_check(tmp_path: Path, language: str) -> None:
    target = tmp_path / "Our faults.yaml"
    arguments = ["scheme", "draft", str(ranking(tmp_path / "ranked.csv")), "-o", str(target)]
    result = CliRunner().invoke(app, [*arguments, "--lang", language])
    assert result.exit_code == 0, result.output
    checked = CliRunner().invoke(app, ["scheme", "check", str(target)])
    assert checked.exit_code == 0, checked.output
    scheme = load_scheme(str(target))
    labels = scheme.questions[0].labels
    assert [len(label.examples.get(language, ())) for label in labels] == [3, 3, 1, 0]
    assert REFUSALS[0] in " ".join(labels[0].examples[language][0].turns)


@pytest.mark.parametrize(
    ("content", "said"),
    [("a,b\n1,2\n", "no ranking of a check"), (None, "no turn is called likely")],
)
def test_what_is_no_ranking_is_said(tmp_path: Path, content: str | None, said: str) -> None:
    path = tmp_path / "ranked.csv"
    if content is None:
        ranking(path, likely=False)
    else:
        path.write_text(content)
    result = CliRunner().invoke(app, ["scheme", "draft", str(path), "-o", str(tmp_path / "x.yaml")])
    assert result.exit_code != 0
    assert said in str(result.exception)
