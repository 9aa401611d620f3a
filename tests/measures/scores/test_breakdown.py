from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lapsus import __version__
from lapsus.errors import InputError, UsageError
from lapsus.measures.bootstrap import SHARE, Bootstrap, interval
from lapsus.measures.score import parse_measure
from lapsus.measures.scores.breakdown import (
    BREAKDOWN_MEASURES,
    LOWER_IS_BETTER,
    BreakdownScores,
    breakdown_scores,
    breakdown_tally,
)
from tests.measures.scores.official import official_scores

NB, PB, B = 0, 1, 2
NAMES = {
    "accuracy": "accuracy",
    "precision_b": "P(B)",
    "recall_b": "R(B)",
    "f1_b": "F(B)",
    "precision_pb_b": "P(PB+B)",
    "recall_pb_b": "R(PB+B)",
    "f1_pb_b": "F(PB+B)",
    "precision_pb": "P(PB)",
    "recall_pb": "R(PB)",
    "f1_pb": "F(PB)",
    "precision_nb": "P(NB)",
    "recall_nb": "R(NB)",
    "f1_nb": "F(NB)",
    "jsd": "JSD(NB,PB,B)",
    "jsd_nb_vs_rest": "JSD(NB,PB+B)",
    "jsd_rest_vs_b": "JSD(NB+PB,B)",
    "mse": "MSE(NB,PB,B)",
    "mse_nb_vs_rest": "MSE(NB,PB+B)",
    "mse_rest_vs_b": "MSE(NB+PB,B)",
}


def values(scores: BreakdownScores) -> dict[str, float]:
    return {name: float(score) for name, score in scores.items()}


def made_up(seed: int, n: int, raters: int = 30) -> tuple[Any, ...]:
    generator = np.random.default_rng(seed)
    gold = np.array(
        [generator.multinomial(generator.integers(1, raters + 1), row) for row in _shares(generator, n)]
    )
    shares = _shares(generator, n)
    # Some zeros, and sums that are not quite 1: distributions are used as given.
    shares[::7] = [1.0, 0.0, 0.0]
    shares[3::11] = [0.0, 0.6, 0.4005]
    return gold.reshape(-1, 3), generator.integers(0, 3, n), shares, generator.integers(0, max(1, n // 5), n)


def _shares(generator: np.random.Generator, n: int) -> np.ndarray:
    return generator.dirichlet([0.8, 0.8, 0.8], n)


def test_by_hand() -> None:
    gold = np.array([[5, 3, 2], [4, 3, 3], [1, 2, 7], [2, 6, 2]])
    # At t=0 the strict labels are O, O, X, T; the lenient ones O (.5 ties with .5), X, X, X.
    said = np.array([NB, B, B, NB])
    shares = np.eye(3)[said]
    found = breakdown_scores(gold, said, shares, np.arange(4), bootstrap=None)
    assert found["accuracy"].value == 2 / 4
    assert (found["precision_b"].value, found["recall_b"].value, found["f1_b"].value) == (
        1 / 2,
        1,
        pytest.approx(2 / 3),
    )
    # Lenient: predicted T or X twice, both right, of three.
    assert (found["precision_pb_b"].value, found["recall_pb_b"].value) == (1, pytest.approx(2 / 3))
    assert found["f1_pb_b"].value == pytest.approx(0.8)
    assert (found["precision_pb"].value, found["recall_pb"].value, found["f1_pb"].value) == (0, 0, 0)
    # O is predicted twice and there twice, and right once.
    assert (found["precision_nb"].value, found["recall_nb"].value, found["f1_nb"].value) == (0.5, 0.5, 0.5)
    # Σ(p-q)²: .25+.09+.04, .16+.09+.49, .01+.04+.09, .64+.36+.04; by 3, by 4 turns.
    assert found["mse"].value == pytest.approx((0.38 + 0.74 + 0.14 + 1.04) / 12)
    # O against the rest: twice .5², .4², .1², .8² and by 2.
    assert found["mse_nb_vs_rest"].value == pytest.approx((0.25 + 0.16 + 0.01 + 0.64) / 4)
    # X against the rest: .2², .7², .3², .2².
    assert found["mse_rest_vs_b"].value == pytest.approx((0.04 + 0.49 + 0.09 + 0.04) / 4)
    assert found["accuracy"].n == 4
    # At t=.5 the second turn stays O, and its lenient label X.
    assert values(breakdown_scores(gold, said, shares, np.arange(4), t=0.5, bootstrap=None)) == pytest.approx(
        values(found)
    )
    # At t=.65 only the third keeps its strict label; the fourth has .8 together, so it stays lenient X.
    later = breakdown_scores(gold, said, shares, np.arange(4), t=0.65, bootstrap=None)
    assert later["accuracy"].value == 3 / 4
    assert (later["precision_pb_b"].value, later["recall_pb_b"].value) == (1 / 2, 1 / 2)


@pytest.mark.parametrize("t", [0.0, 0.25, 0.5, 0.8, 0.9])
@pytest.mark.parametrize("seed", range(3))
def test_as_the_official_loop(seed: int, t: float) -> None:
    gold, labels, shares, groups = made_up(seed, 400)
    found = values(breakdown_scores(gold, labels, shares, groups, t=t, bootstrap=None))
    assert found == pytest.approx(
        official_scores(gold.tolist(), labels.tolist(), shares.tolist(), t), abs=1e-9
    )


def test_more_rows_than_a_block() -> None:
    gold, labels, shares, groups = made_up(5, 20_000)
    found = values(breakdown_scores(gold, labels, shares, groups, t=0.5, bootstrap=None))
    assert found == pytest.approx(
        official_scores(gold.tolist(), labels.tolist(), shares.tolist(), 0.5), abs=1e-9
    )


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 40), st.sampled_from([0.0, 0.3, 0.5]))
def test_order_does_not_matter_and_values_are_shares(seed: int, n: int, t: float) -> None:
    gold, labels, shares, groups = made_up(seed, n)
    found = values(breakdown_scores(gold, labels, shares, groups, t=t, bootstrap=None))
    order = np.random.default_rng(seed).permutation(n)
    again = breakdown_scores(gold[order], labels[order], shares[order], groups[order], t=t, bootstrap=None)
    assert values(again) == pytest.approx(found, abs=1e-12)
    assert all(0 <= value <= 1 + 1e-3 for value in found.values())


