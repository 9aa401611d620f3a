"""Looking through units, and asking one more person about some of them; on both databases."""

from __future__ import annotations

import pytest

from lapsus.errors import UsageError
from lapsus.model import Document, Entry, Judgment, Segment
from lapsus.store import Nothing, Plan, SaveRequest, Store


def dialogue(name: str, system: str | None = None) -> Document:
    turns = tuple(Segment(str(n), ("system", "user")[n % 2], f"{name} says {n}") for n in range(3))
    return Document(name, turns, "en", {"system": system} if system else {})


def said(document: str, segment: str, who: str, label: str, **more: str) -> Judgment:
    return Judgment(document, segment, who, "breakdown", "1.0", {"breakdown": label, **more})


@pytest.fixture
def judged(store: Store) -> Store:
    store.campaigns.create(Plan("spring", "breakdown", per_unit=2))
    entries = [
        Entry("a", dialogue("a", "Tern"), (said("a", "0", "ada", "O"), said("a", "0", "ben", "X", comment="why?"))),
        Entry("b", dialogue("b"), (said("b", "0", "ada", "O"),)),
    ]  # fmt: skip
    store.imports.add_judgments("spring", entries)
    return store


def test_units_by_how_many_judgments_they_have(judged: Store) -> None:
    assert judged.browsing.numbers("spring") == [1, 2, 3, 4]
    assert judged.browsing.numbers("spring", "none") == [2, 4]
    assert judged.browsing.numbers("spring", "open") == [2, 3, 4]
    assert judged.browsing.numbers("spring", "complete") == [1]
    assert judged.browsing.numbers("spring", start=1, limit=2) == [2, 3]
    assert judged.browsing.last("spring") == 4


def test_texts_of_units_with_their_systems(judged: Store) -> None:
    found = [(unit.unit, unit.text, unit.system) for unit in judged.browsing.texts("spring")]
    assert found == [
        (1, "a says 0", "Tern"),
        (2, "a says 2", "Tern"),
        (3, "b says 0", None),
        (4, "b says 2", None),
    ]


def test_what_was_said_of_some_units(judged: Store) -> None:
    found = judged.judgments.of_units("spring", [1, 2])
    assert [(one.annotator, one.answers["breakdown"]) for one in found[1]] == [("ada", "O"), ("ben", "X")]
    assert found[2] == []
    unit, document = judged.browsing.with_documents("spring", [3, 99])[3]
    assert unit.target is not None
    assert (unit.target.text, document.system) == ("b says 0", None)
    assert judged.browsing.answering("spring", '"comment":') == [1]


def test_flags_and_programs(judged: Store) -> None:
    mori = judged.people.add("mori", "manager")
    judged.flags.add("k1", "spring", 2, mori.id, "really?")
    judged.flags.add("k2", "spring", 3, mori.id, "and this?")
    judged.flags.set_settled("spring", judged.flags.all("spring")[0].id, True)
    assert judged.browsing.flagged("spring") == [2, 3]
    assert judged.browsing.flagged("spring", open_only=True) == [3]
    assert [flag.text for flag in judged.flags.of_units("spring", [3])[3]] == ["and this?"]
    program = judged.programs.add("rules")
    entry = Entry("a", dialogue("a", "Tern"), (said("a", "0", "x", "T"),))
    assert list(judged.programs.add_judgments("spring", program, [entry])) == [1]
    assert judged.browsing.programs("spring") == {program.id: "rules"}
    assert judged.browsing.program_answers("spring", program.id, "breakdown") == {1: "T"}


def test_one_more_person_is_asked_about_a_unit_and_nobody_twice(judged: Store) -> None:
    ada, eve = judged.people.named("ada"), judged.people.add("eve")
    judged.imports.add_judgments("spring", [Entry("b", dialogue("b"), (said("b", "0", "ben", "O"),))])
    for name, system in (("a", "Tern"), ("b", None)):
        rest = tuple(said(name, "2", who, "O") for who in ("ada", "ben"))
        judged.imports.add_judgments("spring", [Entry(name, dialogue(name, system), rest)])
    assert isinstance(judged.assignment.next_units(eve.id, "spring"), Nothing)
    before = judged.progress.of_campaign("spring")
    assert (before.complete, before.wanted) == (4, 8)
    assert judged.browsing.ask_again("spring", [1, 3, 77]) == 2
    assert (judged.progress.of_campaign("spring").complete, judged.progress.of_campaign("spring").wanted) == (
        2,
        10,
    )
    assert isinstance(judged.assignment.next_units(ada.id, "spring"), Nothing)
    given = judged.assignment.next_units(eve.id, "spring")
    assert not isinstance(given, Nothing)
    assert [unit.number for unit in given.units] == [1]
    judged.saves.save(SaveRequest("key", "spring", 1, eve.id, {"breakdown": "T"}))
    assert judged.progress.of_campaign("spring").complete == 3
    event = next(event for event in judged.audit.events("spring") if event.what == "asked again")
    assert event.details == {"units": 2, "first": [1, 3]}


def test_a_line_of_the_audit_trail_stays_short_however_many_are_asked_about(
    judged: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lapsus.store.units.NOTED", 2)
    assert judged.browsing.ask_again("spring", [4, 3, 2, 1]) == 4
    assert judged.audit.events("spring")[0].details == {"units": 4, "first": [1, 2]}


def test_a_unit_with_more_judgments_than_asked_for_stays_complete(judged: Store) -> None:
    judged.imports.add_judgments("spring", [Entry("a", dialogue("a", "Tern"), (said("a", "0", "eve", "T"),))])
    assert judged.progress.of_campaign("spring").complete == 1
    assert judged.browsing.ask_again("spring", [1]) == 1
    assert judged.browsing.numbers("spring", "complete") == [1]
    assert judged.progress.of_campaign("spring").complete == 1
    assert judged.browsing.ask_again("spring", [1]) == 1
    assert judged.browsing.numbers("spring", "complete") == []
    assert judged.progress.of_campaign("spring").complete == 0


def test_nobody_is_asked_in_a_closed_campaign(judged: Store) -> None:
    judged.campaigns.set_state("spring", "closed")
    with pytest.raises(UsageError, match="is closed"):
        judged.browsing.ask_again("spring", [1])
