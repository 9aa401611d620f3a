from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from lapsus.errors import UsageError
from lapsus.measures.gold.dawid_skene import VoteCodes, dawid_skene
from lapsus.measures.gold.result import NOBODY, informedness
from lapsus.model import UnitKey
from lapsus.model.votes import LabelVotes
from tests.measures.agreement.helpers import label_rows, labels
from tests.measures.gold.helpers import simulated, units, votes_of


def plainly(
    codes: list[list[int]], count: int, smoothing: float, iterations: int
) -> tuple[list[list[float]], float]:
    """Dawid and Skene's EM, vote by vote. The posterior of each unit and the log likelihood."""
    given_votes = [[(a, code) for a, code in enumerate(row) if code >= 0] for row in codes]
    posterior = [
        [sum(code == label for _, code in row) / len(row) for label in range(count)] if row else [0.0] * count
        for row in given_votes
    ]
    total = 0.0
    for _ in range(iterations):
        confusion = [[[smoothing] * count for _ in range(count)] for _ in codes[0]]
        prior = [smoothing] * count
        for shares, row in zip(posterior, given_votes, strict=True):
            for label, share in enumerate(shares):
                prior[label] += share
                for annotator, code in row:
                    confusion[annotator][label][code] += share
        confusion = [[[cell / sum(line) for cell in line] for line in matrix] for matrix in confusion]
        prior = [share / sum(prior) for share in prior]
        total = 0.0
        for unit, row in enumerate(given_votes):
            if row:
                joint = [prior[k] * math.prod(confusion[a][k][code] for a, code in row) for k in range(count)]
                posterior[unit] = [part / sum(joint) for part in joint]
                total += math.log(sum(joint))
    return posterior, total


@settings(max_examples=40, deadline=None)
@given(label_rows(least_raters=2), st.sampled_from([0.01, 0.5]), st.integers(1, 4))
def test_equal_to_the_plain_way(rows: list[str], smoothing: float, iterations: int) -> None:
    votes = labels(rows)
    gold = dawid_skene(votes, smoothing=smoothing, iterations=iterations, tolerance=0)
    if gold.distributions is None:
        assert set("".join(rows)) == {"-"}
        return
    posterior, total = plainly(votes.codes.tolist(), 3, smoothing, gold.details["iterations"])
    for row, expected, answers in zip(gold.distributions, posterior, rows, strict=True):
        if set(answers) == {"-"}:
            assert np.isnan(row).all()
        else:
            assert row.tolist() == pytest.approx(expected, abs=1e-9)
    assert gold.details["log_likelihood"] == pytest.approx(total)


def test_one_step_by_hand() -> None:
    # Two units, two annotators: "AA", "AB". Shares: (1, 0), (½, ½). Expected counts without smoothing:
    # first annotator A: 3/2 times under A, ½ under B. Second: A once under A; B ½ under A, ½ under B.
    # So P(A|A), P(B|A) of the second are 2/3, 1/3, and P(B|B) is 1; the prior is 3/4, 1/4.
    # First unit: ¾·1·⅔ = ½ against ¼·1·0. Second: ¾·1·⅓ = ¼ against ¼·1·1 = ¼.
    gold = dawid_skene(labels(["AA", "AB"], "AB"), smoothing=0, iterations=1)
    assert gold.distributions is not None
    assert gold.distributions.tolist() == [pytest.approx([1, 0]), pytest.approx([0.5, 0.5])]
    assert gold.details["log_likelihood"] == pytest.approx(math.log(0.5) + math.log(0.5))
    assert gold.details["prior"].tolist() == [0.75, 0.25]
    assert gold.details["confusion"]["annotator-1"].tolist() == [pytest.approx([2 / 3, 1 / 3]), [0, 1]]
    # Reliability: ¾·1 + ¼·0 and ¾·⅔ + ¼·1.
    assert gold.reliability == {"annotator-0": pytest.approx(0.75), "annotator-1": pytest.approx(0.75)}
    assert gold.answers == ("A", "A")  # a tie goes to the earlier label
    assert gold.note == "not settled after 1 iterations"


@pytest.fixture(scope="module")
def crowd() -> tuple[NDArray[np.intp], NDArray[np.float64], LabelVotes]:
    generator = np.random.default_rng(7)
    truth = generator.choice(3, size=4000, p=[0.6, 0.25, 0.15])
    confusion = np.stack(
        [generator.dirichlet(np.ones(3) + 6 * np.eye(3)[label], 12) for label in range(3)], axis=1
    )
    confusion[10] = 1 / 3  # somebody who guesses
    confusion[11] = np.eye(3)[[1, 2, 0]]  # and somebody who mixes up the labels, always in the same way
    return truth, confusion, votes_of(simulated(truth, confusion, 0.4), 3)


def test_known_confusions_are_found(crowd: tuple[NDArray[np.intp], NDArray[np.float64], LabelVotes]) -> None:
    truth, confusion, votes = crowd
    gold = dawid_skene(votes)
    found = np.array([gold.details["confusion"][name] for name in votes.annotators])
    assert np.abs(found - confusion).max() < 0.06
    assert np.abs(gold.details["prior"] - [0.6, 0.25, 0.15]).max() < 0.02
    codes = np.array([votes.labels.index(str(answer)) for answer in gold.answers or ()])
    # The one who mixes up labels is as good as a perfect annotator, once understood.
    assert (codes == truth).mean() > 0.97
    assert gold.reliability["annotator-11"] < 0.02
    assert abs(gold.reliability["annotator-10"] - 1 / 3) < 0.05
    assert gold.details["converged"]


