from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lapsus.errors import InvalidError, UsageError
from lapsus.measures.agreement.fleiss import fleiss_kappa
from lapsus.measures.agreement.krippendorff import krippendorff_alpha
from lapsus.measures.agreement.patterns import ALONE
from lapsus.measures.bootstrap import Bootstrap, bootstrap_rows
from lapsus.measures.score import SAME
from lapsus.model.votes import LabelSetVotes, LabelVotes, ScaleVotes
from tests.measures.agreement.helpers import (
    given_answers,
    label_rows,
    labels,
    names,
    number_rows,
    numbers,
    set_rows,
    sets,
    slow_alpha,
    units,
    varies,
)

# Krippendorff (2011), "Computing Krippendorff's alpha-reliability": four observers, twelve units, gaps.
FOUR_OBSERVERS = ["123321412---", "1233224125-3", "-3332342251-", "12332441251-"]
PUBLISHED = {"nominal": 0.743, "ordinal": 0.815, "interval": 0.849, "ratio": 0.797}
UNITS = ["".join(row) for row in zip(*FOUR_OBSERVERS, strict=True)]


def nominal(a: object, b: object) -> float:
    return float(a != b)


def jaccard(a: str, b: str) -> float:
    one, other = set(a), set(b)
    return 1 - len(one & other) / len(one | other) if one | other else 0.0


def masi(a: str, b: str) -> float:
    one, other = set(a), set(b)
    if one == other:
        return 0.0
    nested = 2 / 3 if one <= other or other <= one else 1 / 3 if one & other else 0.0
    return 1 - (1 - jaccard(a, b)) * nested


def ordinal(rows: list[str]):
    """The squared number of votes between two labels, half of their own included: depends on all votes."""
    votes = Counter(a for answers in given_answers(rows) if len(answers) >= 2 for a in answers)

    def distance(a: str, b: str) -> float:
        low, high = sorted([a, b])
        between = sum(count for label, count in votes.items() if low <= label <= high)
        return (between - (votes[a] + votes[b]) / 2) ** 2

    return distance


@pytest.mark.parametrize("metric", PUBLISHED)
def test_the_published_example(metric: str) -> None:
    score = krippendorff_alpha(labels(UNITS, of="12345"), metric)
    assert score.value == pytest.approx(PUBLISHED[metric], abs=0.0005)
    # The twelfth unit has one answer only.
    assert score.n == 11
    assert score.measure == f"alpha({metric})"
    assert score.interval is not None
    assert score.interval.low < PUBLISHED[metric] <= score.interval.high


@pytest.mark.parametrize("metric", PUBLISHED)
def test_numbers_of_a_scale_are_like_labels_that_are_numbers(metric: str) -> None:
    rows = [[None if sign == "-" else float(sign) for sign in row] for row in UNITS]
    score = krippendorff_alpha(numbers(rows), metric)
    assert score.value == pytest.approx(PUBLISHED[metric], abs=0.0005)
    assert score.n == 11


@pytest.mark.parametrize("metric", ["nominal", "ordinal", "interval"])
def test_counts_are_enough(metric: str) -> None:
    votes = labels(UNITS, of="12345")
    assert krippendorff_alpha(votes.counts(), metric).value == krippendorff_alpha(votes, metric).value


def test_nominal_by_hand() -> None:
    # OO, OT, TT. Observed: one unit of two different answers, 2 / 6. Expected: 2 * 3 * 3 / (6 * 5). 1 - 5/9.
    assert krippendorff_alpha(labels(["OO", "OT", "TT"])).value == pytest.approx(4 / 9)


@given(label_rows(signs="1234-"), st.sampled_from(sorted(PUBLISHED)))
def test_as_pair_by_pair(rows: list[str], metric: str) -> None:
    distance = {
        "nominal": nominal,
        "ordinal": ordinal(rows),
        "interval": lambda a, b: (float(a) - float(b)) ** 2,
        "ratio": lambda a, b: ((float(a) - float(b)) / (float(a) + float(b))) ** 2,
    }[metric]
    score = krippendorff_alpha(labels(rows, of="1234"), metric, bootstrap=None)
    assert (score.value is not None) == varies(rows)
    if score.value is not None:
        assert score.value == pytest.approx(slow_alpha(rows, distance), abs=1e-9)


