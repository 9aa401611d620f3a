"""Running a campaign: stages, practice, checks, consent, messages, people from platforms, programs."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from lapsus.errors import InputError, UsageError
from lapsus.model import Entry, Judgment
from lapsus.store import (
    Chain,
    Checks,
    KnownUnit,
    KnownUnits,
    Nothing,
    Pilot,
    Plan,
    RefusedError,
    Reservation,
    Store,
)
from lapsus.store.arrivals import PLACEHOLDERS, PlatformArrival, arrival_in
from tests.store.helpers import Clock, campaign, dialogue, judge_all, people, request, reserve, save


def known(document: str, segment: str = "0", answer: str = "O", **more: Any) -> KnownUnit:
    return KnownUnit(document, {"breakdown": answer}, segment, **more)


def set_up(store: Store, documents: int = 6, turns: int = 1, **plan: Any) -> str:
    made, _ = store.campaigns.set_up(
        Plan(**({"name": "chat", "scheme": "breakdown", "order": "given"} | plan)),
        [dialogue(f"d{number}", turns) for number in range(documents)],
    )
    return made.name


def documents_of(store: Store, person: int) -> list[str]:
    """The documents that a person is given, one after the other, all judged with O."""
    found = []
    while isinstance(given := store.assignment.next_units(person, "chat"), Reservation):
        found.append(given.units[0].document)
        for unit in given.units:
            save(store, unit.number, person)
    return found


def test_all_or_nothing(store: Store) -> None:
    def broken() -> Any:
        yield dialogue("d0")
        raise InputError("the file ends here")

    with pytest.raises(InputError, match="ends here"):
        store.campaigns.set_up(Plan("chat", "breakdown"), broken())
    with pytest.raises(InputError, match="no documents"):
        store.campaigns.set_up(Plan("chat", "breakdown"))
    with pytest.raises(InputError, match="training names a unit that is not there"):
        set_up(store, training=KnownUnits((known("d9"),)))
    with pytest.raises(InputError, match=r"segment '0'.*breaks a rule"):
        set_up(store, training=KnownUnits((known("d0", answer="maybe"),)))
    with pytest.raises(InputError, match="known twice"):
        set_up(store, training=KnownUnits((known("d0"),)), gold=KnownUnits((known("d0", answer="X"),)))
    assert store.campaigns.all() == []
    set_up(store)


def test_the_pilot_comes_first_and_the_rest_when_it_is_opened(store: Store) -> None:
    set_up(store, documents=5, per_unit=1, pilot=Pilot(2, 2))
    avery, blake, casey = people(store, "avery", "blake", "casey")
    assert store.campaigns.get("chat").stage == "pilot"
    assert (store.progress.of_campaign("chat").units, store.progress.of_campaign("chat").wanted) == (2, 4)
    assert documents_of(store, avery) == ["d0", "d1"]
    assert store.assignment.next_units(avery, "chat") == Nothing("done")
    assert documents_of(store, blake) == ["d0", "d1"]
    assert store.assignment.next_units(casey, "chat") == Nothing("done")
    progress = store.progress.of_campaign("chat")
    assert (progress.complete, progress.done) == (2, 4)
    assert store.campaigns.open_main("chat") == 3
    with pytest.raises(UsageError, match="not in its pilot"):
        store.campaigns.open_main("chat")
    assert documents_of(store, casey) == ["d2", "d3", "d4"]
    progress = store.progress.of_campaign("chat")
    assert (progress.units, progress.wanted, progress.done, progress.complete) == (5, 7, 7, 5)
    assert store.campaigns.get("chat").stage == "main"


def test_documents_that_come_later_go_to_their_stage(store: Store) -> None:
    set_up(store, documents=1, pilot=Pilot(2))
    store.campaigns.add_documents("chat", [dialogue("late", 1), dialogue("later", 1)])
    assert store.progress.of_campaign("chat").units == 2
    store.campaigns.open_main("chat")
    store.campaigns.add_documents("chat", [dialogue("last", 1)])
    assert store.progress.of_campaign("chat").units == 4


def test_nobody_works_ahead_in_a_practice(store: Store) -> None:
    set_up(store, training=KnownUnits((known("d0"), known("d1"))))
    (avery,) = people(store, "avery")
    given = store.assignment.next_units(avery, "chat", ahead=True)
    assert isinstance(given, Reservation)
    assert [unit.document for unit in given.units] == ["d0"]


def test_everybody_practises_first_and_is_told(store: Store) -> None:
    words = {"en": "It goes on.", "ja": "続けられます。"}
    set_up(store, documents=4, turns=2, training=KnownUnits((known("d2", "2", "X", feedback=words),)))
    avery, blake = people(store, "avery", "blake")
    assert store.progress.of_campaign("chat").units == 6
    for person in (avery, blake):
        first, second = reserve(store, person)
        assert store.units.get("chat", first).document == "d2"
        assert store.units.part_of("chat", first) == "training"
        save(store, first, person)
        assert store.members.feedback("chat", second, person) is None
        save(store, second, person, "X" if person == avery else "O")
        told = store.members.feedback("chat", second, person)
        assert told is not None
        assert (told.right, told.answers, told.text) == (person == avery, ({"breakdown": "X"},), words)
    assert store.progress.of_campaign("chat").done == 0
    save(store, second, blake, "X")
    assert store.members.feedback("chat", second, blake).right is False  # type: ignore[union-attr]
    assert documents_of(store, avery)
    progress = store.progress.of_campaign("chat")
    assert (progress.units, progress.done, progress.complete) == (6, 6, 6)
    checks = {who.name: (who.passed, who.failed) for who in store.members.all("chat")}
    assert checks == {"avery": (1, 0), "blake": (0, 1)}


def test_checks_come_among_the_others_for_everybody(store: Store) -> None:
    checks = Checks((known("d0"), known("d1")), every=2)
    set_up(store, documents=7, per_unit=2, checks=checks)
    avery, blake = people(store, "avery", "blake")
    assert documents_of(store, avery) == ["d2", "d3", "d0", "d4", "d5", "d1", "d6"]
    assert documents_of(store, blake) == ["d2", "d3", "d0", "d4", "d5", "d1", "d6"]
    assert store.progress.of_campaign("chat").complete == 5


@pytest.mark.parametrize(
    ("batch", "every", "order"),
    [(1, 1, "random"), (3, 1, "given"), (1, 2, "given"), (3, 2, "random"), (1, 4, "random"), (3, 4, "given")],
)
def test_nothing_that_is_counted_tells_a_check_from_other_documents(
    store: Store, batch: int, every: int, order: Any
) -> None:
    """Counters go on by one with every answer, the total stands still and is reached, and no batch is a check's own."""
    checks = {f"d{number}" for number in (1, 4, 7)}
    units = tuple(known(name) for name in sorted(checks))
    plan = {"checks": Checks(units, every=every), "training": KnownUnits((known("d0"),), allow=9)}
    set_up(store, documents=11, turns=2, batch=batch, order=order, seed=5, **plan)
    (me,) = people(store, "avery")
    total, told, alone = store.progress.own_total("chat", me), 0, 0
    while given := reserve(store, me):
        names = {store.units.get("chat", unit).document for unit in given}
        alone += names <= checks
        for unit in given:
            before = store.progress.own("chat", me, unit)
            assert (before.done, before.total) == (told, total)
            assert before.done <= before.own <= total
            save(store, unit, me)
            told += store.units.get("chat", unit).document != "d0"
            mine = store.progress.of_person("chat", me)
            assert mine is not None
            assert mine.submitted == told
    assert told == total == 2 * (7 + min(3, 7 // every))
    assert batch == 1 or alone <= 1, "the very last batch may hold what is left"


def test_a_check_among_units_with_votes_has_its_own(store: Store) -> None:
    """Where people see the votes that chose a unit, a check comes only once it has all of its votes."""
    campaign(store, documents=3, turns=1, name="votes", order="given")
    chained = Plan(
        "chat", "error-types", chain=Chain("votes"), show_votes=True, order="given",
        checks=Checks((KnownUnit("d2", {"types": ("wrong-information",)}, "0"),), every=1),
    )  # fmt: skip
    store.campaigns.create(chained)
    avery, blake = people(store, "avery", "blake")
    for _ in range(2):
        save(store, *reserve(store, avery, "votes"), avery, "X", campaign="votes")

    def judged() -> str:
        (unit,) = reserve(store, blake)
        save(store, unit, blake, answers={"types": ("wrong-information",)})
        assert store.units.votes("chat", unit) == {"X": 1}
        return store.units.get("chat", unit).document

    assert [judged(), judged(), reserve(store, blake)] == ["d0", "d1", []]
    save(store, *reserve(store, avery, "votes"), avery, "X", campaign="votes")
    assert judged() == "d2"


def test_what_is_written_freely_is_not_compared(store: Store) -> None:
    """A manager's comment on the right answer, or one in a file of judgments, must not stop everybody."""
    unit = KnownUnit("d0", {"breakdown": "X", "comment": "it ignores the question"}, "0")
    set_up(store, documents=2, training=KnownUnits((unit,), then="stop"))
    avery, blake = people(store, "avery", "blake")
    save(store, reserve(store, avery)[0], avery, "X")
    assert store.assignment.next_units(avery, "chat") != Nothing("stopped")
    save(
        store,
        reserve(store, blake)[0],
        blake,
        answers={"breakdown": "O", "comment": "it ignores the question"},
    )
    assert store.assignment.next_units(blake, "chat") == Nothing("stopped")
    with pytest.raises(InputError, match="nothing that could be compared"):
        set_up(store, name="other", gold=KnownUnits((KnownUnit("d0", {"comment": "no"}, "0"),)))


def test_a_document_is_for_practice_or_for_checks(store: Store) -> None:
    both = {"training": KnownUnits((known("d0", "0"),)), "checks": Checks((known("d0", "2"),))}
    with pytest.raises(InputError, match="under both 'training' and 'checks'"):
        set_up(store, turns=2, **both)


def test_practice_and_checks_are_no_part_of_the_data(store: Store) -> None:
    checks, gold = Checks((known("d1"),), every=2), KnownUnits((known("d2"),))
    set_up(store, documents=4, per_unit=2, training=KnownUnits((known("d0"),)), checks=checks, gold=gold)
    avery, blake = people(store, "avery", "blake")
    assert judge_all(store, avery) + judge_all(store, blake) > store.progress.of_campaign("chat").wanted
    assert {entry.id: len(entry.judgments) for entry in store.exports.export("chat")} == {"d2": 2, "d3": 2}
    everything = {entry.id: len(entry.judgments) for entry in store.exports.export("chat", extras=True)}
    assert everything == {"d0": 2, "d1": 2, "d2": 2, "d3": 2}
    assert set(store.units.document_names("chat", practice=False)) == {"d2", "d3"}


@pytest.mark.parametrize("then", ["nothing", "warn", "stop"])
def test_what_follows_from_too_many_wrong_answers(store: Store, then: Any) -> None:
    units = tuple(known(f"d{number}", answer="X") for number in range(3))
    set_up(store, documents=6, batch=3, per_unit=1, gold=KnownUnits(units, allow=1, then=then))
    avery, blake = people(store, "avery", "blake")
    mine = reserve(store, avery)
    save(store, mine[0], avery, "O")
    assert (store.messages.unread(avery), reserve(store, avery)) == ([], mine[1:])
    assert save(store, mine[1], avery, "O").next == (None if then == "stop" else mine[2])
    if then == "stop":
        assert store.assignment.next_units(avery, "chat") == Nothing("stopped")
        assert mine[2] in reserve(store, blake)
        with pytest.raises(RefusedError, match="stop"):
            save(store, mine[2], avery, "X")
        assert [len(entry.judgments) for entry in store.exports.export("chat")][:2] == [1, 1]
        store.members.resume("chat", avery)
        assert reserve(store, avery)
    else:
        assert reserve(store, avery) == mine[2:]
        assert len(store.messages.unread(avery)) == (then == "warn")
    events = [event.what for event in store.audit.events("chat")]
    assert ("stopped after wrong answers" in events) == (then == "stop")


def test_a_stopped_person_holds_nothing_and_every_unit_still_gets_its_number(store: Store) -> None:
    set_up(store, documents=6, batch=3, per_unit=2, gold=KnownUnits((known("d0", answer="X"),), then="stop"))
    crowd = people(store, "avery", "blake", "casey", "drew")
    while units := reserve(store, crowd[0]):
        save(store, units[0], crowd[0], "O")
    for person in crowd[1:]:
        judge_all(store, person, answer="X")
    progress = store.progress.of_campaign("chat")
    assert (progress.complete, progress.done, progress.wanted) == (6, 12, 12)
    assert {who.name: who.held for who in progress.people} == dict.fromkeys(
        ("avery", "blake", "casey", "drew"), 0
    )


def test_several_answers_may_be_right_and_the_order_of_labels_does_not_matter(store: Store) -> None:
    right = ({"types": ("self-contradiction", "repetition")}, {"types": ("wrong-information",)})
    store.campaigns.set_up(
        Plan("types", "error-types", gold=KnownUnits((KnownUnit("d0", right, "0"),))), [dialogue("d0", 1)]
    )
    for name, types, is_right in (
        ("avery", ("repetition", "self-contradiction"), True),
        ("blake", ("wrong-information",), True),
        ("casey", ("repetition",), False),
    ):
        store.campaigns.set_per_unit("types", 3)
        (person,) = people(store, name)
        (unit,) = reserve(store, person, "types")
        save(store, unit, person, campaign="types", answers={"types": types})
        result = {who.name: who.passed for who in store.members.all("types")}
        assert result[name] == is_right


def test_consent_and_instructions_come_once_and_first(store: Store, clock: Clock) -> None:
    set_up(store, consent={"en": "I agree."}, instructions={"en": "Read well."})
    (me,) = people(store, "avery")
    assert store.assignment.next_units(me, "chat") == Nothing("begin")
    assert store.members.must_begin("chat", me)
    store.members.begin("chat", me)
    at = clock.now
    clock.forward(minutes=5)
    store.members.begin("chat", me)
    assert not store.members.must_begin("chat", me)
    assert reserve(store, me)
    assert [who.begun for who in store.members.all("chat")] == [at]
    assert [event.what for event in store.audit.events("chat")].count("consented") == 1


def test_only_members_begin_in_a_named_campaign(store: Store) -> None:
    avery, blake = people(store, "avery", "blake")
    set_up(store, who="named", people=("avery",), consent={"en": "I agree."})
    store.members.begin("chat", avery)
    with pytest.raises(RefusedError, match="invited"):
        store.members.begin("chat", blake)


def test_a_person_judges_so_many_documents_at_most(store: Store) -> None:
    set_up(store, documents=6, per_unit=2, batch=2, per_person=3)
    crowd = people(store, "avery", "blake", "casey", "drew")
    assert [judge_all(store, person) for person in crowd] == [3, 3, 3, 3]
    assert store.assignment.next_units(crowd[0], "chat") == Nothing("done")
    assert store.progress.of_campaign("chat").complete == 6


def test_messages_wait_until_they_are_read(store: Store) -> None:
    set_up(store)
    avery, blake, other = people(store, "avery", "blake", "casey")
    for person in (avery, blake):
        reserve(store, person)
    store.messages.send("chat", "Hello all.", by=avery)
    store.messages.send("chat", "Blake, please\nread section 2.", person=blake)
    assert [message.text for message in store.messages.unread(avery)] == ["Hello all."]
    assert [message.to for message in store.messages.unread(blake)] == [None, "blake"]
    assert store.messages.unread(other) == []
    store.messages.have_read(blake, store.messages.unread(blake)[0].id)
    assert [message.text for message in store.messages.unread(blake)] == ["Blake, please\nread section 2."]
    store.messages.have_read(blake, 10**12)
    store.messages.have_read(avery, store.messages.of_campaign("chat")[0].id)
    assert store.messages.unread(avery) == []
    with pytest.raises(UsageError, match="nobody of that name"):
        store.messages.send("chat", "Hello", person=other)
    with pytest.raises(InputError):
        store.messages.send("chat", " \n")


def test_whoever_comes_from_a_platform_is_known_by_its_id(store: Store) -> None:
    set_up(store, who="open")
    token = store.access.invite(campaign="chat", uses=None)
    query = {"PROLIFIC_PID": "5f0a", "STUDY_ID": "s1", "SESSION_ID": "x1", "utm": "no"}
    arrival = arrival_in(query)
    assert arrival == PlatformArrival(
        "prolific", {"PROLIFIC_PID": "5f0a", "STUDY_ID": "s1", "SESSION_ID": "x1"}
    )
    person = store.arrivals.arrive(token, arrival)
    assert person.name == "prolific-5f0a"
    again = store.arrivals.arrive(token, PlatformArrival("prolific", {**arrival.ids, "SESSION_ID": "x2"}))
    assert again.id == person.id
    (member,) = store.members.all("chat")
    assert member.origin == {"PROLIFIC_PID": "5f0a", "STUDY_ID": "s1", "SESSION_ID": "x2"}
    store.people.add("mturk-A1", password="a long password")  # noqa: S106
    with pytest.raises(RefusedError):
        store.arrivals.arrive(token, PlatformArrival("mturk", {"workerId": "A1"}))
    one = store.access.invite(campaign="chat")
    with pytest.raises(RefusedError, match="one person"):
        store.arrivals.arrive(one, PlatformArrival("mturk", {"workerId": "A2"}))
    with pytest.raises(RefusedError):
        store.arrivals.arrive("nonsense", PlatformArrival("mturk", {"workerId": "A3"}))
    assert {who.name for who in store.people.all()} == {"prolific-5f0a", "mturk-A1"}


@pytest.mark.parametrize(
    "query",
    [
        {}, {"STUDY_ID": "x"}, {"PROLIFIC_PID": ""}, {"PROLIFIC_PID": "<b>"}, {"workerId": "x" * 200},
        {"workerId": "A1", "assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"}, {"PROLIFIC_PID": "{{%PROLIFIC_PID%}}"},
    ],
)  # fmt: skip
def test_links_without_a_usable_id_bring_nobody(query: dict[str, str]) -> None:
    assert arrival_in(query) is None


def test_the_links_are_as_the_platforms_fill_them_in() -> None:
    assert PLACEHOLDERS["prolific"].startswith("PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}")
    assert PLACEHOLDERS["mturk"] == "workerId=${workerId}&assignmentId=${assignmentId}&hitId=${hitId}"


def judged(name: str, label: str, turns: int = 2) -> Entry:
    document = dialogue(name, turns)
    judgments = tuple(
        Judgment(
            name,
            str(2 * turn),
            "whoever",
            "breakdown",
            "1.0",
            {"breakdown": label},
            {"breakdown": {"T": 1.0}},
        )
        for turn in range(turns)
    )
    return Entry(name, document, judgments)


def test_programs_stand_beside_the_plan(store: Store) -> None:
    campaign(store, documents=3, turns=2, suggest="rules")
    (me,) = people(store, "avery")
    program = store.programs.add("rules")
    assert store.programs.add("rules").id == program.id
    with pytest.raises(InputError, match="is a person"):
        store.programs.add("avery")
    assert [document.id for document in store.programs.documents_for("chat", program.id)] == [
        "d0",
        "d1",
        "d2",
    ]
    assert sum(store.programs.add_judgments("chat", program, [judged("d0", "T"), judged("d1", "X")])) == 4
    assert [document.id for document in store.programs.documents_for("chat", program.id)] == ["d2"]
    assert store.programs.count_documents("chat", program.id) == 1
    progress = store.progress.of_campaign("chat")
    assert (progress.done, progress.complete) == (0, 0)
    told = store.programs.suggestion("chat", 1)
    assert told is not None
    assert (told.annotator, told.answers) == ("rules", {"breakdown": "T"})
    assert store.programs.suggestion("chat", 5) is None
    assert judge_all(store, me) == 6
    assert Counter(len(entry.judgments) for entry in store.exports.export("chat")) == {2: 3}
    with_programs = list(store.exports.export("chat", programs=True, names="names"))
    assert [len(entry.judgments) for entry in with_programs] == [4, 4, 2]
    (extra,) = [j for j in with_programs[0].judgments if j.annotator == "rules" and j.segment == "0"]
    assert extra.distributions == {"breakdown": {"T": 1.0}}


def test_that_a_suggestion_was_shown_is_kept_with_the_judgment(store: Store) -> None:
    campaign(store, documents=1, turns=2, suggest="rules")
    (me,) = people(store, "avery")
    first, second = reserve(store, me)
    store.saves.save(request(first, me, suggested=True))
    store.saves.save(request(second, me))
    judgments = next(iter(store.exports.export("chat"))).judgments
    assert [judgment.metadata for judgment in judgments] == [{"suggested": "rules"}, {}]


def test_a_chain_may_have_its_own_practice(store: Store) -> None:
    campaign(store, documents=3, turns=1)
    practice = KnownUnits((KnownUnit("d1", {"types": ("repetition",)}, "0"),))
    store.campaigns.set_up(Plan("types", "error-types", chain=Chain("chat"), training=practice))
    avery, blake = people(store, "avery", "blake")
    assert store.progress.of_campaign("types").units == 0
    assert len(reserve(store, avery, "types")) == 1
    save(store, 2, avery, campaign="types", answers={"types": ("repetition",)})
    assert store.assignment.next_units(avery, "types") == Nothing("wait")
    judge_all(store, blake, answer="X")
    progress = store.progress.of_campaign("types")
    assert (progress.units, progress.wanted) == (2, 2)
    assert len(reserve(store, avery, "types")) == 1
