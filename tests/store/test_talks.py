"""Talks in the store: whole, in order, once; and the documents and votes that come of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from lapsus.formats import FORMATS, read
from lapsus.language.masking import masked
from lapsus.store import Chain, Nothing, Plan, RefusedError, SaveRequest, Store
from lapsus.store.collect_plan import Collect, System
from lapsus.store.talk_records import Reply, Talk, TurnRequest
from tests.store.helpers import Clock

WHOLE = """
scheme: whole
version: "1"
title: {en: The whole talk}
summary: {en: You look back at a talk.}
unit: {role: document, context: all}
questions:
  - {id: why, kind: text, name: {en: Why}, ask: {en: What was wrong?}}
"""


def collecting(store: Store, name: str = "talk", **more: object) -> None:
    plan = {key: more.pop(key) for key in ("per_person", "minutes") if key in more}
    more.setdefault("systems", ("bot",))
    store.campaigns.set_up(Plan(name=name, scheme="breakdown", collect=Collect(**more), **plan))  # type: ignore[arg-type]


def begun(store: Store, person: int, name: str = "talk") -> Talk:
    found = store.talks.begin(name, person)
    assert isinstance(found, Talk)
    return found


def said(
    talk: Talk, position: int, text: str = "yes", person: int | None = None, key: str = ""
) -> TurnRequest:
    who = talk.person if person is None else person
    return TurnRequest(key or f"{talk.id}-{position}-{text}", talk.id, who, position, text)


def talked(store: Store, talk: Talk) -> Talk:
    """The whole talk, with a system that says where it is."""
    for position in range(len(talk.turns), talk.collect.length):
        if talk.collect.side_at(position) == "user":
            store.talks.say(said(talk, position)).result()
        else:
            assert store.talks.replied(talk.id, position, Reply(f"reply {position}", 0.5, 10, 20)).result()
    return store.talks.get(talk.id)


def test_a_whole_talk_has_twenty_one_turns_and_becomes_a_document(store: Store) -> None:
    collecting(store)
    ann = store.people.add("ann").id
    talk = talked(store, begun(store, ann))
    assert talk.state == "done"
    assert [turn.side for turn in talk.turns] == ["system"] + ["user", "system"] * 10
    (entry,) = store.exports.export("talk")
    assert entry.document is not None
    assert [segment.role for segment in entry.document.segments] == [turn.side for turn in talk.turns]
    assert entry.document.system == "bot"
    with pytest.raises(RefusedError, match="said there already"):
        store.talks.say(said(talk, 21, "more")).result()


def test_the_challenges_file_is_read_by_its_reader(store: Store, tmp_path: Path) -> None:
    collecting(store)
    talked(store, begun(store, store.people.add("ann").id))
    target = tmp_path / "corpus"
    FORMATS.get("dbdc")().write(store.exports.export("talk"), target)
    (entry,) = read(target, "dbdc")
    assert entry.document is not None
    assert [segment.id for segment in entry.document.segments] == [str(place) for place in range(21)]
    assert entry.document.segments[0].role == "system"


def test_a_turn_sent_twice_is_kept_once(store: Store) -> None:
    collecting(store, opens="user")
    talk = begun(store, store.people.add("ann").id)
    first = store.talks.say(said(talk, 0, "hello", key="k")).result()
    assert store.talks.say(said(talk, 0, "hello", key="k")).result() == first
    with pytest.raises(RefusedError, match="key"):
        store.talks.say(said(talk, 0, "other words", key="k")).result()
    with pytest.raises(RefusedError, match="already"):
        store.talks.say(said(talk, 0, "from another tab", key="l")).result()
    assert [turn.text for turn in store.talks.get(talk.id).turns] == ["hello"]


def test_a_reply_that_comes_twice_is_kept_once_and_late_ones_are_dropped(store: Store) -> None:
    collecting(store)
    talk = begun(store, store.people.add("ann").id)
    assert store.talks.replied(talk.id, 0, Reply("first")).result()
    assert not store.talks.replied(talk.id, 0, Reply("second")).result()
    assert [turn.text for turn in store.talks.get(talk.id).turns] == ["first"]


def test_nobody_speaks_for_others_or_out_of_turn(store: Store) -> None:
    collecting(store)
    ann, ben = (store.people.add(name).id for name in ("ann", "ben"))
    talk = begun(store, ann)
    with pytest.raises(RefusedError, match="not your turn"):
        store.talks.say(said(talk, 0)).result()
    store.talks.replied(talk.id, 0, Reply("hello")).result()
    with pytest.raises(RefusedError, match="not yours"):
        store.talks.say(said(talk, 1, person=ben)).result()
    with pytest.raises(RefusedError, match="not yours"):
        store.talks.of(talk.id, "talk", ben)


def test_systems_and_topics_are_given_equally_often(store: Store) -> None:
    topics = ({"en": "food"}, {"en": "travel"})
    collecting(store, systems=("bot", System("bot", "other")), topics=topics)
    talks = [begun(store, store.people.add(f"p{place}").id) for place in range(8)]
    assert sorted(talk.system for talk in talks) == ["bot"] * 4 + ["other"] * 4
    assert sorted(str(talk.topic) for talk in talks) == ["0"] * 4 + ["1"] * 4


def test_how_many_talks(store: Store) -> None:
    collecting(store, dialogues=2, per_person=1, exchanges=1)
    ann, ben, cem = (store.people.add(name).id for name in ("ann", "ben", "cem"))
    assert begun(store, ann).id == begun(store, ann).id, "the one that is open"
    talked(store, begun(store, ann))
    assert store.talks.begin("talk", ann) == Nothing("done")
    open_one = begun(store, ben)
    assert store.talks.begin("talk", cem) == Nothing("wait")
    talked(store, open_one)
    assert store.talks.begin("talk", cem) == Nothing("done")


def test_two_people_talk_and_one_wears_the_systems_mask(store: Store) -> None:
    collecting(store, systems=(System("person", "wizard", people=("wiz",)),), exchanges=1)
    ann, wiz = (store.people.add(name).id for name in ("ann", "wiz"))
    assert store.talks.begin("talk", wiz) == Nothing("wait")
    assert begun(store, ann).state == "waiting"
    talk = begun(store, wiz)
    assert (talk.person, talk.partner, talk.state) == (ann, wiz, "open")
    assert store.talks.claim(talk.id, "server") is None, "no program replies"
    for position, who in enumerate((wiz, ann, wiz)):
        store.talks.say(said(talk, position, f"turn {position}", who)).result()
    assert store.talks.get(talk.id).state == "done"


def test_who_waits_is_joined_only_while_there(store: Store, clock: Clock) -> None:
    collecting(store, systems=("person",), exchanges=1)
    ann, ben = (store.people.add(name).id for name in ("ann", "ben"))
    left = begun(store, ann)
    clock.forward(hours=2)
    waiting = begun(store, ben)
    assert (waiting.state, waiting.person) == ("waiting", ben), "nobody talks to somebody who is gone"
    clock.forward(seconds=60)
    assert begun(store, ben).id == waiting.id
    clock.forward(seconds=60)
    joined = begun(store, ann)
    assert (joined.id, joined.state, joined.partner) == (waiting.id, "open", ann)
    with pytest.raises(RefusedError, match="no talk"):
        store.talks.get(left.id)


def test_whom_the_other_side_has_left_may_begin_again(store: Store, clock: Clock) -> None:
    collecting(store, systems=("person",), minutes=30)
    ann, ben = (store.people.add(name).id for name in ("ann", "ben"))
    begun(store, ann)
    left = begun(store, ben)
    store.talks.say(said(left, 0, "hello", ben)).result()
    assert begun(store, ann).id == left.id
    clock.forward(minutes=31)
    assert begun(store, ben).state == "waiting"
    assert begun(store, ann).partner == ann


def test_a_system_that_fails_is_asked_again_and_nothing_is_lost(store: Store) -> None:
    collecting(store, opens="user")
    talk = begun(store, store.people.add("ann").id)
    store.talks.say(said(talk, 0, "hello")).result()
    assert store.talks.claim(talk.id, "one") is not None
    assert store.talks.claim(talk.id, "two") is None, "held"
    store.talks.failed(talk.id, 1)
    found = store.talks.get(talk.id)
    assert (found.failures, [turn.text for turn in found.turns]) == (1, ["hello"])
    assert store.talks.claim(talk.id, "two") is None, "a moment later"
    store.talks.replied(talk.id, 1, Reply("here I am")).result()
    assert store.talks.get(talk.id).failures == 0
    (figures,) = store.talk_figures.of_campaign("talk")
    assert (figures.failed, figures.open) == (1, 1)


def test_a_clock_that_is_set_back_lets_no_talk_wait_for_it(store: Store, clock: Clock) -> None:
    collecting(store, opens="user")
    talk = begun(store, store.people.add("ann").id)
    store.talks.say(said(talk, 0, "hello")).result()
    clock.forward(days=365)
    store.talks.failed(talk.id, 1)
    assert store.talks.claim(talk.id, "one") is None, "a moment later"
    clock.forward(days=-365)
    assert store.talks.claim(talk.id, "one") is not None


def test_addresses_and_numbers_are_masked_before_they_are_kept(store: Store) -> None:
    collecting(store, opens="user", mask=("email", "number"))
    talk = begun(store, store.people.add("ann").id)
    kept = store.talks.say(said(talk, 0, "ann@mail.example, +81 3-1234-5678, in 2024 for 1,500")).result()
    assert kept.text == "[email], [number], in 2024 for 1,500"
    assert store.talks.get(talk.id).turns[0].text == kept.text


def test_every_dash_that_keyboards_write_is_masked() -> None:
    for dash in ("-", "－", "ー", "\u2212", "\u2010", " "):
        number = dash.join(("090", "1234", "5678"))
        assert masked(f"call {number} now", ("number",)) == "call [number] now", number


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("on 2026/11/19 10:30", "on 2026/11/19 10:30"),
        ("12 19/11/2026 or 2025/2026", "12 19/11/2026 or 2025/2026"),
        ("11/19〜11/23 10-12時、２０２６／１１／２４", "11/19〜11/23 10-12時、２０２６／１１／２４"),
        ("090-1234-5678 2026/11/19 0221/123456", "[number] 2026/11/19 [number]"),
        ("030/1234567, +81 90/1234-5678", "[number], [number]"),
        ("01/23/45/67/89, 01/23 45 67 89", "[number], [number]"),
    ],
)
def test_a_slash_joins_the_digits_of_a_telephone_and_leaves_dates(said: str, kept: str) -> None:
    assert masked(said, ("number",)) == kept


def test_what_people_say_at_the_end_is_masked_too(store: Store, tmp_path: Path) -> None:
    (tmp_path / "whole.yaml").write_text(WHOLE)
    plan = Plan(
        name="talk",
        scheme=str(tmp_path / "whole.yaml"),
        collect=Collect(("bot",), exchanges=1, ask=True, mask=("email",)),
    )
    store.campaigns.set_up(plan)
    ann = store.people.add("ann").id
    talked(store, begun(store, ann))
    talk = store.talks.last("talk", ann)
    assert talk is not None
    store.talks.answer(talk.id, ann, "a", "", {"why": "I am ann@mail.example"}).result()
    assert store.talks.get(talk.id).answers[""] == {"why": "I am [email]"}


def test_own_judgments_follow_the_rules_and_come_with_the_document(store: Store) -> None:
    collecting(store, ask=True, exchanges=1)
    ann = store.people.add("ann").id
    talk = begun(store, ann)
    store.talks.replied(talk.id, 0, Reply("hello")).result()
    with pytest.raises(RefusedError, match="rules"):
        store.talks.answer(talk.id, ann, "a", "0", {"breakdown": "perhaps"}).result()
    with pytest.raises(RefusedError, match="nothing to judge"):
        store.talks.answer(talk.id, ann, "a", "1", {"breakdown": "O"}).result()
    assert store.talks.answer(talk.id, ann, "a", "0", {"breakdown": "T"}).result() == 1
    assert store.talks.answer(talk.id, ann, "a", "0", {"breakdown": "T"}).result() == 1, "the same key"
    assert store.talks.answer(talk.id, ann, "b", "0", {"breakdown": "X"}).result() == 2
    talked(store, store.talks.get(talk.id))
    store.talks.answer(talk.id, ann, "c", "2", {"breakdown": "O"}).result()
    (entry,) = store.exports.export("talk")
    assert {(one.segment, one.answers["breakdown"]) for one in entry.judgments} == {("0", "X"), ("2", "O")}


def test_a_talk_may_be_ended_when_it_is_long_enough(store: Store) -> None:
    collecting(store, exchanges=3, least_exchanges=1)
    ann = store.people.add("ann").id
    talk = begun(store, ann)
    store.talks.replied(talk.id, 0, Reply("hello")).result()
    with pytest.raises(RefusedError, match="too short"):
        store.talks.end(talk.id, ann)
    store.talks.say(said(talk, 1)).result()
    store.talks.replied(talk.id, 2, Reply("well")).result()
    assert store.talks.end(talk.id, ann).state == "done"
    (entry,) = store.exports.export("talk")
    assert entry.document is not None
    assert len(entry.document.segments) == 3


def test_collect_judge_and_type_are_one_chain(store: Store) -> None:
    collecting(store, exchanges=1)
    store.campaigns.set_up(Plan(name="judged", scheme="breakdown", chain=Chain("talk")))
    store.campaigns.set_up(Plan(name="typed", scheme="error-types", chain=Chain("judged")))
    ann = store.people.add("ann").id
    talked(store, begun(store, ann))
    assert [store.progress.of_campaign(name).units for name in ("talk", "judged", "typed")] == [0, 2, 0]
    given = store.assignment.next_units(ann, "judged")
    assert not isinstance(given, Nothing)
    for unit in given.units:
        store.saves.save(SaveRequest(f"s{unit.number}", "judged", unit.number, ann, {"breakdown": "X"}))
    assert store.progress.of_campaign("typed").units == 2
    assert store.assignment.next_units(ann, "talk") == Nothing("done")
