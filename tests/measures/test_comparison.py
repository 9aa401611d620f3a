from __future__ import annotations

import itertools
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lapsus.errors import InputError, UsageError
from lapsus.measures.bootstrap import Bootstrap, Floats
from lapsus.measures.comparison import Comparison, Difference, compare_runs, holm
from lapsus.measures.scores.breakdown import breakdown_scores, breakdown_tally
from lapsus.measures.scores.tally import Tally, precision_recall_f, ratio

PLAN = Bootstrap(2000, seed=1)


def shares_right(sums: Floats) -> Floats:
    return ratio(sums[..., :1], sums[..., 1:])


def accuracy(*right: int, of: int = 10, **setting: Any) -> Tally:
    """A run that got so many of ten right in each document."""
    sums = np.array([[count, of] for count in right], dtype=float)
    return Tally(("accuracy",), sums, shares_right, of * len(right), setting)


def only(comparisons: tuple[Comparison, ...]) -> Difference:
    [comparison] = comparisons
    return comparison.difference("accuracy")


def exact_p(first: list[int], second: list[int]) -> float:
    """The share of all swaps with at least the difference seen."""
    gaps = [b - a for a, b in zip(first, second, strict=True)]
    swaps = itertools.product((1, -1), repeat=len(gaps))
    all_of_them = [abs(sum(sign * gap for sign, gap in zip(signs, gaps, strict=True))) for signs in swaps]
    return sum(found >= abs(sum(gaps)) for found in all_of_them) / len(all_of_them)


def test_by_hand() -> None:
    found = only(compare_runs({"a": accuracy(5, 6, 7), "b": accuracy(7, 7, 9)}, bootstrap=PLAN))
    assert (found.first, found.second) == (pytest.approx(18 / 30), pytest.approx(23 / 30))
    assert found.difference == pytest.approx(5 / 30)
    # Of the 8 ways to swap the gaps 2, 1 and 2, only two bring a gap of 5: all or none.
    assert found.p == pytest.approx(2 / 8, abs=0.03)
    # Draws of three gaps of 2, 1 and 2: from 3 to 6 in sum.
    assert found.interval == pytest.approx((3 / 30, 6 / 30))
    assert found.adjusted_p == found.p


@pytest.mark.parametrize("seed", range(4))
def test_randomization_comes_near_the_exact_test(seed: int) -> None:
    generator = np.random.default_rng(seed)
    first, second = generator.integers(0, 11, (2, 9)).tolist()
    found = only(compare_runs({"a": accuracy(*first), "b": accuracy(*second)}, bootstrap=Bootstrap(20_000)))
    assert found.p == pytest.approx(exact_p(first, second), abs=0.015)


@pytest.mark.parametrize("test", ["randomization", "bootstrap"])
def test_a_run_does_not_differ_from_itself(test: Any) -> None:
    run = accuracy(3, 9, 5, 6)
    found = only(compare_runs({"a": run, "b": run}, test=test, bootstrap=PLAN))
    assert (found.difference, found.p, found.mark) == (0, 1, "")
    assert found.interval == (0, 0)


@pytest.mark.parametrize("test", ["randomization", "bootstrap"])
def test_a_clear_difference_is_found_and_marked(test: Any) -> None:
    generator = np.random.default_rng(0)
    low = generator.integers(2, 6, 50)
    runs = {"a": accuracy(*low), "b": accuracy(*(low + generator.integers(0, 4, 50)))}
    found = only(compare_runs(runs, test=test, bootstrap=PLAN))
    assert found.p == pytest.approx(1 / 2001)
    assert found.mark == "***"
    assert found.interval is not None
    assert 0 < found.interval.low < found.difference < found.interval.high  # type: ignore[operator]
    # The other way round everything is mirrored.
    back = only(compare_runs(dict(reversed(runs.items())), test=test, bootstrap=PLAN))
    assert back.difference == pytest.approx(-found.difference)  # type: ignore[operator]
    assert back.interval == pytest.approx((-found.interval.high, -found.interval.low))


