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
from lapsus.model.unit import screened
from lapsus.store import Plan, Store, open_store, programs
from tests.store.helpers import campaign, dialogue, judge_all, people


def judged(document: str, segment: str, **metadata: Any) -> Entry:
    judgment = Judgment(document, segment, "x", "breakdown", "1.0", {"breakdown": "T"}, metadata=metadata)
    return Entry(document, None, (judgment,))


def waiting(store: Store, program: int, name: str = "chat") -> list[UnitKey]:
    found = [unit.key for unit in store.programs.units_for(name, program)]
    assert store.programs.count_units(name, program) == len(found)
    return found


def test_units_come_in_order_each_with_what_its_judge_may_see(store: Store) -> None:
    campaign(store, documents=2, turns=2)
    program = store.programs.add("openai:org/some-model:latest").id
    assert waiting(store, program) == [("d0", "0"), ("d0", "2"), ("d1", "0"), ("d1", "2")]
    seen = [[segment.id for segment in unit.visible] for unit in store.programs.units_for("chat", program)]
    assert seen == [["0"], ["0", "1", "2"]] * 2


def test_a_document_that_is_half_judged_is_gone_on_with(store: Store, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(programs, "CHUNK", 3)
    campaign(store, documents=3, turns=2)
    program = store.programs.add("model")
    assert store.programs.metadata_of("chat", program.id) is None
    entries = [judged("d0", "2", form="text"), judged("d2", "0", form="text")]
    assert list(store.programs.add_judgments("chat", program, entries, at_a_time=1)) == [1, 1]
    assert waiting(store, program.id) == [("d0", "0"), ("d1", "0"), ("d1", "2"), ("d2", "2")]
    assert store.programs.metadata_of("chat", program.id) == {"form": "text"}
    assert len(waiting(store, store.programs.add("other").id)) == 6


def test_what_a_program_has_judged_stays_where_that_is_said(store: Store) -> None:
    campaign(store, documents=1, turns=1)
    program = store.programs.add("model")
    assert list(store.programs.add_judgments("chat", program, [judged("d0", "0", form="text")])) == [1]
    again = [judged("d0", "0", form="json_schema")]
    assert list(store.programs.add_judgments("chat", program, again, once=True)) == [0]
    assert store.programs.metadata_of("chat", program.id) == {"form": "text"}
    with pytest.raises(InputError, match="has judged it already"):
        list(store.programs.add_judgments("chat", program, again))


def test_programs_are_exported_under_their_own_names_and_people_are_not(store: Store) -> None:
    campaign(store, documents=1, turns=1)
    judge_all(store, *people(store, "avery"))
    program = store.programs.add("openai:tiny")
    list(store.programs.add_judgments("chat", program, [judged("d0", "0")]))
    (entry,) = store.exports.export("chat", programs=True)
    avery, model = (judgment.annotator for judgment in entry.judgments)
    assert model == "openai:tiny"
    assert avery.startswith("p-")


def test_a_programs_judgments_stay_a_programs_where_they_are_taken_in(store: Store, tmp_path: Path) -> None:
    campaign(store, documents=1, turns=1)
    judge_all(store, *people(store, "avery"))
    program = store.programs.add("openai:tiny")
    list(store.programs.add_judgments("chat", program, [judged("d0", "0", form="text")]))
    (entry,) = store.exports.export("chat", programs=True)
    assert [judgment.metadata for judgment in entry.judgments] == [{}, {"form": "text", "program": True}]
    convert([entry], tmp_path / "out.jsonl")
    with open_store(tmp_path / "other.sqlite") as other:
        other.campaigns.create(Plan("again", "breakdown"))
        done = other.imports.add_judgments("again", read(tmp_path / "out.jsonl"))
        assert (done.judgments, done.people) == (2, 1)
        assert other.people.named("openai:tiny").program
        assert (other.progress.of_campaign("again").done, other.progress.of_campaign("again").wanted) == (
            1,
            1,
        )
        assert len(next(other.exports.export("again")).judgments) == 1
        assert list(other.exports.export("again", programs=True, names="names")) == [entry]
        assert other.imports.add_judgments("again", [entry]).known == 2
        (found,) = gold_of([entry], "out.jsonl")
        assert found.votes == {"0": (1, 0, 0)}
        # A name stands for one of the two.
        mine = msgspec.structs.replace(judged("d0", "0", program=True).judgments[0], annotator="casey")
        other.people.add("casey")
        with pytest.raises(InputError, match="'casey' is a person"):
            other.imports.add_judgments("again", [Entry("d0", None, (mine,))])


def test_units_that_are_not_open_are_not_asked_about(store: Store) -> None:
    campaign(store, documents=3, turns=1, pilot={"documents": 1})
    program = store.programs.add("model").id
    assert waiting(store, program) == [("d0", "0")]
    store.campaigns.open_main("chat")
    assert waiting(store, program) == [("d0", "0"), ("d1", "0"), ("d2", "0")]


def test_in_a_chain_the_votes_choose(store: Store) -> None:
    campaign(store, documents=2, turns=1)
    campaign_of_types(store)
    program = store.programs.add("model").id
    assert waiting(store, program, "types") == []
    (avery,) = people(store, "avery")
    judge_all(store, avery, answer="X")
    assert len(waiting(store, program, "types")) == 2


def test_a_program_may_leave_open_what_it_cannot_answer(store: Store) -> None:
    campaign(store, documents=1, turns=1, scheme="response-quality")
    program = store.programs.add("judge")

    def said(answers: dict[str, Any]) -> list[Entry]:
        return [Entry("d0", None, (Judgment("d0", "0", "x", "response-quality", "1.0", answers),))]

    assert list(store.programs.add_judgments("chat", program, said({"clarity": 4}))) == [1]
    (kept,) = store.judgments.of_unit("chat", 1)
    assert kept.answers == {"clarity": 4}
    with pytest.raises(InputError):
        list(store.programs.add_judgments("chat", store.programs.add("other"), said({"clarity": 40})))
    with pytest.raises(InputError):
        store.imports.add_judgments("chat", said({"clarity": 4}))


def test_what_is_said_of_turns_that_votes_did_not_choose_is_left_out(store: Store) -> None:
    store.campaigns.create(Plan("types", "error-types"))
    votes = [
        Judgment("d0", turn, "ada", "breakdown", "1.0", {"breakdown": "OX"[turn == "2"]}) for turn in "024"
    ]
    document = dialogue("d0")
    scheme = store.campaigns.scheme("types")
    store.campaigns.add_documents("types", screened([Entry("d0", document, tuple(votes))], scheme))
    program = store.programs.add("judge")

    def said(name: str) -> Entry:
        return Entry(
            name,
            None,
            tuple(
                Judgment(name, turn, "x", "error-types", scheme.version, {"types": ("wrong-information",)})
                for turn in "024"
            ),
        )

    assert list(store.programs.add_judgments("types", program, [said("d0")])) == [1]
    assert store.programs.count_documents("types", program.id) == 0
    with pytest.raises(InputError, match="no such unit"):
        list(store.programs.add_judgments("types", program, [said("elsewhere")]))


def campaign_of_types(store: Store) -> None:
    from lapsus.store import Plan
    from lapsus.store.plan import Chain

    store.campaigns.create(Plan(name="types", scheme="error-types", chain=Chain(campaign="chat")))
