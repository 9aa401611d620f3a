"""Saves: once per key, never over another, by the rules, and acknowledged only when kept."""

from __future__ import annotations

import threading
from datetime import UTC, datetime

import pytest
from sqlalchemy.exc import IntegrityError, OperationalError

from lapsus.errors import InputError, UsageError
from lapsus.model import Span
from lapsus.store import Plan, RefusedError, Saved, SaveRequest, Store, StoreError, open_store
from lapsus.store.save_batch import Ready, SaveBatch
from tests.store.helpers import Clock, campaign, dialogue, pair, people, request, reserve, save


def test_a_key_sent_twice_is_stored_once_and_answered_alike(store: Store, clock: Clock) -> None:
    campaign(store)
    (me,) = people(store, "avery")
    unit = reserve(store, me)[0]
    first = save(store, unit, me, "O", key="one", base_revision=0, seconds=2.5)
    clock.forward(minutes=5)
    save(store, unit, me, "X", key="two", base_revision=1)
    assert save(store, unit, me, "O", key="one", base_revision=0, seconds=2.5) == first
    assert [(j.revision, j.answers["breakdown"]) for j in store.judgments.history("chat", unit)] == [
        (1, "O"),
        (2, "X"),
    ]
    assert store.progress.of_campaign("chat").people[0].seconds == 2.5


def test_a_key_sent_many_times_at_once_is_stored_once(store: Store) -> None:
    campaign(store)
    (me,) = people(store, "avery")
    unit = reserve(store, me)[0]
    futures = [store.saves.save_soon(request(unit, me, key="same")) for _ in range(50)]
    assert len({future.result() for future in futures}) == 1
    assert len(store.judgments.history("chat", unit)) == 1


@pytest.mark.parametrize("change", ["answer", "unit", "submitted"])
def test_a_key_is_not_taken_for_another_answer(store: Store, change: str) -> None:
    campaign(store)
    (me,) = people(store, "avery")
    units = reserve(store, me)
    save(store, units[0], me, "O", key="one")
    other = {
        "answer": request(units[0], me, "X", key="one"),
        "unit": request(units[1], me, "O", key="one"),
        "submitted": request(units[0], me, "O", key="one", submitted=False),
    }[change]
    with pytest.raises(RefusedError, match="used for another answer") as refused:
        store.saves.save(other)
    assert refused.value.reason == "key-reused"
    assert len(store.judgments.history("chat", units[0])) == 1


def test_a_repeated_save_is_still_acknowledged_when_the_campaign_is_closed(store: Store) -> None:
    campaign(store)
    (me,) = people(store, "avery")
    unit = reserve(store, me)[0]
    first = save(store, unit, me, key="one")
    store.campaigns.set_state("chat", "closed")
    assert save(store, unit, me, key="one") == first
    with pytest.raises(RefusedError, match="closed"):
        save(store, unit, me, "X")


def test_work_in_hand_can_be_finished_while_paused(store: Store) -> None:
    campaign(store)
    (me,) = people(store, "avery")
    unit = reserve(store, me)[0]
    store.campaigns.set_state("chat", "paused")
    assert save(store, unit, me).revision == 1


def test_a_change_is_a_new_revision_and_the_old_one_stays(store: Store, clock: Clock) -> None:
    campaign(store)
    (me,) = people(store, "avery")
    unit = reserve(store, me)[0]
    given = datetime(2026, 3, 1, 8, 59, 58, 123456, tzinfo=UTC)
    save(store, unit, me, "O", given_at=given, seconds=1.25, client="browser 1")
    clock.forward(seconds=30)
    save(store, unit, me, "T", client="browser 2")
    first, second = store.judgments.history("chat", unit, me)
    assert (first.answers["breakdown"], first.given_at, first.seconds, first.client) == (
        "O",
        given,
        1.25,
        "browser 1",
    )
    assert (second.answers["breakdown"], second.stored_at, second.given_at) == ("T", clock.now, clock.now)
    newest = store.judgments.get("chat", unit, me)
    assert newest == second
    assert [j.revision for j in store.judgments.of_unit("chat", unit)] == [2]
    assert store.progress.of_campaign("chat").done == 1


def test_a_save_from_an_older_tab_wins_and_says_what_it_replaced(store: Store) -> None:
    campaign(store)
    (me,) = people(store, "avery")
    unit = reserve(store, me)[0]
    assert save(store, unit, me, "O", base_revision=0).replaced is None
    assert save(store, unit, me, "T", base_revision=1).replaced is None
    older_tab = save(store, unit, me, "X", base_revision=1)
    assert (older_tab.revision, older_tab.replaced) == (3, 2)
    assert save(store, unit, me, "O").replaced is None


def test_a_draft_may_be_incomplete_and_does_not_count(store: Store) -> None:
    store.campaigns.create(Plan("pairs", "response-quality"))
    store.campaigns.add_documents("pairs", [dialogue("a")])
    (me,) = people(store, "avery")
    unit = reserve(store, me, "pairs")[0]
    assert save(store, unit, me, campaign="pairs", answers={}, submitted=False).revision == 1
    save(store, unit, me, campaign="pairs", answers={"soundness": 3}, submitted=False)
    assert store.judgments.of_unit("pairs", unit) == []
    mine = store.progress.of_campaign("pairs").people[0]
    assert (mine.submitted, mine.drafts, mine.held) == (0, 1, 3)
    assert store.judgments.get("pairs", unit, me).answers == {"soundness": 3}  # type: ignore[union-attr]


