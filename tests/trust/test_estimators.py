from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from lapsus.trust.estimators import (
    NOT_TOLD_APART,
    NOTHING_TO_CORRECT,
    OUT_OF_RANGE,
    Estimate,
    Sample,
    difference,
    estimates,
    mean,
    weighted_ppi,
)

NAN = math.nan


def sample(people: Sequence[float], judge: Sequence[float], documents: Sequence[int] | None = None) -> Sample:
    count = len(people)
    which = np.arange(count) if documents is None else np.array(documents)
    return Sample(np.array(people, dtype=float), np.array(judge, dtype=float), which, is_share=False)


def drawn(size: int, count: int, seed: int, per_document: int = 1, *, is_share: bool = True) -> Sample:
    """Units with a truth, of which people judged some; the judge follows the truth most of the time."""
    rng = np.random.default_rng(seed)
    truth = rng.random(count) < 0.3
    judge = np.where(rng.random(count) < 0.85, truth, rng.random(count) < 0.5).astype(float)
    people = (truth[:, None] ^ (rng.random((count, 2)) < 0.1)).mean(axis=1)
    people[rng.permutation(count)[size:]] = NAN
    return Sample(people, judge, np.arange(count) // per_document, is_share=is_share)


def plain_ppi(data: Sample) -> tuple[float, float, float]:
    """λ, value and variance straight from the formulas, one unit a document."""
    pairs = [
        (y, f) for y, f in zip(data.people.tolist(), data.judge.tolist(), strict=True) if not math.isnan(y)
    ]
    rest = [f for y, f in zip(data.people.tolist(), data.judge.tolist(), strict=True) if math.isnan(y)]
    n, many = len(pairs), len(rest)

    def variance(values: list[float]) -> float:
        middle = sum(values) / len(values)
        return sum((value - middle) ** 2 for value in values) / (len(values) - 1)

    my, mf = sum(y for y, _ in pairs) / n, sum(f for _, f in pairs) / n
    covariance = sum((y - my) * (f - mf) for y, f in pairs) / (n - 1)
    power = min(max(covariance / (variance([f for _, f in pairs] + rest) * (1 + n / many)), 0), 1)
    value = power * sum(rest) / many + sum(y - power * f for y, f in pairs) / n
    # One degree of freedom more is spent on λ.
    residual = variance([y - power * f for y, f in pairs]) * (n - 1) / (n - 2)
    return power, value, power**2 * variance(rest) / many + residual / n


@pytest.mark.parametrize("seed", range(4))
def test_ppi_equals_the_formulas_in_a_plain_loop(seed: int) -> None:
    data = drawn(60, 400, seed, is_share=False)
    found = estimates(data)
    power, value, variance = plain_ppi(data)
    assert found.power == pytest.approx(power, abs=1e-9)
    assert found.corrected.value == pytest.approx(value, abs=1e-9)
    assert found.corrected.error == pytest.approx(math.sqrt(variance), abs=1e-9)
    t = float(stats.t.ppf(0.975, 59))
    assert found.corrected.low == pytest.approx(value - t * math.sqrt(variance), abs=1e-9)
    assert (found.judged, found.alone) == (60, 340)


def test_people_alone_by_hand() -> None:
    """Documents {1, 0}, {1}, {0, 0}: the mean is .4, the documents' sums of distances .2, .6 and -.8."""
    found = mean(np.array([1, 0, 1, 0, 0.0]), np.array([0, 0, 1, 2, 2]), is_share=False)
    assert found.value == pytest.approx(0.4)
    assert found.error == pytest.approx(math.sqrt(3 / 2 * (0.04 + 0.36 + 0.64)) / 5)
    assert found.degrees == 2


def test_an_interval_of_a_share_is_clopper_and_pearsons_of_the_effective_number() -> None:
    """Independent yes and no: n - 1 for n, and fewer by how much wider Student's t is than the normal."""
    found = mean(np.array([1.0] * 6 + [0.0] * 18), np.arange(24))
    worth = 23 * (float(stats.norm.ppf(0.975)) / float(stats.t.ppf(0.975, 23))) ** 2
    low = float(stats.beta.ppf(0.025, 0.25 * worth, 0.75 * worth + 1))
    high = float(stats.beta.ppf(0.975, 0.25 * worth + 1, 0.75 * worth))
    assert (found.value, found.low, found.high) == pytest.approx((0.25, low, high), abs=1e-9)


@pytest.mark.parametrize("share", [0.0, 0.005, 0.01, 0.02, 0.3])
def test_a_share_of_ten_units_is_in_its_interval_as_often_as_it_says(share: float) -> None:
    held = 0.0
    for many in range(11):
        found = mean(np.array([1.0] * many + [0.0] * (10 - many)), np.arange(10))
        chance = math.comb(10, many) * share**many * (1 - share) ** (10 - many)
        held += chance * ((found.low or 0.0) <= share <= (found.high or 0.0))
    assert held >= 0.93


def test_where_people_said_the_same_of_all_there_is_still_doubt() -> None:
    none = mean(np.zeros(30), np.arange(30))
    assert (none.value, none.low) == (0.0, 0.0)
    assert none.high == pytest.approx(0.1253, abs=1e-3)
    every = mean(np.ones(30), np.arange(30))
    assert (every.low, every.high) == pytest.approx((1 - (none.high or 0), 1.0))


def test_one_document_says_nothing_about_others() -> None:
    found = mean(np.array([1.0, 0.0, 1.0]), np.zeros(3, dtype=np.intp))
    assert found.value == pytest.approx(2 / 3)
    assert (found.low, found.high) == (None, None)
    assert mean(np.zeros(0), np.zeros(0, dtype=np.intp)) == Estimate()


def test_without_a_rest_people_stand_alone() -> None:
    found = estimates(sample([1, 0, 1, 1], [1, 0, 0, 1]))
    assert found.corrected == found.people._replace(note=NOTHING_TO_CORRECT)
    assert found.power is None


def test_a_constant_judge_changes_nothing() -> None:
    data = drawn(50, 300, 1)._replace(judge=np.ones(300))
    found = estimates(data)
    assert found.power == 0
    assert found.corrected.value == found.people.value
    assert found.corrected.low == pytest.approx(found.people.low)


def test_copies_of_units_in_a_document_make_nothing_surer() -> None:
    once = drawn(60, 300, 3)
    thrice = Sample(*(np.repeat(column, 3) for column in (once.people, once.judge, once.document)))
    one, three = estimates(once), estimates(thrice)
    assert three.people.value == pytest.approx(one.people.value)
    assert three.people.low == pytest.approx(one.people.low, abs=1e-9)
    assert three.judge.high == pytest.approx(one.judge.high, abs=1e-9)
    assert three.corrected.error == pytest.approx(one.corrected.error, rel=0.02)


def test_equal_weights_are_no_weights() -> None:
    data = drawn(80, 400, 5, is_share=False)
    plain = estimates(data)
    both, judged = np.isfinite(data.people), np.isfinite(data.judge)
    weight = np.where(both, 400 / 80, NAN)
    power, found = weighted_ppi(data._replace(weight=weight), both, judged)
    assert power == pytest.approx(plain.power, rel=0.02)
    assert found.value == pytest.approx(plain.corrected.value, abs=2e-3)
    assert found.error == pytest.approx(plain.corrected.error, rel=0.02)


def test_weights_put_right_what_was_drawn_more_often() -> None:
    """Two strata of 500, one with all the yeses; ten times as many were drawn from it."""
    people = np.full(1000, NAN)
    weight = np.full(1000, NAN)
    people[:100], people[500:510] = 1.0, 0.0
    weight[:100], weight[500:510] = 5.0, 50.0
    stratum = np.repeat([0, 1], 500)
    judge = np.where(np.arange(1000) % 3 == 0, 1.0, 0.0)
    found = estimates(Sample(people, judge, np.arange(1000), weight, stratum))
    assert found.people.value == pytest.approx(0.5)
    assert found.corrected.value == pytest.approx(0.5, abs=0.05)
    unweighted = estimates(Sample(people, judge, np.arange(1000)))
    assert unweighted.people.value == pytest.approx(100 / 110)


def test_rogan_gladen_by_hand() -> None:
    """Sensitivity 8/10, specificity 18/20; the judge says yes of 90 of 300: (.3 + .9 - 1) / .7."""
    people = [1] * 10 + [0] * 20 + [NAN] * 300
    judge = [1] * 8 + [0] * 2 + [1] * 2 + [0] * 18 + [1] * 90 + [0] * 210
    found = estimates(sample(people, judge)._replace(is_share=True)).rogan_gladen
    assert found is not None
    assert found.value == pytest.approx(0.2 / 0.7, abs=1e-9)
    share, q1, q0, value = 0.3, 0.8, 0.9, 0.2 / 0.7
    variance = (
        share * (1 - share) / 300 * 300 / 299
        + (value**2 * q1 * (1 - q1) / 10 + (1 - value) ** 2 * q0 * (1 - q0) / 20) * 30 / 29
    ) / 0.7**2
    assert found.error == pytest.approx(math.sqrt(variance), abs=1e-9)


def test_rogan_gladen_says_so_where_nothing_can_be_said() -> None:
    rng = np.random.default_rng(0)
    people = np.where(np.arange(400) < 100, rng.integers(0, 2, 400), NAN)
    found = estimates(Sample(people, rng.integers(0, 2, 400).astype(float), np.arange(400))).rogan_gladen
    assert found == Estimate(note=NOT_TOLD_APART)


def test_judged_units_that_are_no_random_part_are_told() -> None:
    data = drawn(100, 400, 0)
    assert estimates(data).corrected.note is None
    judge = np.where(np.isfinite(data.people), data.judge, 1.0)
    assert "no random part" in (estimates(data._replace(judge=judge)).corrected.note or "")


def test_rogan_gladen_does_not_print_what_no_share_can_be() -> None:
    """It finds half of what people found and nothing else; of the rest it says yes to nearly all."""
    people = np.array([1.0] * 40 + [0.0] * 60 + [NAN] * 300)
    judge = np.array([1.0] * 20 + [0.0] * 80 + [1.0] * 290 + [0.0] * 10)
    found = estimates(Sample(people, judge, np.arange(400))).rogan_gladen
    assert found is not None
    assert (found.value, found.low) == (None, None)
    assert found.note == OUT_OF_RANGE


def test_rogan_gladen_counts_each_unit_for_what_it_stands_for() -> None:
    """Of the yeses the judge finds 24 that stand for one each and misses 8 for two each; it spares 36 of 40 noes."""
    people = np.array([1.0] * 32 + [0.0] * 40 + [NAN] * 128)
    judge = np.array([1.0] * 24 + [0.0] * 8 + [1.0] * 4 + [0.0] * 36 + [1.0] * 32 + [0.0] * 96)
    weight = np.array([1.0] * 24 + [2.0] * 8 + [3.0] * 40 + [NAN] * 128)
    found = estimates(Sample(people, judge, np.arange(200), weight)).rogan_gladen
    assert found is not None
    assert found.value == pytest.approx((60 / 200 + 0.9 - 1) / (24 / 40 + 0.9 - 1), abs=1e-9)
    data = drawn(80, 400, 5)
    plain = estimates(data).rogan_gladen
    same = estimates(data._replace(weight=np.where(np.isfinite(data.people), 5.0, NAN))).rogan_gladen
    assert plain is not None
    assert same is not None
    assert same.value == pytest.approx(plain.value, abs=0.03)
    assert 0.7 < (same.error or 0) / (plain.error or 1) < 1, (
        "the judge's share is of all units, not of the rest"
    )


def test_documents_that_differ_make_a_drawn_sample_less_sure() -> None:
    """Where every unit was drawn, what is left is how documents differ: as of people alone."""
    rng = np.random.default_rng(0)
    document = np.repeat(np.arange(40), 5)
    people = np.repeat(rng.normal(0, 1, 40), 5) + rng.normal(0, 0.2, 200)
    judge = people + rng.normal(0, 0.5, 200)
    data = Sample(people, judge, document, np.ones(200), is_share=False)
    everything = np.ones(200, dtype=bool)
    _, found = weighted_ppi(data, everything, everything)
    assert found.value == pytest.approx(float(people.mean()))
    assert found.error == pytest.approx(mean(people, document, is_share=False).error, rel=1e-9)


def test_a_difference_has_the_width_of_both() -> None:
    one = Estimate(0.5, 0.4, 0.65, 0.05, 20)
    other = Estimate(0.3, 0.2, 0.45, 0.04, 10)
    found = difference(one, other)
    bounds = 0.2 - math.hypot(0.1, 0.15), 0.2 + math.hypot(0.15, 0.1)
    assert (found.value, found.low, found.high) == pytest.approx((0.2, *bounds), abs=1e-9)
    assert found.degrees == pytest.approx((0.05**2 + 0.04**2) ** 2 / (0.05**4 / 20 + 0.04**4 / 10))
    assert difference(one, Estimate()) == Estimate()


def test_two_systems_of_which_nobody_said_it_may_differ_all_the_same() -> None:
    nobody = mean(np.zeros(40), np.arange(40))
    found = difference(nobody, nobody)
    assert found.value == 0
    assert found.low == pytest.approx(-(nobody.high or 0))
    assert found.high == pytest.approx(nobody.high)
    assert (nobody.high or 0) > 0.05


def test_one_yes_among_many_units_of_many_documents_is_no_surer_than_its_units() -> None:
    """A hundred documents of four units, one yes: Clopper and Pearson's of one in four hundred, or wider."""
    values = np.zeros(400)
    values[7] = 1
    found = mean(values, np.repeat(np.arange(100), 4))
    assert found.high is not None
    assert found.high >= stats.beta.ppf(0.975, 2, 399)
