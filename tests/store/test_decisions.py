"""Decisions are added, never changed, and keep the rules; gold is kept with how it was made."""

from __future__ import annotations

from typing import Any

import pytest

from lapsus.store import Decision, GoldCounts, GoldUnit, RefusedError, Store
from tests.store.helpers import Clock, campaign, judge_all, people, reserve, save


@pytest.fixture
def judged(store: Store) -> tuple[int, int, int, int]:
    """Two who judged unit 1 differently, an adjudicator, and the unit."""
    campaign(store, documents=1, turns=1, per_unit=2)
    avery, blake = people(store, "avery", "blake")
    for person, answer in ((avery, "O"), (blake, "X")):
        reserve(store, person)
        save(store, 1, person, answer, answers={"breakdown": answer, "comment": f"from {answer}"})
    return avery, blake, store.people.add("mori", "adjudicator").id, 1


Judged = tuple[int, int, int, int]


def test_a_persons_answer_is_taken_whole(store: Store, judged: Judged) -> None:
    _, blake, mori, unit = judged
    made = store.decisions.decide("k1", "chat", unit, mori, "person", follows=blake, reason="a clear break")
    assert made == Decision(
        1, "d0", "0", "mori", "person", "blake", {"breakdown": "X", "comment": "from X"}, "a clear break",
        store.database.clock(),
    )  # fmt: skip
    assert store.decisions.decided_units("chat") == {1}


def test_a_new_decision_comes_on_top_and_the_old_one_stays(
    store: Store, judged: Judged, clock: Clock
) -> None:
    avery, _, mori, unit = judged
    store.decisions.decide("k1", "chat", unit, mori, "person", follows=avery)
    clock.forward(minutes=1)
    store.decisions.decide("k2", "chat", unit, mori, "own", {"breakdown": "T"})
    assert [one.answers["breakdown"] for one in store.decisions.all("chat", unit)] == ["T", "O"]
    assert store.decisions.standing("chat")[1].answers == {"breakdown": "T"}


def test_the_same_key_is_kept_once_and_for_one_decision_only(store: Store, judged: Judged) -> None:
    _, _, mori, unit = judged
    first = store.decisions.decide("k1", "chat", unit, mori, "own", {"breakdown": "T"})
    assert store.decisions.decide("k1", "chat", unit, mori, "own", {"breakdown": "T"}) == first
    with pytest.raises(RefusedError) as refused:
        store.decisions.decide("k1", "chat", unit, mori, "own", {"breakdown": "X"})
    assert refused.value.reason == "key-reused"
    assert len(store.decisions.all("chat")) == 1


@pytest.mark.parametrize(
    ("how", "answers", "reason"),
    [
        ("own", {}, "rules"),
        ("own", {"breakdown": "Q"}, "rules"),
        ("majority", {"breakdown": "O", "nothing": "x"}, "rules"),
        ("lottery", {"breakdown": "O"}, "shape"),
        ("person", {"breakdown": "O"}, "shape"),
    ],
)
def test_what_breaks_rules_is_refused(
    store: Store, judged: Judged, how: Any, answers: Any, reason: str
) -> None:
    with pytest.raises(RefusedError) as refused:
        store.decisions.decide("k1", "chat", 1, judged[2], how, answers)
    assert refused.value.reason == reason
    assert store.decisions.all("chat") == []


def test_annotators_do_not_decide(store: Store, judged: Judged) -> None:
    with pytest.raises(RefusedError) as refused:
        store.decisions.decide("k1", "chat", 1, judged[0], "own", {"breakdown": "O"})
    assert refused.value.reason == "not-yours-to-see"


def test_decisions_change_nothing_that_people_said(store: Store, judged: Judged) -> None:
    before = list(store.exports.export("chat"))
    store.decisions.decide("k1", "chat", 1, judged[2], "own", {"breakdown": "T"})
    assert list(store.exports.export("chat")) == before


def test_gold_is_kept_with_method_and_signature(store: Store, judged: Judged) -> None:
    units = [GoldUnit("d0", "0", {"breakdown": "T"}, {"breakdown": {"O": 0.0, "T": 1.0, "X": 0.0}}, True)]
    signatures, counts = {"breakdown": "method:majority|t:0"}, {"breakdown": GoldCounts(1, 2)}
    made = store.decisions.keep_gold("chat", "majority", signatures, counts, units)
    assert made.questions == counts
    assert (made.units, made.decided, made.signatures["breakdown"]) == (1, 1, "method:majority|t:0")
    assert store.decisions.gold_units("chat", made.id) == units
    assert [gold.id for gold in store.decisions.golds("chat")] == [made.id]
    assert store.audit.events("chat")[0].what == "gold made"


def test_many_units_are_decided_on_and_undone_at_once(store: Store) -> None:
    campaign(store, documents=2, turns=2)
    (avery,) = people(store, "avery")
    judge_all(store, avery)
    mori = store.people.add("mori", "adjudicator").id
    batch = store.decisions.decide_many(
        "chat", mori, {n: ("majority", {"breakdown": "O"}) for n in (1, 2, 3)}
    )
    assert store.decisions.decided_units("chat") == {1, 2, 3}
    store.decisions.decide("k", "chat", 3, mori, "own", {"breakdown": "X"})
    assert [store.decisions.withdraw("chat", mori, batch) for _ in range(2)] == [2, 0]
    assert store.decisions.decided_units("chat") == {3}
    assert store.decisions.decide_many(
        "chat", mori, {1: ("own", {"breakdown": "T"}), 3: ("own", {"breakdown": "T"})}
    )
    assert {unit: one.answers["breakdown"] for unit, one in store.decisions.standing("chat").items()} == {
        1: "T",
        3: "X",
    }