def test_a_draft_after_a_submitted_judgment_leaves_that_one_standing(store: Store) -> None:
    campaign(store)
    (me,) = people(store, "avery")
    unit = reserve(store, me)[0]
    save(store, unit, me, "O")
    save(store, unit, me, "X", submitted=False)
    assert [j.answers["breakdown"] for j in store.judgments.of_unit("chat", unit)] == ["O"]
    assert (store.progress.of_campaign("chat").done, store.progress.of_campaign("chat").people[0].drafts) == (
        1,
        1,
    )
    save(store, unit, me, "X")
    assert [(j.revision, j.answers["breakdown"]) for j in store.judgments.of_unit("chat", unit)] == [(3, "X")]
    assert (store.progress.of_campaign("chat").done, store.progress.of_campaign("chat").people[0].drafts) == (
        1,
        0,
    )


def test_broken_rules_are_told_in_the_readers_language_and_nothing_is_stored(store: Store) -> None:
    store.campaigns.create(Plan("types", "error-types"))
    store.campaigns.add_documents("types", [dialogue("a")])
    (me,) = people(store, "avery")
    unit = reserve(store, me, "types")[0]
    wrong = {"types": ("uninterpretable", "ignore-question")}
    with pytest.raises(RefusedError) as refused:
        save(store, unit, me, campaign="types", answers=wrong)
    assert refused.value.reason == "rules"
    assert "alone" in {rule.rule for rule in refused.value.broken}
    assert refused.value.messages("en") != refused.value.messages("ja")
    assert store.judgments.history("types", unit) == []
    assert save(store, unit, me, campaign="types", answers=wrong, submitted=False).revision == 1


@pytest.mark.parametrize("answers", [{"breakdown": 3}, {"nonsense": "O"}, {"breakdown": ("O",)}])
def test_answers_that_could_never_be_right_are_no_draft_either(
    store: Store, answers: dict[str, object]
) -> None:
    campaign(store)
    (me,) = people(store, "avery")
    unit = reserve(store, me)[0]
    with pytest.raises(RefusedError):
        save(store, unit, me, answers=answers, submitted=False)


def test_spans_come_back_as_they_were_given(store: Store) -> None:
    store.campaigns.create(Plan("pairs", "semantic-errors"))
    store.campaigns.add_documents("pairs", [pair("a", "Ida 👩‍🚀 was born in Orsk")])
    (me,) = people(store, "avery")
    unit = reserve(store, me, "pairs")[0]
    spans = (Span("text", 4, 7, "addition", "x"), Span("t1", 0, 8, "omission", "x"))
    save(store, unit, me, campaign="pairs", answers={"errors": spans})
    assert store.judgments.of_unit("pairs", unit)[0].answers == {"errors": spans}
    with pytest.raises(RefusedError) as refused:
        save(store, unit, me, campaign="pairs", answers={"errors": (Span("text", 0, 99, "addition"),)})
    assert [rule.rule for rule in refused.value.broken] == ["outside"]


def test_one_bad_save_does_not_spoil_its_neighbours(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign(store)
    me, other = people(store, "avery", "blake")
    units = reserve(store, me)
    together: list[int] = []
    gate, work = threading.Event(), store.saves._write_together

    def held_up(saves: list[Ready]) -> list[Saved | Exception]:
        gate.wait()
        together.append(len(saves))
        return work(saves)

    monkeypatch.setattr(store.saves._writer, "_work", held_up)
    first = store.saves.save_soon(request(units[0], me))
    futures = [
        store.saves.save_soon(one)
        for one in (
            request(units[1], me, key="a"),
            request(units[1], other, key="b"),
            request(units[2], me, key="a"),
            request(units[2], me, key="c"),
        )
    ]
    gate.set()
    problems = [future.exception() for future in (first, *futures)]
    reasons = [getattr(problem, "reason", None) for problem in problems]
    assert reasons == [None, None, "not-yours", "key-reused", None]
    assert max(together) >= 4
    assert [len(store.judgments.history("chat", unit)) for unit in units] == [1, 1, 1]


def test_a_batch_that_another_process_got_in_the_way_of_is_written_one_by_one(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign(store)
    (me,) = people(store, "avery")
    units = reserve(store, me)
    run, tries = SaveBatch.run, []

    def unlucky(self: SaveBatch, saves: list[Ready]) -> list[Saved | Exception]:
        outcomes = run(self, saves)
        tries.append(len(saves))
        if len(tries) < 3:
            raise IntegrityError("a race lost", None, Exception())
        return outcomes

    monkeypatch.setattr(SaveBatch, "run", unlucky)
    assert save(store, units[0], me).revision == 1
    assert tries == [1, 1, 1]
    assert len(store.judgments.history("chat", units[0])) == 1


def test_trouble_of_the_database_is_told_and_nothing_is_acknowledged(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign(store)
    (me,) = people(store, "avery")
    unit = reserve(store, me)[0]

    def full(*_: object) -> None:
        raise OperationalError("INSERT", None, Exception("database or disk is full"))

    with monkeypatch.context() as patched:
        patched.setattr(SaveBatch, "run", full)
        with pytest.raises(StoreError, match="disk is full"):
            save(store, unit, me, key="again")
    assert store.judgments.history("chat", unit) == []
    assert save(store, unit, me, key="again").revision == 1


def test_units_of_others_cannot_be_judged(store: Store) -> None:
    campaign(store)
    me, other = people(store, "avery", "blake")
    unit = reserve(store, me)[0]
    for person in (other, 999, -1, 2**70):
        with pytest.raises(RefusedError) as refused:
            save(store, unit, person)
        assert refused.value.reason == "not-yours"
    for number in (0, 999, 2**70, -5):
        with pytest.raises(RefusedError) as refused:
            save(store, number, me)
        assert refused.value.reason == "unknown-unit"


def test_whoever_is_shut_out_saves_nothing(store: Store) -> None:
    campaign(store)
    (me,) = people(store, "avery")
    unit = reserve(store, me)[0]
    store.people.set_disabled(me, True)
    with pytest.raises(RefusedError) as refused:
        save(store, unit, me)
    assert refused.value.reason == "disabled"


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), -1.0])
def test_times_that_are_none_are_refused(store: Store, seconds: float) -> None:
    campaign(store)
    (me,) = people(store, "avery")
    with pytest.raises(RefusedError, match="seconds"):
        save(store, reserve(store, me)[0], me, seconds=seconds)


