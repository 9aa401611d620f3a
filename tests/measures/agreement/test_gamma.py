from __future__ import annotations

import math
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lapsus.errors import UsageError
from lapsus.measures.agreement import gamma as gamma_module
from lapsus.measures.agreement import gamma_alignment, gamma_candidates
from lapsus.measures.agreement.gamma import (
    NO_ROOM,
    NOTHING,
    Disorders,
    best_alignment,
    disorders,
    gamma,
    random_disorders,
    shuffled,
)
from lapsus.measures.agreement.gamma_alignment import prices
from lapsus.measures.agreement.gamma_candidates import Continuum, Dissimilarity, candidates, in_order
from lapsus.measures.agreement.patterns import ALONE
from lapsus.measures.bootstrap import Bootstrap
from lapsus.model.votes import SpanVotes
from tests.measures.agreement.helpers import labels
from tests.measures.gold.helpers import spans

Mark = tuple[int, int, int]
"""Start, end, label."""

USUAL = Dissimilarity()


def line(*answers: list[Mark], length: int = 100) -> Continuum:
    rows = [(annotator, *mark) for annotator, marks in enumerate(answers) for mark in marks]
    return Continuum(length, len(answers), *np.array(rows, dtype=np.int64).reshape(-1, 4).T)


def of_length(votes: SpanVotes, length: int) -> dict[str, dict[str, int]]:
    return {unit.document: {"s": length} for unit in votes.units}


def unlike(one: Mark, other: Mark, measure: Dissimilarity = USUAL) -> float:
    """The paper's combined dissimilarity, with an empty unit worth 1."""
    apart = abs(one[0] - other[0]) + abs(one[1] - other[1])
    together = one[1] - one[0] + other[1] - other[0]
    differ = one[2] != other[2] if measure.between is None else measure.between[one[2], other[2]]
    return measure.alpha * (apart / together) ** 2 + measure.beta * float(differ)


def slow_disorder(continuum: Continuum, measure: Dissimilarity = USUAL) -> float:
    """The least disorder over every way to align all marks, without leaving out any unitary alignment."""
    columns = (continuum.annotator, continuum.start, continuum.end, continuum.label)
    marks = [(a, (s, e, k)) for a, s, e, k in zip(*(c.tolist() for c in columns), strict=True)]
    of = [[place for place, (a, _) in enumerate(marks) if a == who] for who in range(continuum.annotators)]
    pairs = math.comb(continuum.annotators, 2)

    def disorder(group: tuple[int, ...]) -> float:
        inside = sum(unlike(marks[i][1], marks[j][1], measure) for i, j in combinations(group, 2))
        return (inside + pairs - math.comb(len(group), 2)) / pairs

    @cache
    def least(free: int) -> float:
        if not free:
            return 0.0
        first = (free & -free).bit_length() - 1
        others = [
            [None, *(place for place in own if free >> place & 1)]
            for who, own in enumerate(of)
            if who != marks[first][0]
        ]
        best = math.inf
        for picked in product(*others):
            group = (first, *(place for place in picked if place is not None))
            rest = free & ~sum(1 << place for place in group)
            best = min(best, disorder(group) + least(rest))
        return best

    return least((1 << len(marks)) - 1) / (len(marks) / continuum.annotators)


def made_up(
    generator: np.random.Generator, annotators: int, marks: int, length: int, labels: int = 2
) -> Continuum:
    answers = []
    for _ in range(annotators):
        starts = generator.integers(0, length, generator.integers(0, marks + 1))
        answers.append(
            [(s, s + int(generator.integers(1, 9)), int(generator.integers(labels))) for s in starts.tolist()]
        )
    answers[0] = answers[0] or [(0, 3, 0)]
    return line(*answers, length=length + 10)


