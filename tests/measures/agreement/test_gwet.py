from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lapsus.errors import UsageError
from lapsus.measures.agreement.fleiss import gwet_ac1, gwet_ac2
from lapsus.measures.agreement.patterns import ALONE
from lapsus.measures.score import SAME
from tests.measures.agreement.helpers import has_pairs, label_rows, labels, numbers, slow_percent, slow_shares

WEIGHT = {
    "linear": lambda a, b, far: 1 - abs(a - b) / far,
    "quadratic": lambda a, b, far: 1 - (a - b) ** 2 / far**2,
    "ordinal": lambda a, b, far: 1 - abs(a - b) * (abs(a - b) + 1) / (far * (far + 1)),
}


def slow_gwet(rows: list[str], of: str, weight) -> float:
    """Gwet's formula: chance is the sum of p (1 - p), times the sum of all weights over q (q - 1)."""
    observed = slow_percent(rows, weight)
    spread = sum(share * (1 - share) for share in slow_shares(rows).values())
    expected = spread * sum(weight(a, b) for a in of for b in of) / (len(of) * (len(of) - 1))
    return (observed - expected) / (1 - expected)


def test_ac1_by_hand() -> None:
    # 118 times both O, 5 and 2 times they differ. Observed 118/125; O has 243 of 250 votes.
    # Expected 2 * 0.972 * 0.028 = 0.054432. Kappa would be below 0 here.
    votes = labels(["OO"] * 118 + ["OT"] * 5 + ["TO"] * 2, of="OT")
    assert gwet_ac1(votes).value == pytest.approx((0.944 - 0.054432) / (1 - 0.054432))


def test_a_label_that_nobody_chose_counts_too() -> None:
    # Shares 3/4 and 1/4: sum of p (1 - p) is 3/8; over q - 1: 3/8 for two labels, 3/16 for three.
    assert gwet_ac1(labels(["OO", "OT"], of="OT")).value == pytest.approx((1 / 2 - 3 / 8) / (5 / 8))
    assert gwet_ac1(labels(["OO", "OT"], of="OTX")).value == pytest.approx((1 / 2 - 3 / 16) / (13 / 16))


@given(label_rows(signs="1234-"))
def test_ac1_as_pair_by_pair(rows: list[str]) -> None:
    score = gwet_ac1(labels(rows, of="1234"), bootstrap=None)
    assert (score.value is not None) == has_pairs(rows)
    if score.value is not None:
        assert score.value == pytest.approx(slow_gwet(rows, "1234", lambda a, b: a == b), abs=1e-9)


@given(label_rows(signs="1234-"), st.sampled_from(sorted(WEIGHT)))
def test_ac2_as_pair_by_pair(rows: list[str], weights: str) -> None:
    score = gwet_ac2(labels(rows, of="1234"), weights, bootstrap=None)
    assert (score.value is not None) == has_pairs(rows)
    if score.value is not None:
        slow = slow_gwet(rows, "1234", lambda a, b: WEIGHT[weights](int(a), int(b), 3))
        assert score.value == pytest.approx(slow, abs=1e-9)


def test_uneven_numbers() -> None:
    # On 1, 2, 5 the linear weight of 2 and 5 is 1/4, the ordinal one, by steps, 2/3.
    rows, of = ["11", "25"], "125"
    linear = slow_gwet(rows, of, lambda a, b: WEIGHT["linear"](int(a), int(b), 4))
    stepwise = slow_gwet(rows, of, lambda a, b: WEIGHT["ordinal"](of.find(a), of.find(b), 2))
    for votes in (labels(rows, of=of), numbers([[1, 1], [2, 5]])):
        assert gwet_ac2(votes, "linear").value == pytest.approx(linear)
        assert gwet_ac2(votes, "ordinal").value == pytest.approx(stepwise)


def test_with_two_labels_weights_change_nothing() -> None:
    votes = labels(["OO", "OT", "TT", "TT"], of="OT")
    for weights in WEIGHT:
        assert gwet_ac2(votes, weights).value == pytest.approx(gwet_ac1(votes).value)


@pytest.mark.parametrize(("rows", "note"), [(["O-", "-T"], ALONE), ([], ALONE)])
@pytest.mark.parametrize("of", ["O", "OT", "OTX"])
def test_undefined(rows: list[str], note: str, of: str) -> None:
    if set("".join(rows)) - {"-"} <= set(of):
        for score in (gwet_ac1(labels(rows, of=of)), gwet_ac2(labels(rows, of=of))):
            assert (score.value, score.interval, score.note) == (None, None, note)


@pytest.mark.parametrize("of", ["O", "OT", "OTX"])
def test_one_label_everywhere_is_full_agreement(of: str) -> None:
    for score in (gwet_ac1(labels(["OO", "OO"], of=of)), gwet_ac2(labels(["OO", "OO"], of=of))):
        assert (score.value, score.note) == (1.0, SAME)
        # One label that alone could be given is no agreement to be unsure of.
        assert (score.interval is None) == (len(of) == 1)


def test_unknown_weights() -> None:
    with pytest.raises(UsageError, match="known: linear, quadratic, ordinal"):
        gwet_ac2(labels(["OT"]), "cubic")
