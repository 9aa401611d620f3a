"""Programs that cost something to ask: only open units, each once, and under one setting."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from lapsus.challenge.testset import gold_of
from lapsus.errors import InputError
from lapsus.formats import convert, read
from lapsus.model import Entry, Judgment, UnitKey
from lapsus.store import Plan, Store, open_store, programs
from tests.store.helpers import campaign, judge_all, people


def judged(document: str, segment: str, **metadata: Any) -> Entry:
    judgment = Judgment(document, segment, "x", "breakdown", "1.0", {"breakdown": "T"}, metadata=metadata)
    return Entry(document, None, (judgment,))


def waiting(store: Store, program: int, name: str = "chat") -> list[UnitKey]:
    found = [unit.key for unit in store.units_for(name, program)]
    assert store.count_units(name, program) == len(found)
    return found


def test_units_come_in_order_each_with_what_its_judge_may_see(store: Store) -> None:
    campaign(store, documents=2, turns=2)
    program = store.add_program("openai:org/some-model:latest").id
    assert waiting(store, program) == [("d0", "0"), ("d0", "2"), ("d1", "0"), ("d1", "2")]
    seen = [[segment.id for segment in unit.visible] for unit in store.units_for("chat", program)]
    assert seen == [["0"], ["0", "1", "2"]] * 2


def test_a_document_that_is_half_judged_is_gone_on_with(store: Store, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(programs, "CHUNK", 3)
    campaign(store, documents=3, turns=2)
    program = store.add_program("model")
    assert store.metadata_of("chat", program.id) is None
    entries = [judged("d0", "2", form="text"), judged("d2", "0", form="text")]
    assert list(store.add_program_judgments("chat", program, entries, at_a_time=1)) == [1, 1]
    assert waiting(store, program.id) == [("d0", "0"), ("d1", "0"), ("d1", "2"), ("d2", "2")]
    assert store.metadata_of("chat", program.id) == {"form": "text"}
    assert len(waiting(store, store.add_program("other").id)) == 6


def test_what_a_program_has_judged_stays_where_that_is_said(store: Store) -> None:
    campaign(store, documents=1, turns=1)
    program = store.add_program("model")
    assert list(store.add_program_judgments("chat", program, [judged("d0", "0", form="text")])) == [1]
    again = [judged("d0", "0", form="json_schema")]
    assert list(store.add_program_judgments("chat", program, again, once=True)) == [0]
    assert store.metadata_of("chat", program.id) == {"form": "text"}
    with pytest.raises(InputError, match="has judged it already"):
        list(store.add_program_judgments("chat", program, again))


def test_programs_are_exported_under_their_own_names_and_people_are_not(store: Store) -> None:
    campaign(store, documents=1, turns=1)
    judge_all(store, *people(store, "avery"))
    program = store.add_program("openai:tiny")
    list(store.add_program_judgments("chat", program, [judged("d0", "0")]))
    (entry,) = store.export("chat", programs=True)
    avery, model = (judgment.annotator for judgment in entry.judgments)
    assert model == "openai:tiny"
    assert avery.startswith("p-")


def test_a_programs_judgments_stay_a_programs_where_they_are_taken_in(store: Store, tmp_path: Path) -> None:
    campaign(store, documents=1, turns=1)
    judge_all(store, *people(store, "avery"))
    program = store.add_program("openai:tiny")
    list(store.add_program_judgments("chat", program, [judged("d0", "0", form="text")]))
    (entry,) = store.export("chat", programs=True)
    assert [judgment.metadata for judgment in entry.judgments] == [{}, {"form": "text", "program": True}]
    convert([entry], tmp_path / "out.jsonl")
    with open_store(tmp_path / "other.sqlite") as other:
        other.create_campaign(Plan("again", "breakdown"))
        done = other.add_judgments("again", read(tmp_path / "out.jsonl"))
        assert (done.judgments, done.people) == (2, 1)
        assert other.person_named("openai:tiny").program
        assert (other.progress("again").done, other.progress("again").wanted) == (1, 1)
        assert len(next(other.export("again")).judgments) == 1
        assert list(other.export("again", programs=True, names="names")) == [entry]
        assert other.add_judgments("again", [entry]).known == 2
        (found,) = gold_of([entry], "out.jsonl")
        assert found.votes == {"0": (1, 0, 0)}
        # A name stands for one of the two.
        mine = msgspec.structs.replace(judged("d0", "0", program=True).judgments[0], annotator="casey")
        other.add_person("casey")
        with pytest.raises(InputError, match="'casey' is a person"):
            other.add_judgments("again", [Entry("d0", None, (mine,))])


def test_units_that_are_not_open_are_not_asked_about(store: Store) -> None:
    campaign(store, documents=3, turns=1, pilot={"documents": 1})
    program = store.add_program("model").id
    assert waiting(store, program) == [("d0", "0")]
    store.open_main("chat")
    assert waiting(store, program) == [("d0", "0"), ("d1", "0"), ("d2", "0")]


def test_in_a_chain_the_votes_choose(store: Store) -> None:
    campaign(store, documents=2, turns=1)
    campaign_of_types(store)
    program = store.add_program("model").id
    assert waiting(store, program, "types") == []
    (avery,) = people(store, "avery")
    judge_all(store, avery, answer="X")
    assert len(waiting(store, program, "types")) == 2


def campaign_of_types(store: Store) -> None:
    from lapsus.store import Plan
    from lapsus.store.plan import Chain

    store.create_campaign(Plan(name="types", scheme="error-types", chain=Chain(campaign="chat")))
