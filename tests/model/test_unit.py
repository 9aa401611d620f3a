"""A judge sees what came before, and never a later turn."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lapsus.errors import InvalidError
from lapsus.model import Document, Segment, UnitRule, unit, units

roles = st.lists(st.sampled_from(["system", "user", "tool"]), min_size=1, max_size=12)


def dialogue(roles: list[str]) -> Document:
    return Document("d", tuple(Segment(str(i), role, f"secret-{i}-text") for i, role in enumerate(roles)))  # type: ignore[arg-type]


@given(roles)
def test_no_later_turn_is_anywhere_in_a_unit(roles: list[str]) -> None:
    for found in units(dialogue(roles), UnitRule(role="system", context="before")):
        assert found.target is not None
        place = int(found.target.id)
        assert [segment.id for segment in found.visible] == [str(i) for i in range(place + 1)]
        written = msgspec.json.encode(found).decode()
        assert all(f"secret-{later}-text" not in written for later in range(place + 1, len(roles)))


@given(roles)
def test_every_turn_of_the_role_is_a_unit_once(roles: list[str]) -> None:
    keys = [found.key.segment for found in units(dialogue(roles), UnitRule(role="system"))]
    assert keys == [str(i) for i, role in enumerate(roles) if role == "system"]


def test_other_contexts() -> None:
    document = dialogue(["user", "system", "user"])
    alone = unit(document, UnitRule(role="system", context="none"), "1")
    assert [segment.id for segment in alone.visible] == ["1"]
    everything = unit(document, UnitRule(role="system", context="all"), "1")
    assert [segment.id for segment in everything.visible] == ["0", "1", "2"]
    whole = unit(document, UnitRule(role="document", context="all"), None)
    assert whole.target is None
    assert whole.visible == document.segments


def test_a_turn_that_is_not_judged_is_no_unit() -> None:
    with pytest.raises(InvalidError, match="is not judged"):
        unit(dialogue(["user", "system"]), UnitRule(role="system"), "0")