@pytest.mark.parametrize("test", ["randomization", "bootstrap"])
def test_luck_is_seldom_taken_for_skill(test: Any) -> None:
    generator = np.random.default_rng(4)
    false_alarms = 0
    for _ in range(200):
        first, second = generator.binomial(10, 0.5, (2, 30))
        runs = {"a": accuracy(*first), "b": accuracy(*second)}
        false_alarms += only(compare_runs(runs, test=test, bootstrap=Bootstrap(300))).p < 0.05  # type: ignore[operator]
    # 10 of 200 are expected; beyond 22 is a one-in-ten-thousand accident. The bootstrap is a little eager.
    assert 2 <= false_alarms <= 22


def test_the_bootstrap_draws_the_same_documents_for_both() -> None:
    # Documents differ a lot from each other, but the second run always has one more.
    generator = np.random.default_rng(0)
    first = generator.integers(0, 10, 40)
    found = only(
        compare_runs({"a": accuracy(*first), "b": accuracy(*(first + 1))}, test="bootstrap", bootstrap=PLAN)
    )
    assert found.interval == pytest.approx((0.1, 0.1))
    assert found.p == pytest.approx(1 / 2001)


def test_all_pairs_or_a_baseline() -> None:
    runs = {"a": accuracy(5, 5, 4), "b": accuracy(6, 5, 5), "c": accuracy(9, 9, 9)}
    pairs = [(found.first, found.second) for found in compare_runs(runs, bootstrap=PLAN)]
    assert pairs == [("a", "b"), ("a", "c"), ("b", "c")]
    pairs = [(found.first, found.second) for found in compare_runs(runs, baseline="b", bootstrap=PLAN)]
    assert pairs == [("b", "a"), ("b", "c")]


def test_p_is_adjusted_for_the_number_of_pairs() -> None:
    generator = np.random.default_rng(0)
    base = generator.integers(2, 6, 30)
    runs = {
        "a": accuracy(*base),
        "b": accuracy(*(base + generator.integers(-1, 3, 30))),
        "c": accuracy(*(base + 2)),
    }
    found = [comparison.difference("accuracy") for comparison in compare_runs(runs, bootstrap=PLAN)]
    assert [each.adjusted_p for each in found] == pytest.approx(holm([each.p for each in found]))  # type: ignore[misc]
    assert found[1].adjusted_p == pytest.approx(3 / 2001)
    assert found[1].mark == "**"


def test_holm_by_hand() -> None:
    # Sorted .01 .02 .04 times 3, 2, 1: .03 .04 .04.
    assert holm([0.04, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])
    # Never falling, never above 1: .02·3 = .06, .03·2 = .06, .9; .6·2 = 1.2.
    assert holm([0.02, 0.03, 0.9]) == pytest.approx([0.06, 0.06, 0.9])
    assert holm([0.6, 0.7]) == [1, 1]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_keeps_order_and_never_lowers(p: list[float]) -> None:
    adjusted = holm(p)
    assert all(before <= after <= 1 for before, after in zip(p, adjusted, strict=True))
    by_size = sorted(range(len(p)), key=p.__getitem__)
    assert all(adjusted[a] <= adjusted[b] for a, b in itertools.pairwise(by_size))


@pytest.mark.parametrize(("p", "mark"), [(0.0009, "***"), (0.001, "**"), (0.01, "*"), (0.05, ""), (None, "")])
def test_marks(p: float | None, mark: str) -> None:
    assert Difference("F(B)", 0.1, 0.2, 0.1, None, p, p).mark == mark


