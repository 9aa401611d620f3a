"""Measures asked for as one writes them, and what all of them have in common."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lapsus.errors import UsageError
from lapsus.measures.agreement import ALIASES, COEFFICIENTS, coefficient
from lapsus.measures.agreement.patterns import ALONE
from lapsus.measures.bootstrap import Bootstrap
from lapsus.measures.score import SAME, Score, parse_measure
from lapsus.model import Span
from lapsus.model.votes import SpanVotes, Votes
from tests.measures.agreement.helpers import label_rows, labels, number_rows, numbers, set_rows, sets, units

FOR_LABELS = [
    "percent",
    "fleiss",
    "cohen",
    "cohen(linear)",
    "cohen(quadratic)",
    "scott",
    "alpha(nominal)",
    "alpha(ordinal)",
    "alpha(interval)",
    "ac1",
    "ac2(linear)",
    "ac2(quadratic)",
    "ac2(ordinal)",
]
FOR_NUMBERS = [
    *FOR_LABELS,
    "alpha(ratio)",
    *(f"icc({model},{ratings})" for model in "123" for ratings in "1k"),
    "kendall_w",
]
FOR_SETS = ["alpha(masi)", "alpha(jaccard)", "alpha(nominal)", "weighted_fleiss"]
SOME = Bootstrap(resamples=20)


@pytest.mark.parametrize(
    ("measures", "votes"),
    [
        (FOR_LABELS, labels(["OOO", "TTT", "XXX", "OOO"])),
        (FOR_NUMBERS, numbers([[1, 1, 1], [2, 2, 2], [5, 5, 5], [3, 3, 3]])),
        (FOR_SETS, sets([["a", "a"], ["ab", "ab"], ["", ""]])),
    ],
)
def test_perfect_agreement_is_one(measures: list[str], votes: Votes) -> None:
    for measure in measures:
        score = coefficient(measure, votes, SOME)
        assert score.value == pytest.approx(1), measure
        assert score.interval is not None, measure
        # Few units that all agree do not show that all others would.
        assert score.interval.low < 1 - 1e-3, measure
        assert score.interval.high == pytest.approx(1, abs=0.2), measure
        assert score.note is None
        assert f"boot:{SOME}" in score.signature
        # What a score calls itself can be asked for again.
        assert score.measure == measure
        assert str(parse_measure(score.measure)) == score.measure


@pytest.mark.parametrize(
    ("measures", "votes"),
    [
        (FOR_LABELS, labels(["OOO", "O-O"])),
        (FOR_NUMBERS, numbers([[2, 2, 2], [2, 2, 2]])),
        (FOR_SETS, sets([["ab", "ab"], ["ab", "ab"]])),
    ],
)
def test_one_answer_everywhere_is_undefined_beyond_chance(measures: list[str], votes: Votes) -> None:
    for measure in measures:
        score = coefficient(measure, votes)
        found = 1.0 if measure.startswith(("percent", "ac1", "ac2")) else None
        assert (score.value, score.note, score.n) == (found, SAME, 2), measure
        # Few units on which all agree say little of others. AC of one number only has nothing to be told from.
        assert score.interval is None or (found == 1 and score.interval.low < 0.2), measure


@pytest.mark.parametrize(
    ("measures", "votes"),
    [
        (FOR_LABELS, [labels([]), labels(["O", "T"]), labels(["--", "--"]), labels(["O-", "-T"])]),
        (FOR_NUMBERS, [numbers([]), numbers([[1], [2]]), numbers([[None, None]])]),
        (FOR_SETS, [sets([]), sets([["a"], ["b"]]), sets([[None, None]]), sets([["a", None], [None, "b"]])]),
    ],
)
def test_nobody_to_agree_with_is_undefined(measures: list[str], votes: list[Votes]) -> None:
    for measure in measures:
        for one in votes:
            score = coefficient(measure, one)
            assert (score.value, score.interval, score.n) == (None, None, 0), measure
            assert score.note


@given(label_rows(), st.sampled_from(FOR_LABELS), st.randoms(use_true_random=False))
def test_order_of_label_votes_does_not_matter(rows: list[str], measure: str, random) -> None:
    order = random.sample(range(len(rows[0])), len(rows[0]))
    turned = ["".join(row[place] for place in order) for row in random.sample(rows, len(rows))]
    assert_same(coefficient(measure, labels(rows), None), coefficient(measure, labels(turned), None))


@given(number_rows(), st.sampled_from(FOR_NUMBERS), st.randoms(use_true_random=False))
def test_order_of_numbers_does_not_matter(rows: list[list[float | None]], measure: str, random) -> None:
    order = random.sample(range(len(rows[0])), len(rows[0]))
    turned = [[row[place] for place in order] for row in random.sample(rows, len(rows))]
    assert_same(coefficient(measure, numbers(rows), None), coefficient(measure, numbers(turned), None))


@given(set_rows(), st.sampled_from(FOR_SETS), st.randoms(use_true_random=False))
def test_order_of_sets_does_not_matter(rows: list[list[str | None]], measure: str, random) -> None:
    order = random.sample(range(len(rows[0])), len(rows[0]))
    turned = [[row[place] for place in order] for row in random.sample(rows, len(rows))]
    assert_same(coefficient(measure, sets(rows), None), coefficient(measure, sets(turned), None))


@given(label_rows(), st.sampled_from(FOR_LABELS))
def test_intervals_are_in_order_and_never_without_a_value(rows: list[str], measure: str) -> None:
    score = coefficient(measure, labels(rows), SOME)
    if score.interval is not None:
        assert score.value is not None
        assert score.interval.low <= score.interval.high
    assert ("boot" in score.signature) == (score.interval is not None)


def assert_same(one: Score, other: Score) -> None:
    assert float(one) == pytest.approx(float(other), abs=1e-9, nan_ok=True)
    assert (one.n, one.note, one.signature) == (other.n, other.note, other.signature)


def test_every_measure_and_alias_is_there() -> None:
    assert all(callable(function) for function in COEFFICIENTS)
    assert set(ALIASES.values()) <= set(COEFFICIENTS.names())
    assert not set(ALIASES) & set(COEFFICIENTS.names())


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        ("fleiss", "fleiss"),
        ("Fleiss-Kappa", "fleiss"),
        ("pi", "scott"),
        ("alpha", "alpha(nominal)"),
        ("alpha@metric=ordinal", "alpha(ordinal)"),
        ("krippendorff( interval )", "alpha(interval)"),
        ("cohen@weights=linear", "cohen(linear)"),
        ("AC1", "ac1"),
        ("ac2", "ac2(quadratic)"),
    ],
)
def test_names_are_read_as_written(text: str, measure: str) -> None:
    assert coefficient(text, labels(["OT", "TT"]), None).measure == measure


def test_icc_forms_are_read_as_written() -> None:
    votes = numbers([[1, 2], [3, 5], [6, 6]])
    assert [
        coefficient(text, votes, None).measure for text in ("icc", "icc(3,k)", "icc@model=1,ratings=k")
    ] == [
        "icc(2,1)",
        "icc(3,k)",
        "icc(1,k)",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fleis", "no measure of agreement is called 'fleis' .*did you mean 'fleiss'"),
        ("alfa", "did you mean 'alpha'"),
        ("weather", "no measure of agreement is called 'weather'"),
        ("fleiss(x)", r"cannot make sense of 'fleiss\(x\)' .*takes nothing"),
        ("alpha(ordinal,nominal)", "takes only metric"),
        ("alpha@distance=1", "takes only metric"),
        ("alpha@bootstrap=3", "takes only metric"),
        ("alpha@votes=3", "takes only metric"),
        ("alpha(ordinary)", "did you mean 'ordinal'"),
        ("icc(2,3)", "no mean is called '3'"),
        ("!", "is no measure"),
    ],
)
def test_what_cannot_be_read_is_said(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        coefficient(text, labels(["OT"]))


def test_each_kind_of_votes_is_told_what_suits_it() -> None:
    spans = SpanVotes(units(1), ("a",), ("x",), (((Span("s", 0, 1, "x"),),),))
    for text, votes, message in [
        ("fleiss", sets([["a", "b"]]), r"fleiss is not made for several labels .*use alpha\(masi\)"),
        ("weighted_fleiss", labels(["OT"]), "is not made for one label from each annotator .*use fleiss"),
        ("icc(2,1)", labels(["OT"]), "is not made for one label"),
        ("kendall_w", sets([["a", "b"]]), "is not made for several labels"),
        ("weighted_fleiss", numbers([[1, 2]]), r"is not made for a number .*use alpha\(interval\)"),
        ("alpha", spans, "is not made for spans .*use gamma"),
        ("cohen", np.array([[1, 2]]), "is not made for counts"),
        ("icc", np.array([[1, 2]]), "is not made for counts"),
        ("fleiss", [[1, 2]], "is not made for a list"),
    ]:
        with pytest.raises(UsageError, match=message):
            coefficient(text, votes)  # type: ignore[arg-type]


def test_parameters_that_are_numbers_are_read_as_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    def made_up(
        votes: object, share: float = 0.5, times: int = 1, *, bootstrap: Bootstrap | None = None
    ) -> Score:
        return Score("made-up", share * times, 1)

    monkeypatch.setitem(COEFFICIENTS._loaded, "percent", made_up)
    assert coefficient("percent(0.25)@times=3", labels(["OT"])).value == 0.75
    with pytest.raises(UsageError, match="times of percent must be a number, not 'often'"):
        coefficient("percent@times=often", labels(["OT"]))


def test_undefined_notes_are_plain_words() -> None:
    assert str(coefficient("alpha", labels(["O-"]))) == f"alpha(nominal) n/a: {ALONE}"
    assert str(coefficient("alpha", labels(["OO"]))) == "alpha(nominal) n/a: everybody chose the same"
