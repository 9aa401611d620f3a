"""Challenges in the store: test sets that stay, teams known by a secret, runs that are counted."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from sqlalchemy import select

from lapsus.errors import InputError, InvalidError, UsageError
from lapsus.store import RefusedError, Store, open_store, restore
from lapsus.store import tables as t
from lapsus.store.challenge_records import ChallengePlan, GoldDocument, NewRun
from tests.store.helpers import Clock, dialogue


def gold(name: str, language: str = "en") -> GoldDocument:
    return GoldDocument(dialogue(name), language, {"0": (3, 1, 0), "4": (0, 1, 3)})


def challenge(store: Store, name: str = "c", **plan: object) -> int:
    made = ChallengePlan(name, **plan)  # type: ignore[arg-type]
    return store.challenges.create(made, [gold("d0"), gold("d1")], floors='{"en":{}}').id


def new_run(digest: str, language: str = "en", name: str | None = None) -> NewRun:
    return NewRun(language, digest, '{"labels":"OO"}', "[[1.0]]", '{"all":1}', name)


def test_a_test_set_is_kept_as_it_was(store: Store) -> None:
    id = challenge(store, title={"en": "A try", "ja": "試し"}, threshold=0.5)
    found = store.challenges.get("c")
    assert found == store.challenges.all()[0]
    assert (found.state, found.plan.threshold, found.plan.titles["ja"]) == ("open", 0.5, "試し")
    assert store.challenges.gold(id) == [gold("d0"), gold("d1")]


def test_a_name_stands_for_one_challenge(store: Store) -> None:
    challenge(store)
    with pytest.raises(InputError, match="there is a challenge 'c' already"):
        challenge(store)
    with pytest.raises(UsageError, match=r"no challenge is called 'd'.*known: c"):
        store.challenges.get("d")
    with pytest.raises(UsageError, match="no challenge"):
        store.challenges.get("\0")


def test_a_challenge_needs_votes_and_a_sound_plan(store: Store) -> None:
    with pytest.raises(InputError, match="nobody judged"):
        store.challenges.create(ChallengePlan("c"), [GoldDocument(dialogue("d"), "en", {})])
    assert store.challenges.all() == []
    for wrong in ({"threshold": 1.5}, {"runs": 0}, {"title": {"en": "x" * 300}}):
        with pytest.raises(InvalidError):
            ChallengePlan("c", **wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidError, match="short name"):
        ChallengePlan("../c")


def test_two_dialogues_of_one_name_are_not_taken(store: Store) -> None:
    with pytest.raises(InputError, match="document 'd0': comes twice"):
        store.challenges.create(ChallengePlan("c"), [gold("d0"), gold("d0")])
    assert store.challenges.all() == []


def test_a_teams_secret_is_kept_as_a_hash_and_can_be_renewed(store: Store) -> None:
    challenge(store)
    challenge(store, "other")
    old = store.challenges.add_team("c", " Kite ")
    with store.database.reading() as conn:
        assert old not in str(conn.execute(select(t.challenge_team)).all())
    team = store.challenges.team_of_token("c", old)
    assert team is not None
    assert (team.name, store.challenges.team_of_token("other", old)) == ("Kite", None)
    new = store.challenges.add_team("c", "Kite")
    assert store.challenges.team_of_token("c", old) is None
    assert store.challenges.team_of_token("c", new) == team
    assert [one.name for one in store.challenges.teams("c")] == ["Kite"]
    for wrong in ("", "\0", "\ud800", old + "x"):
        assert store.challenges.team_of_token("c", wrong) is None


@pytest.mark.parametrize("name", ["", " ", "x" * 61, "a\nb", "Organisers"])
def test_names_that_no_team_may_have(store: Store, name: str) -> None:
    challenge(store)
    with pytest.raises(InputError):
        store.challenges.add_team("c", name)


def test_a_team_hands_in_so_many_runs_for_each_language(store: Store) -> None:
    challenge(store, runs=2)
    store.challenges.add_team("c", "Kite")
    team = store.challenges.team_named("c", "Kite").id
    assert [store.challenges.add_run("c", new_run(str(n)), team=team).name for n in range(2)] == [
        "run1",
        "run2",
    ]
    with pytest.raises(RefusedError, match="2 runs for 'en'") as error:
        store.challenges.add_run("c", new_run("2"), team=team)
    assert error.value.reason == "too-many-runs"
    assert store.challenges.add_run("c", new_run("2", "ja"), team=team).number == 1
    # Organisers may add as many baselines as they like.
    assert [store.challenges.add_run("c", new_run(str(n))).number for n in range(4)] == [1, 2, 3, 4]
    assert len(store.challenges.runs("c")) == 7


def test_the_same_answers_do_not_count_twice(store: Store) -> None:
    challenge(store)
    store.challenges.add_team("c", "Kite")
    store.challenges.add_team("c", "Wren")
    kite, wren = (team.id for team in store.challenges.teams("c"))
    store.challenges.add_run("c", new_run("same", name="first"), team=kite)
    with pytest.raises(RefusedError, match="same answers as 'first'"):
        store.challenges.add_run("c", new_run("same"), team=kite)
    with pytest.raises(RefusedError, match="a run 'first' already"):
        store.challenges.add_run("c", new_run("other", name=" first "), team=kite)
    store.challenges.add_run("c", new_run("same"), team=wren)
    with pytest.raises(InputError, match="a run's name"):
        store.challenges.add_run("c", new_run("more", name="a\x1bb"), team=kite)


def test_many_at_once_do_not_get_more_than_there_are(store: Store) -> None:
    challenge(store, runs=3)
    store.challenges.add_team("c", "Kite")
    team = store.challenges.team_named("c", "Kite").id
    kept, refused = [], []

    def hand_in(number: int) -> None:
        try:
            kept.append(store.challenges.add_run("c", new_run(str(number)), team=team).number)
        except RefusedError as error:
            refused.append(error.reason)

    threads = [threading.Thread(target=hand_in, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(kept) == [1, 2, 3]
    assert refused == ["too-many-runs"] * 5


def test_frozen_takes_no_runs_of_teams_and_revealed_is_for_good(store: Store) -> None:
    challenge(store)
    store.challenges.add_team("c", "Kite")
    team = store.challenges.team_named("c", "Kite").id
    store.challenges.set_state("c", "frozen")
    with pytest.raises(RefusedError, match="no more runs") as error:
        store.challenges.add_run("c", new_run("1"), team=team)
    assert error.value.reason == "challenge-frozen"
    store.challenges.add_run("c", new_run("1"))
    store.challenges.set_state("c", "open")
    store.challenges.add_run("c", new_run("1"), team=team)
    store.challenges.set_state("c", "revealed")
    store.challenges.set_state("c", "revealed")
    with pytest.raises(RefusedError, match="stays seen"):
        store.challenges.set_state("c", "open")
    with pytest.raises(UsageError, match="no state is called 'shut'"):
        store.challenges.set_state("c", "shut")  # type: ignore[arg-type]


def test_a_run_is_found_in_its_own_challenge_only(store: Store) -> None:
    challenge(store)
    challenge(store, "other")
    run = store.challenges.add_run("c", new_run("1"))
    assert (store.challenges.runs("c"), store.challenges.runs("other")) == ([run], [])
    assert (run.team, store.challenges.run_answers(run.id), store.challenges.run_sums([run.id])) == (
        None,
        '{"labels":"OO"}',
        {run.id: "[[1.0]]"},
    )


def test_comparisons_are_kept_once(store: Store) -> None:
    id = challenge(store)
    first, second = (store.challenges.add_run("c", new_run(str(n))).id for n in range(2))
    store.challenges.keep_pairs(id, {(first, second): "[0.5]"})
    store.challenges.keep_pairs(id, {(first, second): "[0.5]"})
    store.challenges.keep_pairs(id, {})
    assert store.challenges.run_pairs(id) == {(first, second): "[0.5]"}


def test_a_backup_brings_a_challenge_to_another_database(
    store: Store, other_url: str, tmp_path: Path, clock: Clock
) -> None:
    id = challenge(store)
    token = store.challenges.add_team("c", "Kite")
    team = store.challenges.team_named("c", "Kite")
    runs = [store.challenges.add_run("c", new_run(str(n)), team=team.id) for n in range(2)]
    store.challenges.keep_pairs(id, {(runs[0].id, runs[1].id): "[0.5]"})
    store.backups.backup(tmp_path / "all.zip")
    restore(tmp_path / "all.zip", other_url)
    with open_store(other_url, clock=clock) as other:
        assert other.challenges.get("c") == store.challenges.get("c")
        assert other.challenges.gold(id) == store.challenges.gold(id)
        assert other.challenges.runs("c") == runs
        assert other.challenges.team_of_token("c", token) == team
        assert other.challenges.run_pairs(id) == store.challenges.run_pairs(id)
        # Numbers go on where they were.
        assert other.challenges.add_run("c", new_run("more"), team=team.id).id > runs[1].id
        other.challenges.add_team("c", "Wren")