def test_disorder_by_hand() -> None:
    # 0-4 and 2-6: ((2+2)/8)² = ¼, and 1 more for the label. Alone they would cost 1 each.
    # One mark by annotator: the sum over unitary alignments is the disorder.
    assert disorders([line([(0, 4, 0)], [(2, 6, 0)])], USUAL).values.tolist() == [0.25]
    assert disorders([line([(0, 4, 0)], [(2, 6, 1)])], USUAL).values.tolist() == [1.25]
    # 0-4 and 10-14: (20/8)² = 6.25, more than 2; so they stay alone.
    assert disorders([line([(0, 4, 0)], [(10, 14, 0)])], USUAL).values.tolist() == [2]
    # Three annotators, two of them alike: (0 + 1 + 1) / 3 over 2/3 marks by annotator.
    assert disorders([line([(0, 4, 0)], [(0, 4, 0)], [])], USUAL).values.tolist() == pytest.approx([1])


def test_alpha_beta_and_distances_between_labels() -> None:
    one = line([(0, 4, 0)], [(2, 6, 1)])
    assert disorders([one], Dissimilarity(2, 0.5)).values.tolist() == [1]
    between = np.array([[0, 0.3], [0.3, 0]])
    assert disorders([one], Dissimilarity(1, 1, between)).values.tolist() == pytest.approx([0.55])


def test_the_best_alignment_of_crossing_marks() -> None:
    continuum = line([(0, 10, 0), (4, 6, 1)], [(4, 6, 1), (1, 10, 0)], [(0, 9, 0)])
    found = best_alignment(continuum)
    assert [sorted(unitary.marks) for unitary in found] == [[0, 3, 4], [1, 2]]
    # Alike but for the empty place: (0 + 1 + 1) / 3. The others: (1/19)², (1/19)², (2/18)², over 3.
    assert found[1].disorder == pytest.approx(2 / 3)
    assert found[0].disorder == pytest.approx((2 / 361 + 1 / 81) / 3)


def test_every_mark_is_aligned_once() -> None:
    generator = np.random.default_rng(0)
    for annotators in (2, 3, 4, 5):
        continuum = made_up(generator, annotators, 9, 40)
        found = best_alignment(continuum)
        assert sorted(mark for unitary in found for mark in unitary.marks) == list(range(continuum.marks))
        for unitary in found:
            who = continuum.annotator[list(unitary.marks)].tolist()
            assert len(set(who)) == len(who)
        total = sum(unitary.disorder for unitary in found) * annotators / continuum.marks
        assert total == pytest.approx(disorders([continuum], USUAL).values[0])


marks = st.tuples(st.integers(0, 25), st.integers(1, 8), st.integers(0, 1)).map(
    lambda m: (m[0], m[0] + m[1], m[2])
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(marks, max_size=3), min_size=2, max_size=4).filter(any))
def test_the_least_disorder_is_that_of_trying_everything(answers: list[list[Mark]]) -> None:
    continuum = line(*answers)
    found = disorders([continuum], USUAL)
    assert found.excess.tolist() == [0]
    assert found.values[0] == pytest.approx(slow_disorder(continuum))


@pytest.mark.parametrize(
    ("annotators", "most", "length"),
    [(2, 9, 40), (2, 9, 12), (3, 5, 30), (3, 5, 10), (4, 4, 20), (5, 2, 12), (6, 2, 20)],
)
def test_larger_ones_at_random(annotators: int, most: int, length: int) -> None:
    generator = np.random.default_rng(annotators * 100 + length)
    continua = [made_up(generator, annotators, most, length) for _ in range(12)]
    measures = [USUAL, Dissimilarity(0.3, 2.0), Dissimilarity(3.0, 0.0)]
    for measure in measures:
        found = disorders(continua, measure)
        assert found.values == pytest.approx([slow_disorder(one, measure) for one in continua])
        assert not found.excess.any()


def test_continua_solved_together_do_not_touch_each_other() -> None:
    generator = np.random.default_rng(8)
    continua = [made_up(generator, annotators, 6, 30) for annotators in (2, 3, 3, 2, 5, 4) for _ in range(4)]
    together = disorders(continua, USUAL).values
    assert together == pytest.approx([disorders([one], USUAL).values[0] for one in continua])


