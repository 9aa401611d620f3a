"""Chains: the votes of a breakdown campaign choose the units of an error-types campaign as they come in."""

from __future__ import annotations

import pytest

from lapsus.errors import InputError, UsageError
from lapsus.model import TargetRule
from lapsus.store import Chain, Nothing, Plan, Reservation, Store
from tests.store.helpers import campaign, dialogue, judge_all, people, reserve, save
from tests.store.test_concurrency import check_counts


def chain(store: Store, **plan: object) -> None:
    store.campaigns.create(
        Plan(**({"name": "types", "scheme": "error-types", "chain": Chain("chat")} | plan))
    )  # type: ignore[arg-type]


def vote(store: Store, person: int, answers: str) -> None:
    """Judge the units of the one document in order."""
    for unit, answer in zip(reserve(store, person), answers, strict=True):
        save(store, unit, person, answer)


def test_units_that_enough_people_called_a_breakdown_are_judged_further(store: Store) -> None:
    campaign(store, documents=1, turns=4, per_unit=2)
    chain(store, per_unit=2)
    avery, blake, casey = people(store, "avery", "blake", "casey")
    assert store.assignment.next_units(casey, "types") == Nothing("wait")
    vote(store, avery, "OTXO")
    assert store.progress.of_campaign("types").units == 0
    vote(store, blake, "OOXT")
    given = store.assignment.next_units(casey, "types")
    assert isinstance(given, Reservation)
    assert [unit.number for unit in given.units] == [2, 3, 4]
    assert store.progress.of_campaign("types").units == 3
    for unit in given.units:
        save(store, unit.number, casey, campaign="types", answers={"types": ("uninterpretable",)})
    assert store.assignment.next_units(casey, "types") == Nothing("done")
    check_counts(store)


def test_votes_that_are_there_already_choose_at_once(store: Store) -> None:
    campaign(store, documents=3, turns=2)
    (me,) = people(store, "avery")
    judge_all(store, me, answer="X")
    chain(store)
    assert store.progress.of_campaign("types").units == 6
    check_counts(store)


def test_a_changed_vote_chooses_anew_but_work_begun_stays(store: Store) -> None:
    campaign(store, documents=1, turns=2)
    chain(store)
    avery, blake = people(store, "avery", "blake")
    vote(store, avery, "XX")
    assert store.progress.of_campaign("types").units == 2
    save(store, 1, avery, "O")
    assert store.progress.of_campaign("types").units == 1
    assert reserve(store, blake, "types") == [2]
    save(store, 2, avery, "O")
    assert store.progress.of_campaign("types").units == 1
    save(store, 1, avery, "T")
    assert store.progress.of_campaign("types").units == 2
    save(store, 2, blake, campaign="types", answers={"types": ("uninterpretable",)})
    assert reserve(store, blake, "types") == [1]
    check_counts(store)


def test_drafts_and_late_extras_do_not_vote(store: Store) -> None:
    campaign(store, documents=1, turns=1)
    chain(store)
    (me,) = people(store, "avery")
    save(store, reserve(store, me)[0], me, "X", submitted=False)
    assert store.progress.of_campaign("types").units == 0


def test_documents_added_to_the_first_campaign_come_to_the_others_too(store: Store) -> None:
    campaign(store, documents=1)
    chain(store)
    store.campaigns.create(Plan("more", "response-quality", chain=Chain("types", _rule("types"))))
    store.campaigns.add_documents("chat", [dialogue("late", 2)])
    assert store.units.document_names("types") == store.units.document_names("more") == ["d0", "late"]
    assert store.units.get("more", 5) == store.units.get("chat", 5)
    assert store.progress.of_campaign("more").documents == 2
    with pytest.raises(UsageError, match="add them to 'chat'"):
        store.campaigns.add_documents("types", [dialogue("x")])
    (me,) = people(store, "avery")
    judge_all(store, me, answer="X")
    assert store.progress.of_campaign("types").units == 5
    while units := reserve(store, me, "types"):
        for unit in units:
            save(store, unit, me, campaign="types", answers={"types": ("uninterpretable",)})
    assert store.progress.of_campaign("more").units == 5
    check_counts(store)


def _rule(scheme: str) -> TargetRule:
    if scheme == "types":
        return TargetRule(scheme="error-types", question="types", labels=("uninterpretable",), at_least=0.5)
    return TargetRule(scheme="breakdown", question="breakdown", labels=("X",), at_least=1.0)


def test_a_plan_may_bring_a_rule_of_its_own(store: Store) -> None:
    campaign(store, documents=1, turns=3)
    chain(store, chain=Chain("chat", _rule("strict")))
    (me,) = people(store, "avery")
    vote(store, me, "OTX")
    assert store.progress.of_campaign("types").units == 1


def test_votes_are_shown_only_if_the_plan_says_so(store: Store) -> None:
    campaign(store, documents=1, turns=2, per_unit=3)
    chain(store, show_votes=True)
    chain(store, name="blind")
    for person, votes in zip(people(store, "avery", "blake", "casey"), ("XO", "TO", "XO"), strict=True):
        vote(store, person, votes)
    assert store.units.votes("types", 1) == {"X": 2, "T": 1}
    assert store.units.votes("blind", 1) is None
    assert store.units.votes("chat", 1) is None


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (Plan("b", "response-quality", chain=Chain("chat")), "give the chain a rule"),
        (Plan("b", "error-types", chain=Chain("chat", _rule("types"))), "has no such votes"),
        (Plan("b", "semantic-errors", chain=Chain("chat", _rule("strict"))), "one judges 'system'"),
        (
            Plan("b", "error-types", chain=Chain("chat", TargetRule("breakdown", "breakdown", ("Z",), 0.5))),
            "unknown labels: Z",
        ),
    ],
)
def test_chains_that_do_not_fit_are_refused(store: Store, plan: Plan, message: str) -> None:
    campaign(store, documents=1)
    with pytest.raises(InputError, match=message):
        store.campaigns.create(plan)
    with pytest.raises(UsageError, match="no campaign"):
        store.campaigns.create(Plan("b", "error-types", chain=Chain("nowhere")))
    assert [found.name for found in store.campaigns.all()] == ["chat"]


def test_asking_for_more_votes_does_not_take_units_away(store: Store) -> None:
    campaign(store, documents=1, turns=2)
    chain(store)
    avery, blake = people(store, "avery", "blake")
    vote(store, avery, "XX")
    store.campaigns.set_per_unit("chat", 2)
    assert store.progress.of_campaign("types").units == 2
    vote(store, blake, "OO")
    assert store.progress.of_campaign("types").units == 2
    check_counts(store)