def test_likelihood_grows(crowd: tuple[NDArray[np.intp], NDArray[np.float64], LabelVotes]) -> None:
    *_, votes = crowd
    steps = [
        dawid_skene(votes, smoothing=0, iterations=i, tolerance=0).details["log_likelihood"]
        for i in range(1, 8)
    ]
    assert steps == sorted(steps)


def test_order_does_not_matter(crowd: tuple[NDArray[np.intp], NDArray[np.float64], LabelVotes]) -> None:
    *_, votes = crowd
    generator = np.random.default_rng(3)
    rows, columns = generator.permutation(len(votes.units)), generator.permutation(len(votes.annotators))
    turned = LabelVotes(
        tuple(votes.units[row] for row in rows),
        tuple(votes.annotators[column] for column in columns),
        votes.labels,
        votes.codes[np.ix_(rows, columns)],
    )
    one, other = dawid_skene(votes), dawid_skene(turned)
    assert one.distributions is not None
    assert other.distributions is not None
    assert np.allclose(one.distributions[rows], other.distributions, atol=1e-9)
    assert other.reliability == pytest.approx(one.reliability)


def test_full_agreement_is_certain() -> None:
    gold = dawid_skene(labels(["OOO", "TTT", "XXX"] * 5))
    assert gold.answers == ("O", "T", "X") * 5
    assert all(value > 0.95 for value in gold.reliability.values())


def test_one_label_everywhere() -> None:
    gold = dawid_skene(labels(["OO", "OO"]), smoothing=0)
    assert gold.answers == ("O", "O")
    assert gold.details["log_likelihood"] == pytest.approx(0)


def test_silent_units_and_annotators() -> None:
    gold = dawid_skene(labels(["OO-", "---", "XX-"]))
    assert gold.answers == ("O", None, "X")
    assert gold.distributions is not None
    assert np.isnan(gold.distributions[1]).all()
    assert set(gold.reliability) == {"annotator-0", "annotator-1"}
    silent = dawid_skene(labels(["--", "--"]))
    assert silent.answers == (None, None)
    assert silent.note == NOBODY
    assert dawid_skene(labels([])).answers == ()


def test_nonsense_is_refused() -> None:
    votes = labels(["OX"])
    for wrong in ({"smoothing": -1.0}, {"iterations": 0}, {"tolerance": -1.0}):
        with pytest.raises(UsageError, match="Dawid-Skene needs"):
            dawid_skene(votes, **wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="do not say who"):
        dawid_skene(LabelVotes(votes.units, ("?01", "?02"), votes.labels, votes.codes))


@pytest.mark.parametrize(
    ("annotators", "count", "missing"), [(1, 2, 0.0), (13, 3, 0.3), (40, 3, 0.95), (7, 9, 0.5), (3, 40, 0.1)]
)
def test_packed_votes_add_up_and_count_like_loops(annotators: int, count: int, missing: float) -> None:
    generator = np.random.default_rng(annotators)
    codes = generator.integers(0, count, (50, annotators)).astype(np.int8)
    codes[generator.random(codes.shape) < missing] = -1
    names = tuple(map(str, range(annotators)))
    votes = LabelVotes(units(len(codes)), names, tuple(map(str, range(count))), codes)
    packed = VoteCodes(votes)
    kept = codes[packed.voted]
    worth = generator.random((annotators, count, count))
    slow = np.zeros((count, len(kept)))
    for unit, row in enumerate(kept):
        for annotator, code in enumerate(row):
            if code >= 0:
                slow[:, unit] += worth[annotator, :, code]
    assert np.allclose(packed.added_up(worth), slow)
    posterior = generator.random((count, len(kept)))
    counted = np.zeros((annotators, count, count))
    for unit, row in enumerate(kept):
        for annotator, code in enumerate(row):
            if code >= 0:
                counted[annotator, :, code] += posterior[:, unit]
    assert np.allclose(packed.expected_answers(posterior), counted)
    assert packed.votes == (codes >= 0).sum()


def test_rates_by_label_tell_apart_whom_the_reliability_does_not() -> None:
    """X is rare: who never says it is right most of the time, and finds nothing."""
    generator = np.random.default_rng(5)
    truth = (generator.random(2000) < 0.06).astype(np.int8)

    def said(sensitivity: float, specificity: float) -> np.ndarray:
        right = generator.random(2000) < np.where(truth == 1, sensitivity, specificity)
        return np.where(right, truth, 1 - truth).astype(np.int8)

    rates = {"careful": (0.95, 0.94), "good": (0.9, 0.94), "fair": (0.85, 0.94), "blind": (0.4, 0.999)}
    codes = np.stack([said(*pair) for pair in rates.values()], axis=1)
    units = tuple(UnitKey(str(n), None) for n in range(2000))
    gold = dawid_skene(LabelVotes(units, tuple(rates), ("O", "X"), codes))
    # By reliability the one who overlooks most is the best; by what is told apart, the worst.
    assert max(gold.reliability, key=lambda name: gold.reliability[name]) == "blind"
    found = gold.details["rates"]
    assert min(found, key=lambda name: informedness(found[name])) == "blind"
    for name, (sensitivity, specificity) in rates.items():
        assert found[name]["X"] == pytest.approx((sensitivity, specificity), abs=0.1)
        assert found[name]["O"] == pytest.approx((specificity, sensitivity), abs=0.1)