def test_order_of_annotators_and_place_on_the_line_do_not_matter() -> None:
    generator = np.random.default_rng(4)
    continuum = made_up(generator, 4, 8, 60)
    order = generator.permutation(4)
    turned = Continuum(
        10_000,
        4,
        order[continuum.annotator],
        continuum.start + 5000,
        continuum.end + 5000,
        1 - continuum.label,
    )
    assert disorders([turned], USUAL).values == pytest.approx(disorders([continuum], USUAL).values)


@pytest.mark.parametrize("annotators", [2, 3])
def test_many_marks_in_the_same_place(annotators: int) -> None:
    # Every way to pair them is as good as every other.
    crowd = [(10, 20, 0)] * 40
    found = disorders([line(*[crowd] * annotators)], USUAL)
    assert found.values.tolist() == pytest.approx([0], abs=1e-9)
    assert found.excess.tolist() == [0]


def test_one_mark_around_all_others() -> None:
    small = [(place * 10, place * 10 + 3, 0) for place in range(30)]
    found = disorders([line([(0, 300, 0), *small], small, [*small, (0, 299, 1)], length=300)], USUAL)
    # Thirty triples without disorder, and a pair: ((1/599)² + 1 + 1 + 1) / 3, over 92/3 marks by annotator.
    assert found.values.tolist() == pytest.approx([((1 / 599) ** 2 + 3) / 3 / (92 / 3)])


def test_no_candidate_saves_more_than_its_prices() -> None:
    generator = np.random.default_rng(5)
    for annotators in (2, 3, 4):
        drawn = shuffled(made_up(generator, annotators, 30, 120), 3, generator)
        marks, _ = in_order(drawn)
        found = candidates(marks, annotators, USUAL)
        price = prices(found, np.ones(len(found.saves), dtype=bool), marks.annotator, annotators, 60)
        cost = np.bincount(found.owner, price[found.mark], len(found.saves))
        assert (cost >= found.saves - 1e-9).all()
        assert (price >= 0).all()


def test_where_too_many_ways_are_left_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(2)
    continua = [made_up(generator, 4, 4, 12) for _ in range(20)]
    least = disorders(continua, USUAL).values
    hasty = gamma_alignment._Try(1, math.inf, 2)
    monkeypatch.setattr(gamma_alignment, "_TRIES", (hasty,))
    monkeypatch.setattr(gamma_alignment, "_FEW", 1)
    found = disorders(continua, USUAL)
    assert (found.values >= least - 1e-9).all()
    assert (found.values - found.excess <= least + 1e-9).all()
    assert (found.values > least + 1e-6).any()
    votes = spans(*([[(0, 4, "x"), (2, 9, "y"), (3, 5, "x")]] * 4 for _ in range(2)))
    note = gamma(votes, lengths=of_length(votes, 12)).note
    assert note is not None
    assert "is not sure" in note
    assert "may be too much" in note


def test_where_candidates_are_left_out_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(2)
    continua = [made_up(generator, 4, 4, 12) for _ in range(20)]
    least = disorders(continua, USUAL).values
    monkeypatch.setattr(gamma_candidates, "MOST", 1)
    found = disorders(continua, USUAL)
    assert np.isinf(found.excess).any()
    assert (found.values >= least - 1e-9).all()
    assert found.values[found.excess == 0] == pytest.approx(least[found.excess == 0])
    answer = [(0, 4, "x"), (2, 9, "y"), (3, 5, "x")]
    votes = spans([answer] * 4)
    assert "too many ways" in str(gamma(votes, lengths=of_length(votes, 12)).note)


def test_random_continua_are_shifted_copies() -> None:
    continuum = line([(0, 4, 0), (90, 98, 1)], [(50, 53, 1)], [], length=100)
    drawn = shuffled(continuum, 200, np.random.default_rng(0))
    assert set(drawn.continuum.tolist()) == set(range(200))  # none is empty
    assert drawn.start.min() >= 0
    assert drawn.start.max() < 100
    apart = 5 / 2  # the mean length is 5
    shapes = {((4, 0), (8, 1)), ((3, 1),)}
    for sample in range(200):
        shifts = []
        for annotator in range(3):
            own = (drawn.continuum == sample) & (drawn.annotator == annotator)
            if not own.any():
                continue
            sizes = (drawn.end - drawn.start)[own].tolist()
            shape = tuple(sorted(zip(sizes, drawn.label[own].tolist(), strict=True)))
            assert shape in shapes
            first = drawn.start[own][int(np.argmin(drawn.label[own]))]
            shifts.append(int(first - (50 if len(shape) == 1 else 0)) % 100)
        for one, other in combinations(shifts, 2):
            assert min((one - other) % 100, (other - one) % 100) >= apart


