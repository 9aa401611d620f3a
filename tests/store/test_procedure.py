"""The way to an answer, where the plan requires it: checked when an answer is submitted, and kept with it."""

from __future__ import annotations

from typing import Any

import pytest

from lapsus.model import Document, Segment
from lapsus.schemes import load_scheme
from lapsus.schemes.answer_rules import Procedure
from lapsus.store import Plan, RefusedError, Store
from tests.store.helpers import pair, people, request, reserve

TYPES = tuple(label.id for label in load_scheme("error-types").questions[0].labels)
STEPS = tuple(step.id for step in load_scheme("semantic-errors").steps)


def campaign(store: Store, scheme: str, **plan: Any) -> tuple[int, int]:
    """A campaign of one unit: its number, and somebody who judges it."""
    document = (
        pair("p") if scheme == "semantic-errors" else Document("d", (Segment("0", "system", "Hi."),), "ja")
    )
    store.campaigns.set_up(Plan("chat", scheme, **plan), [document])
    (me,) = people(store, "avery")
    (unit,) = reserve(store, me)
    return unit, me


def metadata(store: Store) -> dict[str, Any]:
    (judgment,) = [judgment for entry in store.exports.export("chat") for judgment in entry.judgments]
    return dict(judgment.metadata)


def test_every_type_is_asked_or_ruled_out(store: Store) -> None:
    unit, me = campaign(store, "error-types", walk="required")

    def save(walk: tuple[str, ...], *types: str, submitted: bool = True) -> None:
        way = Procedure("ja", walk)
        store.saves.save(request(unit, me, answers={"types": types}, submitted=submitted, procedure=way))

    with pytest.raises(RefusedError) as refused:
        save(TYPES[:5], TYPES[14])
    assert [rule.rule for rule in refused.value.broken] == ["walk"]
    assert "まだ確かめていない類型：6、7、8" in refused.value.messages("ja")[0]
    save(TYPES[:5], TYPES[14], submitted=False)
    # Type 4 stands alone: it rules out all others, so that nothing is left to ask after it.
    save(TYPES[:4], TYPES[3])
    assert metadata(store) == {"guideline": "ja", "walk": TYPES[:4]}
    save(TYPES, TYPES[14])
    assert metadata(store)["walk"] == TYPES


def test_every_step_is_taken(store: Store) -> None:
    unit, me = campaign(store, "semantic-errors", steps="required")
    with pytest.raises(RefusedError) as refused:
        store.saves.save(request(unit, me, answers={"errors": ()}, procedure=Procedure(None, (), STEPS[:2])))
    assert [rule.rule for rule in refused.value.broken] == ["steps"]
    store.saves.save(request(unit, me, answers={"errors": ()}, procedure=Procedure("en", (), STEPS)))
    assert metadata(store) == {"guideline": "en", "steps": STEPS}


def test_nothing_is_asked_for_where_the_plan_does_not_and_strange_words_are_not_kept(store: Store) -> None:
    unit, me = campaign(store, "error-types")
    way = Procedure("xx", ("no such label", TYPES[0], TYPES[0]), ("no such step",))
    store.saves.save(request(unit, me, answers={"types": (TYPES[0],)}, procedure=way))
    assert metadata(store) == {"walk": (TYPES[0],)}