def test_what_people_said_is_perfect() -> None:
    gold, _, _, groups = made_up(1, 200)
    shares = gold / gold.sum(axis=1, keepdims=True)
    labels = [max(range(3), key=lambda place: (row[place], -place)) for row in gold.tolist()]
    found = values(breakdown_scores(gold, np.array(labels), shares, groups, bootstrap=None))
    assert all(found[name] == 0 for name in LOWER_IS_BETTER)
    assert all(found[name] == 1 for name in ("accuracy", "f1_b", "f1_pb", "f1_nb"))


def test_names() -> None:
    assert {name: str(measure) for name, measure in BREAKDOWN_MEASURES.items()} == NAMES
    assert all(str(parse_measure(shown)) == shown for shown in NAMES.values())
    assert all(parse_measure(shown) == BREAKDOWN_MEASURES[name] for name, shown in NAMES.items())
    found = breakdown_scores(*made_up(0, 50), bootstrap=None)
    assert {name: score.measure for name, score in found.items()} == NAMES


def test_signature() -> None:
    gold, labels, shares, groups = made_up(0, 50)
    gold[:] = [10, 10, 10]
    found = breakdown_scores(gold, labels, shares, groups, t=0.5, bootstrap=Bootstrap(20, seed=7))
    line = "t:0.5|rule:program|ties:O>T>X|match:turn-index|log:2|raters:30|boot:20,seed=7,level=0.95"
    line += f"|lapsus:{__version__}"
    assert {score.signature for score in found.values()} == {line}
    gold[3] = [5, 5, 5]
    bare = breakdown_scores(gold, labels, shares, groups, bootstrap=None)["f1_b"].signature
    assert bare == f"t:0|rule:program|ties:O>T>X|match:turn-index|log:2|raters:15-30|lapsus:{__version__}"


def test_intervals_come_from_drawing_documents() -> None:
    gold, labels, shares, groups = made_up(2, 60)
    found = breakdown_scores(gold, labels, shares, groups, bootstrap=Bootstrap(200, seed=3))
    # The same once more by hand: draw documents, put their turns together, score them by the slow program.
    generator = np.random.default_rng(3)
    numbers = np.unique(groups)
    draws = generator.multinomial(len(numbers), np.full(len(numbers), 1 / len(numbers)), size=200)
    drawn = []
    for times in draws:
        rows = np.concatenate(
            [np.flatnonzero(groups == g).repeat(k) for g, k in zip(numbers, times, strict=True)]
        )
        drawn.append(official_scores(gold[rows].tolist(), labels[rows].tolist(), shares[rows].tolist(), 0.0))
    for name, score in found.items():
        values = np.array([row[name] for row in drawn])
        value = float(score)
        expected = interval(values, 0.95, value=value, groups=len(numbers), bounds=SHARE)
        assert score.interval == pytest.approx(expected, abs=1e-9)


def test_the_same_seed_gives_the_same_and_another_not() -> None:
    data = made_up(2, 60)
    first, again, other = (breakdown_scores(*data, bootstrap=Bootstrap(50, seed)) for seed in (1, 1, 2))
    assert first == again
    assert first["f1_b"].interval != other["f1_b"].interval


