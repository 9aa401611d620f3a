from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lapsus.errors import InputError
from lapsus.measures.scores.runs import align_run
from lapsus.model import Judgment, UnitKey
from lapsus.model.votes import LabelVotes

UNITS = (UnitKey("a", "1"), UnitKey("a", "3"), UnitKey("b", "1"), UnitKey("b", "3"))
CODES = np.array([[0, 0, 2], [1, 1, -1], [-1, -1, -1], [2, 2, 2]])
GOLD = LabelVotes(UNITS, ("p", "q", "r"), ("O", "T", "X"), CODES)
SHARES = {"O": 0.5, "T": 0.3, "X": 0.2}


def said(document: str, turn: str | None, label: str = "O", shares: Any = SHARES, **more: Any) -> Judgment:
    distributions = {} if shares is None else {"breakdown": shares}
    more = {"annotator": "run", **more}
    return Judgment(
        document, turn, more.pop("annotator"), "breakdown", "1.0", {"breakdown": label}, distributions, **more
    )


def run(*changes: Judgment) -> list[Judgment]:
    answers = {
        judgment.unit: judgment for judgment in (said("a", "1"), said("a", "3", "T"), said("b", "3", "X"))
    }
    return list((answers | {judgment.unit: judgment for judgment in changes}).values())


def test_scored_turns_are_those_with_votes() -> None:
    found = align_run(GOLD, run())
    assert found.units == (UNITS[0], UNITS[1], UNITS[3])
    assert found.gold.tolist() == [[2, 0, 1], [0, 2, 0], [0, 0, 3]]
    assert found.labels.tolist() == [0, 1, 2]
    assert found.distributions.tolist() == [[0.5, 0.3, 0.2]] * 3
    assert found.groups.tolist() == [0, 0, 1]
    assert (found.one_hot, found.out_of_place) == (0, ())
    assert found.scores(bootstrap=None)["accuracy"].value == 1


def test_answers_are_matched_by_turn_and_order_is_noted() -> None:
    found = align_run(GOLD, run()[::-1])
    assert found.labels.tolist() == [0, 1, 2]
    # By position, document a's first answer would be held against its turn 1, but is about turn 3.
    assert found.out_of_place == ("a",)


def test_answers_about_known_turns_without_votes_are_passed_over() -> None:
    known = [*UNITS, UnitKey("a", "0")]
    found = align_run(GOLD, [said("a", "0", "X"), *run(), said("b", "1", "X")], known_units=known)
    assert found.labels.tolist() == [0, 1, 2]
    # The challenge's program would pair the answer about turn 0 with turn 1.
    assert found.out_of_place == ("a",)
    assert align_run(GOLD, [*run(), said("b", "1")]).labels.tolist() == [0, 1, 2]


def test_a_missing_distribution_is_one_for_the_label_and_noted() -> None:
    found = align_run(GOLD, run(said("a", "3", "T", None), said("b", "3", "X", None)))
    assert found.distributions.tolist() == [[0.5, 0.3, 0.2], [0, 1, 0], [0, 0, 1]]
    assert found.one_hot == 2
    assert "|onehot:2|" in found.scores(bootstrap=None)["jsd"].signature
    assert "onehot" not in align_run(GOLD, run()).scores(bootstrap=None)["jsd"].signature


def test_the_newest_revision_counts() -> None:
    again = said("a", "1", "X", annotator="run", revision=2)
    assert align_run(GOLD, [*run(), again]).labels.tolist() == [2, 1, 2]


def test_a_label_left_out_of_a_distribution_has_no_share() -> None:
    assert align_run(GOLD, run(said("a", "1", "O", {"O": 1.0}))).distributions[0].tolist() == [1, 0, 0]


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (run()[1:], "document 'a', turn '1': the run does not answer"),
        (run()[2:], "document 'a', turn '1': the run does not answer, and 1 more"),
        ([*run(), said("a", "7")], "document 'a', turn '7': .* that the gold does not have"),
        ([*run(), said("c", "1")], "document 'c', turn '1': .* that the gold does not have"),
        ([*run(), said("a", None)], "document 'a': .* that the gold does not have"),
        (
            [*run(), said("a", "3", annotator="run.2")],
            "document 'a', turn '3': the run answers twice, as run, run.2",
        ),
        ([*run(), said("a", "3", "X")], "document 'a', segment '3': .* twice, differently"),
        (run(said("a", "3", "Y")), "document 'a', turn '3': unknown label 'Y'"),
        (
            run(said("a", "3", "T", {"O": 0.5, "T": 0.3, "X": 0.1})),
            "turn '3': O 0.5, T 0.3, X 0.1 is no distribution",
        ),
        (run(said("a", "3", "T", {"O": -0.5, "T": 1.3, "X": 0.2})), "turn '3': .* no distribution"),
        (run(said("a", "3", "T", {"O": 0.5, "B": 0.5})), "turn '3': the distribution has a label 'B'"),
        ([], "document 'a', turn '1': the run does not answer, and 2 more"),
    ],
)
def test_what_does_not_fit_is_named(answers: list[Judgment], message: str) -> None:
    with pytest.raises(InputError, match=message):
        align_run(GOLD, answers)


def test_answers_to_other_questions_are_no_answers() -> None:
    remark = Judgment("a", "1", "run", "breakdown", "1.0", {"comment": "hm"})
    with pytest.raises(InputError, match="does not answer"):
        align_run(GOLD, [*run()[1:], remark])