def test_breakdown_scores_are_compared_by_all_measures() -> None:
    generator = np.random.default_rng(0)
    gold = generator.multinomial(30, [0.4, 0.3, 0.3], size=400)
    groups = np.arange(400) // 10
    good, poor = (gold + generator.integers(0, noise, gold.shape) for noise in (6, 40))
    runs, scores = {}, {}
    for name, guess in (("poor", poor), ("good", good)):
        shares = guess / guess.sum(axis=1, keepdims=True)
        runs[name] = breakdown_tally(gold, shares.argmax(axis=1), shares, groups)
        scores[name] = breakdown_scores(gold, shares.argmax(axis=1), shares, groups, bootstrap=None)
    [found] = compare_runs(runs, bootstrap=PLAN)
    assert (found.first, found.second, found.n, found.documents) == ("poor", "good", 400, 40)
    assert found.difference("JSD(NB,PB,B)").first == scores["poor"]["jsd"].value
    assert found.difference("F(PB+B)").second == scores["good"]["f1_pb_b"].value
    assert found.difference("JSD(NB,PB,B)").difference < 0  # type: ignore[operator]
    assert found.difference("accuracy").mark == "***"
    assert found.signature.startswith(
        "t:0|rule:program|ties:O>T>X|match:turn-index|log:2|raters:30|test:randomization|adjust:holm|"
    )
    assert "boot:2000,seed=1,level=0.95" in found.signature
    with pytest.raises(UsageError, match=r"not compared by 'JSD\(NB,PB\)' \(did you mean 'JSD\(NB,PB,B\)'"):
        found.difference("JSD(NB,PB)")
    assert msgspec.json.decode(msgspec.json.encode(found), type=Comparison) == found


def test_more_draws_than_fit_in_a_block_at_once() -> None:
    documents = 3000
    generator = np.random.default_rng(0)
    first, second = generator.binomial(10, 0.5, (2, documents))
    found = only(compare_runs({"a": accuracy(*first), "b": accuracy(*second)}, bootstrap=Bootstrap(1500)))
    assert 1 / 1501 <= found.p <= 1  # type: ignore[operator]


def test_undefined_measures_have_no_difference() -> None:
    def value(sums: Floats) -> Floats:
        return precision_recall_f(sums[..., 0], sums[..., 1], sums[..., 2])

    def tally(rows: list[list[int]]) -> Tally:
        return Tally(("P", "R", "F"), np.array(rows, dtype=float), value, 4)

    [found] = compare_runs({"a": tally([[0, 0, 0]] * 2), "b": tally([[1, 1, 1]] * 2)}, bootstrap=PLAN)
    assert found.difference("F") == Difference("F", None, 1.0, None)
    assert found.difference("F").mark == ""


def test_undefined_trials_do_not_count_as_evidence() -> None:
    # Only the first document has anything; without it nothing is defined.
    def value(sums: Floats) -> Floats:
        return ratio(sums[..., :1], sums[..., 1:])

    first, second = (Tally(("x",), np.array([[right, 4.0], [0, 0]]), value, 4) for right in (1.0, 3.0))
    [found] = compare_runs({"a": first, "b": second}, test="bootstrap", bootstrap=PLAN)
    # A quarter of the draws miss the first document; none of the others differs from what was seen.
    assert found.difference("x").p == pytest.approx(1 / 4, abs=0.04)


def test_runs_must_fit_together() -> None:
    with pytest.raises(UsageError, match="two runs to compare, not 1"):
        compare_runs({"a": accuracy(1)})
    with pytest.raises(UsageError, match="no run is called 'd'"):
        compare_runs({"a": accuracy(1), "b": accuracy(2)}, baseline="d")
    with pytest.raises(UsageError, match="did you mean 'bootstrap'"):
        compare_runs({"a": accuracy(1), "b": accuracy(2)}, test="boostrap")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="run 'b': is not scored on the same gold"):
        compare_runs({"a": accuracy(1), "b": accuracy(1, 2)})
    with pytest.raises(InputError, match=r"run 'b': .* in the same way, as 'a' .*t:0.5"):
        compare_runs({"a": accuracy(1, t=0.0), "b": accuracy(1, t=0.5)})
    with pytest.raises(InputError, match="run 'b': is scored by other measures"):
        compare_runs({"a": accuracy(1), "b": accuracy(1)._replace(measures=("F",))})
    with pytest.raises(InputError, match="nothing to compare"):
        compare_runs({"a": accuracy(of=1), "b": accuracy(of=1)})