def test_numbers_that_no_turn_has_are_no_documents() -> None:
    gold, labels, shares, groups = made_up(2, 60)
    dense = np.unique(groups, return_inverse=True)[1]
    bootstrap = Bootstrap(50)
    assert breakdown_scores(gold, labels, shares, dense * 3 + 5, bootstrap=bootstrap) == breakdown_scores(
        gold, labels, shares, dense, bootstrap=bootstrap
    )


def test_one_document_has_no_interval() -> None:
    gold, labels, shares, groups = made_up(2, 60)
    found = breakdown_scores(gold, labels, shares, np.zeros_like(groups))
    assert found["f1_b"].interval is None
    assert "boot" not in found["f1_b"].signature


def test_nothing_to_score_is_undefined() -> None:
    empty = np.empty((0, 3))
    found = breakdown_scores(empty.astype(int), np.empty(0, int), empty, np.empty(0, np.intp))
    assert found["accuracy"].n == 0
    assert {score.value for score in found.values()} == {None}
    assert str(found["f1_b"]) == "F(B) n/a: nothing to score"


def test_labels_that_are_nowhere_score_zero_as_in_the_challenge() -> None:
    gold = np.array([[3, 0, 0], [2, 1, 0]])
    found = breakdown_scores(gold, np.array([0, 0]), gold / 3, np.arange(2), bootstrap=None)
    assert (found["precision_b"].value, found["recall_b"].value, found["f1_b"].value) == (0, 0, 0)
    assert (found["f1_pb_b"].value, found["f1_pb"].value, found["f1_nb"].value) == (0, 0, 1)


def test_tallies_add_up() -> None:
    gold, labels, shares, groups = made_up(2, 60)
    tally = breakdown_tally(gold, labels, shares, groups)
    assert tally.value(np.stack([tally.sums.sum(axis=0)] * 4).reshape(2, 2, -1)).shape == (2, 2, len(NAMES))
    assert tally.sums[:, :18].sum() == tally.n == 60


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gold": [[0, 0, 0], [1, 1, 1]]}, "row 0: has no votes"),
        ({"gold": [[1, 1, 1], [3, -1, 1]]}, "row 1: has no votes"),
        ({"labels": [0, 3]}, "row 1: label 3 is none of 0"),
        ({"labels": [-1, 2]}, "row 0: label -1"),
        ({"labels": [1]}, "do not fit together"),
        ({"groups": [0]}, "do not fit together"),
        ({"shares": [[1, 0, 0], [0.5, 0.5, 0.1]]}, "row 1: .* no distribution"),
        ({"shares": [[1.5, -0.5, 0], [1, 0, 0]]}, "row 0: .* no distribution"),
        ({"shares": [[1, 0, 0], [np.nan, 0.5, 0.5]]}, "row 1"),
        ({"shares": [[np.inf, -np.inf, 1], [1, 0, 0]]}, "row 0"),
    ],
)
def test_bad_input_is_named(change: dict[str, Any], message: str) -> None:
    given = {
        "gold": [[1, 1, 1], [1, 0, 0]],
        "labels": [0, 1],
        "shares": [[1, 0, 0], [0, 1, 0]],
        "groups": [0, 1],
    }
    arrays = {name: np.array(value) for name, value in (given | change).items()}
    with pytest.raises(InputError, match=message):
        breakdown_scores(arrays["gold"], arrays["labels"], arrays["shares"].astype(float), arrays["groups"])


@pytest.mark.parametrize("t", [-0.1, 1.5, np.nan])
def test_a_threshold_is_a_share(t: float) -> None:
    with pytest.raises(UsageError, match="from 0 to 1"):
        breakdown_scores(*made_up(0, 10), t=t)


def test_the_rule_of_the_paper_is_in_the_signature_and_moves_f_of_b() -> None:
    gold = np.array([[2, 3, 5], [1, 1, 8], [8, 1, 1]])
    said, groups = np.array([2, 2, 0]), np.arange(3)
    program, paper = (
        breakdown_scores(gold, said, gold / 10, groups, t=0.5, rule=rule, bootstrap=None)  # type: ignore[arg-type]
        for rule in ("program", "paper")
    )
    assert (program["f1_b"].value, paper["f1_b"].value) == (1.0, pytest.approx(2 / 3))
    assert paper["f1_pb_b"].value == program["f1_pb_b"].value == 1.0
    assert "|rule:paper|" in paper["f1_b"].signature
    with pytest.raises(UsageError, match="no rule for gold labels is called 'papre'"):
        breakdown_scores(gold, said, gold / 10, groups, rule="papre")  # type: ignore[arg-type]