@given(set_rows(), st.sampled_from(["masi", "jaccard", "nominal"]))
def test_sets_as_pair_by_pair(rows: list[list[str | None]], metric: str) -> None:
    score = krippendorff_alpha(sets(rows), metric, bootstrap=None)
    assert (score.value is not None) == varies(rows)
    if score.value is not None:
        distance = {"masi": masi, "jaccard": jaccard, "nominal": nominal}[metric]
        assert score.value == pytest.approx(slow_alpha(rows, distance), abs=1e-9)


def test_sets_by_hand() -> None:
    # Two units: {a}, {a,b} and {b}, {b}. Jaccard of the first: 1/2. Observed: (2 * 1/2) / 4.
    # Expected of a, ab, b, b: a-ab 1/2, a-b 1 twice, ab-b 1/2 twice, b-b 0; twice 3.5 over 4 * 3. 1 - (1/4)/(7/12).
    assert krippendorff_alpha(sets([["a", "ab"], ["b", "b"]]), "jaccard").value == pytest.approx(4 / 7)
    # MASI: nested sets of overlap 1/2 are 1 - 1/2 * 2/3 = 2/3 apart: (2 * 2/3) / 4 over 2 * (3 * 2/3 + 2) / 12.
    assert krippendorff_alpha(sets([["a", "ab"], ["b", "b"]]), "masi").value == pytest.approx(1 / 2)


def test_choosing_none_is_an_answer_and_no_answer_is_not() -> None:
    assert krippendorff_alpha(sets([["", ""], ["a", "a"], [None, "b"]]), "masi").value == pytest.approx(1)
    assert krippendorff_alpha(sets([["", "a"], ["a", ""]]), "masi").value == pytest.approx(-1 / 2)


def test_more_labels_than_a_number_has_bits() -> None:
    generator = np.random.default_rng(0)
    few = generator.random((12, 3, 2)) < 0.5
    many = np.zeros((12, 3, 90), dtype=np.bool_)
    many[:, :, [0, 89]] = few
    answered = np.ones((12, 3), dtype=np.bool_)
    tags = tuple(str(place) for place in range(90))
    narrow = LabelSetVotes(units(12), names(3), tags[:2], few, answered)
    wide = LabelSetVotes(units(12), names(3), tags, many, answered.copy())
    assert krippendorff_alpha(wide, "masi").value == krippendorff_alpha(narrow, "masi").value


@given(label_rows(signs="OTX", least_raters=2))
def test_nominal_is_fleiss_with_a_small_correction(rows: list[str]) -> None:
    # For complete data: alpha = kappa + (1 - kappa) / votes.
    kappa = fleiss_kappa(labels(rows), bootstrap=None).value
    alpha = krippendorff_alpha(labels(rows), bootstrap=None).value
    if kappa is None:
        assert alpha is None
    else:
        assert alpha == pytest.approx(kappa + (1 - kappa) / sum(map(len, rows)), abs=1e-9)


@given(number_rows(), st.floats(-1e3, 1e3), st.floats(0.01, 100))
def test_an_interval_scale_has_no_zero_and_no_unit(
    rows: list[list[float | None]], zero: float, unit: float
) -> None:
    moved = [[None if value is None else zero + unit * value for value in row] for row in rows]
    before = krippendorff_alpha(numbers(rows), "interval", bootstrap=None).value
    after = krippendorff_alpha(numbers(moved), "interval", bootstrap=None).value
    assert after == (None if before is None else pytest.approx(before, abs=1e-6))


@given(label_rows(signs="1234-"))
def test_an_order_may_be_turned(rows: list[str]) -> None:
    one = krippendorff_alpha(labels(rows, of="1234"), "ordinal", bootstrap=None).value
    other = krippendorff_alpha(labels(rows, of="4321"), "ordinal", bootstrap=None).value
    assert other == (None if one is None else pytest.approx(one, abs=1e-9))


