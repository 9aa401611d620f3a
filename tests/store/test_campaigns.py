"""Campaigns: plans, guidelines, documents."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, assume, given, settings

from lapsus.errors import InputError, InvalidError, UsageError
from lapsus.model import Document, Segment
from lapsus.schemes import load_scheme
from lapsus.store import Added, Plan, RefusedError, Store, UnitPlace
from lapsus.store import tables as t
from lapsus.store.validation import is_storable, to_json
from tests.store.helpers import campaign, dialogue, pair, people
from tests.strategies import dialogues


def test_a_campaign_keeps_its_plan_and_guideline(store: Store) -> None:
    plan = Plan("chat", "breakdown", {"en": "Chats", "ja": "雑談"}, per_unit=3, minutes=20, seed=7)
    made = store.campaigns.create(plan)
    assert (made.plan, made.scheme, made.state) == (plan, "breakdown", "open")
    assert store.campaigns.get("chat") == made
    assert store.campaigns.all() == [made]
    assert store.campaigns.scheme("chat") == load_scheme("breakdown")


def test_a_plan_is_a_file_and_back() -> None:
    plan = Plan("chat", "breakdown", per_unit=3, who="named", people=("avery",))
    assert msgspec.yaml.decode(msgspec.yaml.encode(plan), type=Plan) == plan
    assert msgspec.json.decode(b'{"name":"chat","scheme":"breakdown"}', type=Plan).titles == {"en": "chat"}
    with pytest.raises(msgspec.ValidationError, match="per_unti"):
        msgspec.json.decode(b'{"name":"chat","scheme":"breakdown","per_unti":3}', type=Plan)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "Chat"}, "short name"),
        ({"name": "../etc"}, "short name"),
        ({"name": ""}, "short name"),
        ({"name": "a" * 61}, "short name"),
        ({"per_unit": 0}, "per_unit"),
        ({"batch": 0}, "batch"),
        ({"minutes": 0}, "minutes"),
        ({"seed": 2**64}, "seed"),
        ({"people": ("avery",)}, "who is 'named'"),
        ({"show_votes": True}, "needs a chain"),
        ({"title": {"en": "x" * 201}}, "too long"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidError, match=message):
        Plan(**({"name": "chat", "scheme": "breakdown"} | change))


def test_a_name_is_used_once(store: Store) -> None:
    campaign(store)
    with pytest.raises(InputError, match="already"):
        store.campaigns.create(Plan("chat", "error-types"))
    with pytest.raises(UsageError, match="no campaign is called"):
        store.campaigns.get("c\0hat")


def test_people_of_a_plan_must_be_there(store: Store) -> None:
    with pytest.raises(InputError, match="nobody is called 'avery'"):
        store.campaigns.create(Plan("chat", "breakdown", who="named", people=("avery",)))
    assert store.campaigns.all() == []


def test_every_version_of_a_guideline_is_kept(store: Store) -> None:
    scheme = load_scheme("breakdown")
    newer = msgspec.structs.replace(scheme, version="9.0", summary={"en": "Other words."})
    store.campaigns.create(Plan("a", "breakdown"))
    store.campaigns.create(Plan("b", "own.yaml"), newer)
    assert (store.campaigns.scheme("a"), store.campaigns.scheme("b")) == (scheme, newer)
    assert store.campaigns.get("b").plan.scheme == "breakdown"
    changed = msgspec.structs.replace(scheme, summary={"en": "Changed on the quiet."})
    with pytest.raises(InputError, match=r"other content.*new version"):
        store.campaigns.create(Plan("c", "breakdown"), changed)


def test_documents_come_in_once_and_keep_their_order(store: Store) -> None:
    store.campaigns.create(Plan("chat", "breakdown"))
    assert store.campaigns.add_documents("chat", [dialogue("b"), dialogue("a", 2)]) == Added(2, 5, 0)
    assert store.campaigns.add_documents("chat", [dialogue("c"), dialogue("a", 2)]) == Added(1, 3, 1)
    assert store.units.document_names("chat") == ["b", "a", "c"]
    assert store.units.document("chat", "a") == dialogue("a", 2)
    assert store.units.get("chat", 4) == UnitPlace(4, "a", "0")
    assert store.units.get("chat", 8) == UnitPlace(8, "c", "4")
    assert (store.progress.of_campaign("chat").documents, store.progress.of_campaign("chat").units) == (3, 8)


def test_changed_documents_are_refused_and_nothing_of_the_rest_comes_in(store: Store) -> None:
    campaign(store, documents=1)
    with pytest.raises(InputError, match=r"document 'd0'.*other content"):
        store.campaigns.add_documents("chat", [dialogue("new"), dialogue("d0", 5)])
    assert store.units.document_names("chat") == ["d0"]
    with pytest.raises(InputError, match="document 'twice'"):
        store.campaigns.add_documents("chat", [dialogue("twice"), dialogue("twice", 2)])


def test_what_no_answer_could_be_right_for_is_refused(store: Store) -> None:
    name = campaign(store, documents=0, scheme="preference")
    talk = dialogue("d1")
    replies = tuple(Segment(id, "system", "Hello.") for id in "AB")
    both = msgspec.structs.replace(talk, segments=(*talk.segments, *replies))
    with pytest.raises(InputError, match="does not have both; `lapsus pair` makes"):
        store.campaigns.add_documents(name, [both, msgspec.structs.replace(talk, id="d2")])
    assert store.progress.of_campaign(name).documents == 0
    assert store.campaigns.add_documents(name, [both]).documents == 1


def test_the_same_id_may_have_other_content_in_another_campaign(store: Store) -> None:
    campaign(store, documents=1)
    campaign(store, documents=1, turns=6, name="other")
    assert store.units.document("chat", "d0") != store.units.document("other", "d0")


def test_a_whole_document_is_a_unit(store: Store) -> None:
    store.campaigns.create(Plan("pairs", "semantic-errors"))
    store.campaigns.add_documents("pairs", [pair("p1"), pair("p2")])
    assert store.units.get("pairs", 2) == UnitPlace(2, "p2", None)
    assert store.units.visible("pairs", 2).context == pair("p2").segments


def test_a_unit_shows_nothing_that_comes_after_it(store: Store) -> None:
    campaign(store, documents=1)
    seen = store.units.visible("chat", 2)
    assert [segment.id for segment in seen.visible] == ["0", "1", "2"]


@pytest.mark.parametrize("number", [0, -1, 13, 2**70])
def test_units_that_are_not_there(store: Store, number: int) -> None:
    campaign(store)
    with pytest.raises(RefusedError, match="no unit"):
        store.units.visible("chat", number)


def test_ids_that_no_database_can_keep_are_refused(store: Store) -> None:
    store.campaigns.create(Plan("chat", "breakdown"))
    for document in (
        Document("a\0b", (Segment("0", "system", "hi"),)),
        Document("a", (Segment("0\0", "system", "hi"),)),
        Document("\ud800", (Segment("0", "system", "hi"),)),
        Document("a", (Segment("0", "system", "\ud800"),)),
    ):
        with pytest.raises(InputError):
            store.campaigns.add_documents("chat", [document])
    assert store.units.document_names("chat") == []
    with pytest.raises(UsageError):
        store.units.document("chat", "a\0b")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(document=dialogues())
def test_any_document_comes_back_unchanged(store: Store, document: Document) -> None:
    assume(all(map(is_storable, (document.id, *(segment.id for segment in document.segments)))))
    name = f"c{len(store.campaigns.all())}"
    store.campaigns.create(Plan(name, "breakdown"))
    store.campaigns.add_documents(name, [document])
    assert store.units.document(name, document.id) == document


def test_states_and_changes_are_written_down(store: Store) -> None:
    campaign(store)
    (boss,) = people(store, "boss")
    store.campaigns.set_state("chat", "paused", by=boss)
    store.campaigns.set_per_unit("chat", 4, by=boss)
    assert store.campaigns.get("chat").state == "paused"
    assert store.campaigns.get("chat").plan.per_unit == 4
    whats = [(event.by, event.what) for event in store.audit.events("chat")]
    assert whats[:2] == [("boss", "plan changed"), ("boss", "campaign paused")]
    with pytest.raises(UsageError, match="did you mean 'paused'"):
        store.campaigns.set_state("chat", "pause")  # type: ignore[arg-type]
    with pytest.raises(InvalidError, match="per_unit"):
        store.campaigns.set_per_unit("chat", 0)
    assert store.campaigns.get("chat").plan.per_unit == 4


def test_a_scheme_of_before_opens_and_learns_what_is_said_of_analysis(store: Store) -> None:
    """Databases of before hold the guideline without it, under the same digest."""
    store.campaigns.create(Plan("old", "breakdown"))
    scheme = load_scheme("breakdown")
    assert scheme.guideline() != scheme
    with store.database.writing() as conn:
        conn.execute(t.scheme.update().values(content=to_json(scheme.guideline())))
    store.campaigns.create(Plan("new", "breakdown"))
    assert store.campaigns.scheme("new") == scheme
    assert store.campaigns.scheme("new").questions[0].analysis.tie_break == ("O", "T", "X")
