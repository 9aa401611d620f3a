"""Replies of two systems to the same context stand side by side, neither always first."""

from __future__ import annotations

import pytest

from lapsus.collect import pairing
from lapsus.collect.pairing import asked, paired
from lapsus.collect.systems import TalkSoFar
from lapsus.errors import UsageError
from lapsus.model import Document, Segment
from lapsus.store.collect_plan import System
from lapsus.store.talk_records import Reply


def talk(id: str, reply: str, system: str | None = None) -> Document:
    turns = (Segment("0", "user", "Hi?"), Segment("1", "system", reply))
    return Document(id, turns, "en", {"system": system} if system else {})


def test_logs_are_paired_where_the_context_is_the_same() -> None:
    other = Document("d2", (Segment("0", "user", "Bye."), Segment("1", "system", "Bye.")), "en")
    (made,) = paired([("x", [talk("d", "Hello."), other]), ("y", [talk("e", "Yes?", "lark")])])
    replies = {one.metadata["system"]: one.text for one in made.segments if one.id in "AB"}
    assert replies == {"x": "Hello.", "lark": "Yes?"}
    assert made.metadata["dialogue"] == "d"


def test_neither_system_is_always_first() -> None:
    talks = [
        (
            name,
            [
                Document(f"d{n}", (Segment("0", "user", f"{n}"), Segment("1", "system", name)))
                for n in range(40)
            ],
        )
        for name in ("x", "y")
    ]
    first = [made.segment("A").metadata["system"] for made in paired(talks)]
    assert 10 < first.count("x") < 30


def test_systems_are_asked_now(monkeypatch: pytest.MonkeyPatch) -> None:
    class Echo:
        def __init__(self, system: System) -> None:
            self.name = system.use

        def reply(self, talk: TalkSoFar) -> Reply:
            return Reply(f"{self.name} heard {talk.messages[-1]['content']}")

    monkeypatch.setattr(pairing, "make_system", Echo)
    (made,) = asked([talk("d", "Hello.")], ["x", "y"])
    assert {one.text for one in made.segments} == {"Hi?", "x heard Hi?", "y heard Hi?"}


def test_a_system_that_is_not_there_is_told() -> None:
    with pytest.raises(UsageError):
        list(asked([talk("d", "Hello.")], ["bot", "nobody"]))
