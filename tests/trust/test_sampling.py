from __future__ import annotations

import math

import numpy as np
import pytest

from lapsus.errors import UsageError
from lapsus.kinds.votes import compared
from lapsus.trust.alternative_test import duels
from lapsus.trust.estimators import Sample, estimates
from lapsus.trust.sampling import (
    allocate,
    draw,
    noise_of,
    strata,
    units_for_test,
    units_for_width,
    within_documents,
)
from tests.trust.helpers import label_votes

NAN = math.nan


def world(
    seed: int, count: int = 4000, per_document: int = 8
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """What two people would say, what a judge says, how much it doubts, and the documents."""
    rng = np.random.default_rng(seed)
    document = np.arange(count) // per_document
    doubt = rng.beta(1, 3, count) / 2
    truth = rng.random(count) < 0.3
    judge = (truth ^ (rng.random(count) < doubt)).astype(float)
    people = (truth[:, None] ^ (rng.random((count, 2)) < 0.05)).astype(float)
    return people, judge, doubt, document


def test_the_planned_number_gives_the_planned_width() -> None:
    people, judge, _, document = world(0)
    pilot = people.copy()
    pilot[60:] = NAN
    with np.errstate(invalid="ignore"):
        means = np.where(np.isfinite(pilot).any(axis=1), pilot.mean(axis=1), NAN)
    goal = units_for_width(Sample(means, judge, document), 0.04, noise_of(pilot), 2)
    assert goal.tried
    assert goal.units is not None
    rng = np.random.default_rng(1)
    widths = []
    for _ in range(20):
        chosen = np.isin(np.arange(len(judge)), rng.choice(len(judge), goal.units, replace=False))
        found = estimates(Sample(np.where(chosen, people.mean(axis=1), NAN), judge, document)).corrected
        widths.append(((found.high or 0) - (found.low or 0)) / 2)
    assert 0.025 < float(np.mean(widths)) < 0.055


def test_without_people_the_judge_is_not_counted_on() -> None:
    judge = np.tile([0.0, 1.0], 5000)
    goal = units_for_width(Sample(np.full(10000, NAN), judge, np.arange(10000)), 0.05)
    assert not goal.tried
    assert goal.units == pytest.approx(385, abs=3), "1.96² · .25 / .05²"
    alike = np.repeat(judge[:2000], 5)
    more = units_for_width(Sample(np.full(10000, NAN), alike, np.arange(10000) // 5), 0.05)
    assert (more.units or 0) > 385, "units of a document say the same"


def test_where_all_units_would_not_do_it_takes_more() -> None:
    few = Sample(np.full(40, NAN), np.tile([0.0, 1.0], 20), np.arange(40))
    assert units_for_width(few, 0.01).units == pytest.approx(1.96**2 * 0.25 * 40 / 39 / 0.01**2, rel=1e-3)
    known = few._replace(people=few.judge)
    assert units_for_width(known, 0.01).units == pytest.approx(units_for_width(few, 0.01).units, rel=1e-3), (
        "where people judged all of them, the judge says nothing more"
    )


def test_how_alike_documents_are() -> None:
    assert within_documents(np.repeat([0.0, 1.0, 0.0, 1.0], 5), np.repeat(np.arange(4), 5)) == pytest.approx(
        1
    )
    rng = np.random.default_rng(0)
    assert within_documents(rng.random(4000), np.arange(4000) // 8) < 0.02
    assert within_documents(np.ones(5), np.arange(5)) == 0


def test_people_who_differ_on_a_unit_are_noise() -> None:
    found = noise_of(np.array([[1.0, 0.0], [1.0, 1.0], [NAN, 1.0]]))
    assert found is not None
    assert found.within == pytest.approx(0.25)
    assert found.share == pytest.approx((0.5 + 0.5 + 1) / 3)
    assert noise_of(np.array([[1.0], [0.0]])) is None


def test_units_until_the_test_passes() -> None:
    untried = units_for_test(None, 3, 0.2)
    assert not untried.tried
    assert 60 < (untried.units or 0) < 200
    assert (units_for_test(None, 3, 0.1).units or 0) > 3 * (untried.units or 0)
    bad = label_votes({"a": "OTXO" * 10, "b": "OTXO" * 10, "judge": "XXOT" * 10})
    codes = compared(bad)
    hopeless = units_for_test(duels(codes, [0, 1], codes.codes[:, 2]), 2, 0.2)
    assert hopeless == (None, True)
    with pytest.raises(UsageError, match="two people"):
        units_for_test(None, 1, 0.2)


def test_strata_are_by_system_and_doubt() -> None:
    names, place = strata(["a", "a", "b", "b"], np.array([0.1, 0.4, 0.1, 0.4]))
    assert names == ["a, doubtful", "a, sure", "b, doubtful", "b, sure"]
    assert place.tolist() == [1, 0, 3, 2]
    assert strata(["a", "b"], np.array([NAN, NAN]))[0] == ["a", "b"]
    assert strata(["a", "b"], np.array([0.2, 0.2]))[0] == ["a", "b"]


def test_every_stratum_gives_two_and_no_more_than_it_has() -> None:
    taken = allocate(np.array([1000, 10, 3, 1]), np.array([0.1, 0.5, 0.5, 0.5]), 40)
    assert taken.sum() == 40
    assert (taken >= [2, 2, 2, 1]).all()
    assert (taken <= [1000, 10, 3, 1]).all()
    assert allocate(np.array([5, 5]), np.array([0.1, 0.9]), 10).tolist() == [5, 5]
    with pytest.raises(UsageError, match="too few"):
        allocate(np.array([5, 5, 5]), np.ones(3), 4)


def test_a_draw_is_the_same_with_the_same_seed_and_its_weights_add_up() -> None:
    stratum, doubt = np.repeat([0, 1, 2], [700, 200, 100]), np.repeat([0.05, 0.3, 0.5], [700, 200, 100])
    one, same, other = (draw(stratum, doubt, 120, seed) for seed in (0, 0, 1))
    assert one.rows.tolist() == same.rows.tolist() != other.rows.tolist()
    assert len(set(one.rows.tolist())) == 120
    for place, many in enumerate((700, 200, 100)):
        assert one.weight[stratum[one.rows] == place].sum() == pytest.approx(many)
    assert one.weight[0] > one.weight[-1], "what the judge doubts is drawn more often"
    again = draw(stratum[one.rows], doubt[one.rows], 30, before=one.weight)
    for place, many in enumerate((700, 200, 100)):
        own = stratum[one.rows][again.rows] == place
        assert again.weight[own].sum() == pytest.approx(many), "drawn from what was drawn, it stands for all"
    with pytest.raises(UsageError, match="cannot draw"):
        draw(stratum, doubt, 1001)


def test_a_drawn_sample_gives_unbiased_estimates_whose_intervals_hold() -> None:
    """Broken turns are where the judge doubts, so the unweighted mean would be far off."""
    held, values, naive = [], [], []
    for seed in range(150):
        people, judge, doubt, document = world(seed, 1500, 5)
        people = np.where((doubt > 0.2)[:, None], 1.0, people)
        _, stratum = strata(["s"] * len(judge), doubt)
        drawn = draw(stratum, doubt, 100, seed)
        said, weight = np.full(len(judge), NAN), np.full(len(judge), NAN)
        said[drawn.rows], weight[drawn.rows] = people[drawn.rows].mean(axis=1), drawn.weight
        found = estimates(Sample(said, judge, document, weight, stratum)).corrected
        chance = 0.3 * 0.95 + 0.7 * 0.05
        # P(doubt > .2) of a Beta(1, 3) halved.
        high = (1 - 0.4) ** 3
        truth = high + (1 - high) * chance
        held.append((found.low or 0) <= truth <= (found.high or 0))
        values.append(found.value or 0)
        naive.append(float(np.nanmean(said)))
    assert np.mean(values) == pytest.approx(truth, abs=0.012)
    assert float(np.mean(naive)) > truth + 0.02
    assert 0.90 <= float(np.mean(held)) <= 0.99