@pytest.mark.parametrize("key", ["", " ", "a\0b", "x" * 101, "\ud800"])
def test_keys_that_cannot_be_kept_are_refused(store: Store, key: str) -> None:
    campaign(store)
    (me,) = people(store, "avery")
    with pytest.raises(InputError, match="a key"):
        save(store, reserve(store, me)[0], me, key=key)


def test_answers_of_any_text_come_back_unchanged(store: Store) -> None:
    campaign(store)
    (me,) = people(store, "avery")
    unit = reserve(store, me)[0]
    text = "'; DROP TABLE judgment; -- \0 </script> が 👨‍👩‍👧 \u202e"
    save(store, unit, me, answers={"breakdown": "O", "comment": text}, client="agent\0 \ud800")
    kept = store.judgments.get("chat", unit, me)
    assert kept is not None
    assert kept.answers["comment"] == text
    with pytest.raises(InputError, match="JSON"):
        save(store, unit, me, answers={"breakdown": "O", "comment": "\ud800"})


def test_a_closed_store_takes_no_more(url: str) -> None:
    store = open_store(url)
    campaign(store)
    (me,) = people(store, "avery")
    unit = reserve(store, me)[0]
    waiting = [store.saves.save_soon(request(unit, me, key=f"k{number}")) for number in range(20)]
    store.close()
    assert sorted(future.result().revision for future in waiting) == list(range(1, 21))
    with pytest.raises(UsageError, match="closed"):
        store.saves.save_soon(SaveRequest("k", "chat", unit, me, {"breakdown": "O"}))


def test_a_mark_over_a_whole_triple_is_kept_as_one_on_each_element(store: Store) -> None:
    store.campaigns.create(Plan(name="pairs", scheme="semantic-errors"))
    store.campaigns.add_documents("pairs", [pair("p1")])
    (me,) = people(store, "avery")
    (unit,) = reserve(store, me, "pairs")
    triple = pair("p1").segments[0]
    whole = (Span("t1", 0, len(triple.text), "omission"),)
    save(store, unit, me, campaign="pairs", answers={"errors": whole})
    (kept,) = store.judgments.history("pairs", unit)
    assert kept.answers["errors"] == tuple(
        Span("t1", element.start, element.end, "omission") for element in triple.elements()
    )


def test_what_is_taken_back_counts_nowhere_until_it_is_submitted_anew(store: Store) -> None:
    campaign(store, documents=1, per_unit=1)
    (avery,) = people(store, "avery")
    first, *_ = reserve(store, avery)
    save(store, first, avery, "X")
    assert store.progress.of_campaign("chat").complete == 1
    key = {"key": "undo", "submitted": False, "withdrawn": True}
    taken_back = save(store, first, avery, "X", **key)
    # Sent twice, it is taken back once.
    assert save(store, first, avery, "X", **key) == taken_back
    progress = store.progress.of_campaign("chat")
    assert (progress.done, progress.complete) == (0, 0)
    assert [(one.submitted, one.drafts) for one in progress.people] == [(0, 1)]
    assert store.judgments.of_unit("chat", first) == []
    assert [one.judgments for one in store.exports.export("chat") if one.judgments] == []
    assert first in reserve(store, avery)
    save(store, first, avery, "O")
    assert [one.answers for one in store.judgments.of_unit("chat", first)] == [{"breakdown": "O"}]
    assert store.progress.of_campaign("chat").complete == 1