def test_shifts_are_even() -> None:
    drawn = shuffled(line([(0, 1, 0)], [(0, 1, 0)], length=4), 4000, np.random.default_rng(0))
    assert np.bincount(drawn.start) / 8000 == pytest.approx([0.25] * 4, abs=0.02)


def test_gamma_by_hand() -> None:
    # On a line of two characters, each marks the first one. A random continuum puts the two marks on different
    # characters, as shifts keep half a mark apart: ((1+1)/2)² = 1. So nothing is observed and 1 is expected.
    votes = spans([[(0, 1, "x")], [(0, 1, "x")]])
    score = gamma(votes, lengths=of_length(votes, 2))
    assert score.value == 1
    assert (score.details["observed"], score.details["expected"], score.details["samples"]) == (0, 1, 30)
    # With different labels 1 is observed and 1 expected where both are the same annotator, 2 where they are not.
    votes = spans([[(0, 1, "x")], [(0, 1, "y")]])
    score = gamma(votes, lengths=of_length(votes, 2), precision=0.01)
    assert score.value == pytest.approx(1 - 1 / 1.5, abs=0.02)
    assert score.details["samples"] > 1000
    assert score.details["precision"] == pytest.approx(0.01, rel=0.2)


@given(st.lists(marks, min_size=1, max_size=4), st.integers(2, 4))
@settings(max_examples=20, deadline=None)
def test_full_agreement_is_one(answer: list[Mark], annotators: int) -> None:
    votes = spans([[(start, end, "xy"[label]) for start, end, label in answer]] * annotators)
    assert gamma(votes, lengths=of_length(votes, 50), precision=0.5).value == 1


def test_random_marks_are_about_zero() -> None:
    generator = np.random.default_rng(3)
    rows = []
    for _ in range(40):
        rows.append(
            [
                [(s, s + 6, "xy"[s % 2]) for s in generator.choice(94, 4, replace=False).tolist()]
                for _ in range(3)
            ]
        )
    votes = spans(*rows)
    score = gamma(votes, lengths=of_length(votes, 100))
    assert abs(float(score)) < 0.06
    assert score.interval is not None
    assert score.interval.low < 0 < score.interval.high + 0.03


def test_more_noise_is_less_agreement() -> None:
    truth = [(place * 20, place * 20 + 8, "x") for place in range(12)]
    values = []
    for noise in (0, 2, 5, 9):
        moved = [(s + noise * (-1) ** place + 10, e + noise + 10, k) for place, (s, e, k) in enumerate(truth)]
        votes = spans([[(s + 10, e + 10, k) for s, e, k in truth], moved])
        values.append(float(gamma(votes, lengths=of_length(votes, 270))))
    assert values == sorted(values, reverse=True)
    assert values[0] == 1


def test_delta_empty_multiplies_disorders_only() -> None:
    votes = spans([[(0, 4, "x"), (20, 25, "y")], [(1, 4, "x")], [(30, 33, "x")]])
    one, two = (gamma(votes, lengths=of_length(votes, 60), delta_empty=delta) for delta in (1.0, 2.0))
    assert one.value == two.value
    assert two.details["expected"] == pytest.approx(2 * one.details["expected"])


