"""From talks to a board without a file in between; the bot; and what a system may be."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lapsus.annotators import make_annotator, training_data
from lapsus.challenge.service import challenge_board, create_from_campaign, run_here
from lapsus.collect.asking import rehearse
from lapsus.collect.systems import Bot, TalkSoFar, check_systems, make_system
from lapsus.errors import UsageError
from lapsus.store import Chain, Nothing, Plan, SaveRequest, Store, open_store
from lapsus.store.challenge_records import ChallengePlan
from lapsus.store.collect_plan import Collect, System
from lapsus.store.talk_records import Talk


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.sqlite") as opened:
        yield opened


def judge_all(store: Store, person: int) -> int:
    """Somebody judges whatever there is to judge; how many units."""
    judged = 0
    while not isinstance(given := store.assignment.next_units(person, "judged"), Nothing):
        for unit in given.units:
            label = "OTX"[(unit.number + person) % 3]
            key = f"{person}-{unit.number}"
            store.saves.save(SaveRequest(key, "judged", unit.number, person, {"breakdown": label}))
            judged += 1
    return judged


@pytest.mark.parametrize("language", ["en", "ja"])
def test_from_talks_to_a_board(store: Store, language: str) -> None:
    collect = Collect(("bot",), language=language, exchanges=3)
    store.campaigns.set_up(Plan(name="talk", scheme="breakdown", collect=collect))
    store.campaigns.set_up(Plan(name="judged", scheme="breakdown", per_unit=2, chain=Chain("talk")))
    store.campaigns.set_up(Plan(name="typed", scheme="error-types", chain=Chain("judged")))
    talks = list(rehearse(store, "talk", 4))
    assert [len(talk.turns) for talk in talks] == [7] * 4
    people = [store.people.add(name).id for name in ("ann", "ben")]
    assert [judge_all(store, person) for person in people] == [16, 16]
    assert store.progress.of_campaign("typed").units > 0
    challenge = create_from_campaign(store, ChallengePlan("bots"), "judged")
    documents, votes = training_data(list(store.exports.export("judged")))
    run_here(store, "bots", make_annotator("prior", {}).fit(documents, votes), language=language)
    board = challenge_board(store, challenge, language=language)
    assert len(board.rows) == 1


def test_a_draft_is_rehearsed_before_it_is_opened(store: Store) -> None:
    collect = Collect(("bot",), exchanges=3)
    store.campaigns.set_up(Plan(name="talk", scheme="breakdown", who="named", collect=collect), draft=True)
    assert [talk.state for talk in rehearse(store, "talk", 2)] == ["done", "done"]
    assert store.campaigns.get("talk").state == "draft"
    ann = store.people.add("ann").id
    store.campaigns.add_people("talk", ["ann"])
    assert store.talks.begin("talk", ann) == Nothing("draft")
    store.campaigns.set_state("talk", "open")
    assert isinstance(store.talks.begin("talk", ann), Talk)


def test_where_nobody_talks_now_nothing_is_rehearsed_and_no_account_made(store: Store) -> None:
    store.campaigns.set_up(Plan(name="talk", scheme="breakdown", collect=Collect(("bot",))))
    store.campaigns.set_state("talk", "paused")
    with pytest.raises(UsageError, match="paused or closed") as error:
        list(rehearse(store, "talk", 1))
    assert "lapsus campaign open talk" in str(error.value)
    assert store.people.all() == []


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_bot_says_the_same_to_the_same_and_seldom_repeats_itself(language: str) -> None:
    said: list[dict[str, str]] = []
    for _ in range(8):
        talk = TalkSoFar("t-1", language, tuple(said))
        reply = Bot().reply(talk)
        assert reply == Bot().reply(talk)
        said += [{"role": "assistant", "content": reply.text}, {"role": "user", "content": "?"}]
    texts = [message["content"] for message in said if message["role"] == "assistant"]
    assert len(set(texts)) >= 6


@pytest.mark.parametrize(
    ("use", "what"),
    [
        ("nobody", "no system is called 'nobody'"),
        ("rasa:http://127.0.0.1:9", "cannot open a talk by itself"),
        ("openai:m", "which server"),
    ],
)
def test_systems_that_cannot_be_asked_are_named_at_once(use: str, what: str) -> None:
    with pytest.raises(UsageError, match=what):
        check_systems(Collect((use,)))


@pytest.mark.parametrize(
    "system",
    [
        System("openai:m", endpoint="http://models.example/v1", key_env="OWN_KEY"),
        System("http://bots.example/reply", key_env="OWN_KEY"),
    ],
)
def test_a_key_never_goes_over_plain_http_to_another_machine(
    system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OWN_KEY", "secret")
    with pytest.raises(UsageError, match="unencrypted"):
        make_system(system)