def test_numbers_as_fine_as_they_like() -> None:
    generator = np.random.default_rng(1)
    values = generator.normal(size=(600, 1)) + 0.1 * generator.normal(size=(600, 3))
    votes = ScaleVotes(units(600), names(3), values)
    assert krippendorff_alpha(votes, "interval").value == pytest.approx(0.99, abs=0.005)
    with pytest.raises(UsageError, match=r"1,800 different numbers .*round them"):
        krippendorff_alpha(votes, "ordinal")


def test_equal_fractions_do_not_vary() -> None:
    score = krippendorff_alpha(numbers([[0.1, 0.1, 0.1]] * 7), "interval")
    assert (score.value, score.note, score.n) == (None, SAME, 7)
    assert krippendorff_alpha(numbers([[0.1, 0.1, 0.1], [0.7, 0.7, 0.7]]), "interval").value == pytest.approx(
        1
    )


@pytest.mark.parametrize("metric", ["nominal", "ordinal", "interval", "ratio"])
@pytest.mark.parametrize(
    ("rows", "note"), [(["22", "22"], SAME), (["1-", "-2"], ALONE), ([], ALONE), (["--"], ALONE)]
)
def test_undefined(metric: str, rows: list[str], note: str) -> None:
    score = krippendorff_alpha(labels(rows, of="12"), metric)
    assert (score.value, score.interval, score.note) == (None, None, note)
    answers = [[None if sign == "-" else sign for sign in row] for row in rows]
    scale = krippendorff_alpha(
        numbers([[None if a is None else float(a) for a in row] for row in answers]), metric
    )
    assert (scale.value, scale.interval, scale.note) == (None, None, note)
    if metric == "nominal":
        score = krippendorff_alpha(sets(answers, of="12"), "masi")
        assert (score.value, score.interval, score.note) == (None, None, note)


@pytest.mark.parametrize("metric", ["nominal", "ordinal", "interval", "masi"])
def test_the_interval_is_that_of_resampled_units(metric: str) -> None:
    generator = np.random.default_rng(5)
    codes = np.where(
        generator.random((120, 4)) < 0.6,
        generator.integers(0, 4, (120, 1)),
        generator.integers(-1, 4, (120, 4)),
    )

    def votes(rows: np.ndarray) -> LabelVotes | LabelSetVotes:
        if metric != "masi":
            return LabelVotes(units(120), names(4), tuple("1234"), codes[rows].astype(np.int8))
        chosen = np.stack([codes[rows] % 2 == 1, codes[rows] >= 2], axis=2)
        return LabelSetVotes(units(120), names(4), tuple("ab"), chosen, codes[rows] >= 0)

    fast = krippendorff_alpha(votes(np.arange(120)), metric).interval
    slow = bootstrap_rows(
        120,
        lambda rows: float(krippendorff_alpha(votes(rows), metric, bootstrap=None)),
        Bootstrap(400, seed=1),
    )
    assert fast is not None
    assert slow is not None
    assert np.allclose(fast, slow, atol=0.02)


def test_what_does_not_suit_is_refused() -> None:
    with pytest.raises(UsageError, match=r"alpha\(masi\) is not made for one label .*fleiss"):
        krippendorff_alpha(labels(["OT"]), "masi")
    with pytest.raises(UsageError, match=r"alpha\(ordinal\) is not made for several labels .*alpha\(masi\)"):
        krippendorff_alpha(sets([["a", "b"]]), "ordinal")
    with pytest.raises(UsageError, match="these labels are none"):
        krippendorff_alpha(labels(["OT"]), "ratio")
    with pytest.raises(UsageError, match="no numbers below 0"):
        krippendorff_alpha(numbers([[-1, 1]]), "ratio")
    with pytest.raises(UsageError, match="did you mean 'ordinal'"):
        krippendorff_alpha(labels(["OT"]), "ordinary")
    with pytest.raises(InvalidError, match=r"document 'dialogue', segment '1': .*finite"):
        krippendorff_alpha(numbers([[1, 2], [3, math.inf]]), "interval")