def test_continua_count_by_their_marks() -> None:
    rows = (
        [[(0, 4, "x")], [(1, 5, "x")]],
        [[(0, 4, "x"), (9, 12, "y"), (20, 24, "x")], [(9, 12, "y"), (21, 25, "x")]],
        [[], []],
    )
    votes = spans(*rows)
    score = gamma(votes, lengths=of_length(votes, 40), bootstrap=Bootstrap(100))
    continua = [
        line([(0, 4, 0)], [(1, 5, 0)], length=40),
        line([(0, 4, 0), (9, 12, 1), (20, 24, 0)], [(9, 12, 1), (21, 25, 0)], length=40),
    ]
    observed = disorders(continua, USUAL).values
    expected = random_disorders(continua, USUAL, 0.02, 0).values.mean(axis=0)
    weights = np.array([1, 2.5])
    assert score.value == pytest.approx(1 - (weights @ observed) / (weights @ expected))
    assert [row["gamma"] for row in score.details["units"]] == pytest.approx(
        (1 - observed / expected).tolist()
    )
    assert score.n == 2
    assert score.interval is not None


def test_annotators_who_did_not_answer_are_left_out() -> None:
    with_silent = spans([[(0, 4, "x")], [(1, 5, "x")], None], [[(0, 4, "x")], None, [(0, 4, "x")]])
    score = gamma(with_silent, lengths=of_length(with_silent, 40))
    assert "raters:2|" in score.signature
    # Somebody who answered and marked nothing is not left out.
    blank = spans([[(0, 4, "x")], [(1, 5, "x")], []], [[(0, 4, "x")], [], [(0, 4, "x")]])
    assert float(gamma(blank, lengths=of_length(blank, 40))) < float(score)


def test_the_seed_decides() -> None:
    votes = spans([[(0, 4, "x"), (20, 25, "y")], [(1, 4, "x")], [(30, 33, "x")]])
    one, same, other = (gamma(votes, lengths=of_length(votes, 60), seed=seed).value for seed in (1, 1, 2))
    assert one == same != other
    assert float(one or 0) == pytest.approx(float(other or 0), abs=0.05)


def test_undefined() -> None:
    assert gamma(spans([[], []])).note == NOTHING
    assert gamma(spans([[(0, 1, "x")], None])).note == ALONE
    assert gamma(spans()).note == ALONE
    votes = spans([[(0, 1, "x")], [(0, 1, "x")]])
    score = gamma(votes, lengths=of_length(votes, 1))
    assert (score.value, score.note) == (None, NO_ROOM)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"alpha": 0.0}, "alpha"),
        ({"beta": -1.0}, "beta"),
        ({"delta_empty": 0.0}, "delta_empty"),
        ({"precision": 0.0}, "precision is a share"),
        ({"precision": 1.5}, "precision is a share"),
        ({"seed": -1}, "seed is a whole number"),
        ({"between": np.zeros((2, 2))}, "for 3 labels"),
        ({"between": -np.ones((3, 3))}, "from 0"),
    ],
)
def test_nonsense_is_refused(wrong: dict[str, float], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        gamma(spans([[(0, 1, "x")], []]), **wrong)  # type: ignore[arg-type]


def test_a_crowd_is_refused_and_told_what_to_do() -> None:
    def crowd(people: int) -> SpanVotes:
        return spans([[(0, 4, "x")]] * people, [[(0, 4, "x")]] + [[]] * (people - 1))

    assert gamma(crowd(12), bootstrap=None, precision=0.5).value is not None
    with pytest.raises(UsageError, match=r"13 people .* 12 at most .*`measures=` unitizing"):
        gamma(crowd(13), bootstrap=None)
    # Who gave no answer is nobody to align, and neither is a crowd that marked nothing.
    assert gamma(spans([[(0, 4, "x")]] * 12 + [None] * 9, [[]] * 21), bootstrap=None).value == 1


def test_aligned_in_small_blocks_it_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(5)
    votes = spans(
        *([[(s, s + 5, "x") for s in random.integers(0, 40, 2)] for _ in range(3)] for _ in range(9))
    )
    whole = gamma(votes)
    monkeypatch.setattr(gamma_module, "_ROOM", 30)
    assert gamma(votes) == whole


def test_other_votes_are_refused() -> None:
    with pytest.raises(UsageError, match="gamma is not made for one label"):
        gamma(labels(["OX"]))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="two annotators"):
        best_alignment(line([(0, 1, 0)]))


def test_what_disorders_give_back() -> None:
    assert isinstance(disorders([line([(0, 1, 0)], [])], USUAL), Disorders)
