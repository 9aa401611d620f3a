"""Small invented campaigns to try the store with."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from lapsus.model import Document, Segment
from lapsus.store import Plan, Reservation, Saved, SaveRequest, Store

_keys = count()


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **by: float) -> None:
        self.now += timedelta(**by)


def dialogue(name: str, turns: int = 3) -> Document:
    """A chat in which the system speaks `turns` times, a person in between."""
    roles = ("system", "user")
    segments = tuple(
        Segment(str(place), roles[place % 2], f"turn {place} of {name}")  # type: ignore[arg-type]
        for place in range(2 * turns - 1)
    )
    return Document(name, segments, "en", {"system": "Robin"})


def pair(name: str, text: str = "Ida Vale was born in Orsk") -> Document:
    triple = Segment.triple("t1", "Ida_Vale", "birthPlace", "Orsk")
    return Document(name, (triple, Segment("text", "text", text)), "en")


def campaign(store: Store, documents: int = 4, turns: int = 3, **plan: Any) -> str:
    """A breakdown campaign."""
    made = store.campaigns.create(Plan(**({"name": "chat", "scheme": "breakdown"} | plan)))
    store.campaigns.add_documents(made.name, [dialogue(f"d{number}", turns) for number in range(documents)])
    return made.name


def people(store: Store, *names: str) -> list[int]:
    return [store.people.add(name).id for name in names]


def reserve(store: Store, person: int, name: str = "chat") -> list[int]:
    """The numbers of the units that a person is given."""
    given = store.assignment.next_units(person, name)
    return [unit.number for unit in given.units] if isinstance(given, Reservation) else []


def request(unit: int, person: int, answer: str = "O", **more: Any) -> SaveRequest:
    answers: Mapping[str, Any] = more.pop("answers", {"breakdown": answer})
    key = more.pop("key", f"key-{next(_keys)}")
    return SaveRequest(key, more.pop("campaign", "chat"), unit, person, answers, **more)


def save(store: Store, unit: int, person: int, answer: str = "O", **more: Any) -> Saved:
    return store.saves.save(request(unit, person, answer, **more))


def judge_all(store: Store, person: int, name: str = "chat", answer: str = "O") -> int:
    """Judge until nothing is left; how many units that were."""
    done = 0
    while units := reserve(store, person, name):
        for unit in units:
            save(store, unit, person, answer, campaign=name)
        done += len(units)
    return done
