"""Several saves in one transaction: read what they are about, decide on each, write it all.

The number of statements does not depend on how many saves there are, nor on how much was saved before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypeAlias

import msgspec
from sqlalchemy import Connection, Row

from lapsus.store import statements as sql
from lapsus.store.chains import choose_units
from lapsus.store.records import Plan, RefusedError, Saved
from lapsus.store.rows import plan_of, set_levels

UnitId: TypeAlias = tuple[int, int]
"""Campaign and number."""
PlaceId: TypeAlias = tuple[int, int, int]
"""Campaign, unit and person."""


class Ready(NamedTuple):
    """A save that keeps the rules and has only to be written."""

    key: str
    campaign: int
    unit: int
    person: int
    answers: str
    version: str
    submitted: bool
    given_at: datetime | None
    seconds: float | None
    client: str
    base_revision: int | None

    @property
    def place(self) -> PlaceId:
        """Whose unit it is."""
        return self.campaign, self.unit, self.person


class Kept(NamedTuple):
    """A save that is there."""

    place: PlaceId
    revision: int
    answers: str
    submitted: bool
    stored_at: datetime


@dataclass
class UnitCounts:
    """The places of a unit as they were read, and how many more there will be."""

    document: int
    taken: int
    done: int
    used: set[int] = field(default_factory=set)
    """Places that somebody has; read only where one is looked for."""
    more_taken: int = 0
    more_done: int = 0

    def take_free(self) -> int:
        """The lowest place that nobody has."""
        place = min(set(range(len(self.used) + 1)) - self.used)
        self.used.add(place)
        self.more_taken += 1
        return place


@dataclass
class PersonCounts:
    """What more a person has done."""

    submitted: int = 0
    drafts: int = 0
    held: int = 0
    seconds: float = 0.0

    def more(self) -> dict[str, Any]:
        """As a statement takes it."""
        return {f"more_{name}": value for name, value in vars(self).items()}


@dataclass
class Place:
    """What a person has to do with a unit: as it was read, then as it will be written."""

    unit: UnitCounts
    place: int | None
    state: str
    revision: int
    submitted: int
    disabled: bool = False
    is_new: bool = False


@dataclass
class Batch:
    """Saves that are written together."""

    conn: Connection
    now: datetime
    plans: dict[int, Plan] = field(default_factory=dict)
    closed: set[int] = field(default_factory=set)
    followed: set[int] = field(default_factory=set)
    """Campaigns whose votes choose the units of others."""
    kept: dict[str, Kept] = field(default_factory=dict)
    places: dict[PlaceId, Place] = field(default_factory=dict)
    units: dict[UnitId, UnitCounts] = field(default_factory=dict)
    people: dict[tuple[int, int], PersonCounts] = field(default_factory=dict)
    done: Counter[int] = field(default_factory=Counter)
    complete: Counter[int] = field(default_factory=Counter)
    new: list[tuple[Ready, int]] = field(default_factory=list)
    """What is to be written, with its revision."""

    def run(self, saves: Sequence[Ready]) -> list[Saved | Exception]:
        """The answer to each save, in order. They hold once the transaction is committed."""
        self._read(saves)
        outcomes: list[Saved | Exception] = []
        for save in saves:
            try:
                outcomes.append(self._save(save))
            except RefusedError as error:
                outcomes.append(error)
        if self.new:
            self._write()
        return outcomes

    def _read(self, saves: Sequence[Ready]) -> None:
        for row in self.conn.execute(sql.CAMPAIGNS, {"ids": sorted({save.campaign for save in saves})}):
            self.plans[row.id] = plan_of(row)
            if row.state == "closed":
                self.closed.add(row.id)
            if row.is_followed:
                self.followed.add(row.id)
        for row in self.conn.execute(sql.KEYS, {"keys": [save.key for save in saves]}):
            place = (row.campaign, row.unit, row.person)
            self.kept[row.key] = Kept(place, row.revision, row.answers, row.submitted, row.stored_at)
        for row in sql.read_places(self.conn, sorted({save.place for save in saves})):
            self._keep(row)

    def _keep(self, row: Row[Any]) -> None:
        unit = self.units.setdefault(
            (row.campaign, row.unit), UnitCounts(row.document, row.unit_taken, row.unit_done)
        )
        disabled = row.disabled is not None
        place = Place(unit, row.place, row.state, row.revision, row.submitted, disabled)
        self.places[row.campaign, row.unit, row.person] = place

    def _save(self, save: Ready) -> Saved:
        place = self.places.get(save.place)
        if (kept := self.kept.get(save.key)) is not None:
            _check_same(save, kept)
            return _answer(save, kept, place)
        if save.campaign in self.closed:
            raise RefusedError("closed", "the campaign is closed", hint="ask its manager to open it again")
        if place is None:
            raise RefusedError(
                "not-yours", f"unit {save.unit} was not given to you", hint="ask for the next units"
            )
        if place.disabled:
            raise RefusedError("disabled", "this account is shut", hint="ask a manager")
        self._take_again(save, place)
        if save.submitted:
            self._finish(save, place)
        self._count(save, place)
        self.new.append((save, place.revision))
        kept = Kept(save.place, place.revision, save.answers, save.submitted, self.now)
        self.kept[save.key] = kept
        return _answer(save, kept, place)

    def _person(self, save: Ready) -> PersonCounts:
        return self.people.setdefault((save.campaign, save.person), PersonCounts())

    def _take_again(self, save: Ready, place: Place) -> None:
        """A unit that went back after its time is the person's again, if a place of it is still free."""
        unit = place.unit
        if place.state == "released" and unit.taken + unit.more_taken < self.plans[save.campaign].per_unit:
            unit.used |= set(self.conn.scalars(sql.USED, {"c": save.campaign, "u": save.unit}))
            place.place, place.state = unit.take_free(), "reserved"
            self._person(save).held += 1

    def _finish(self, save: Ready, place: Place) -> None:
        """The place is done. One that others have by now stays theirs, and this judgment comes on top."""
        if place.state == "released":
            place.state = "extra"
        elif place.state == "reserved":
            place.state = "done"
            place.unit.more_done += 1
            self._person(save).held -= 1
            self.done[save.campaign] += 1
            done = place.unit.done + place.unit.more_done
            self.complete[save.campaign] += done == self.plans[save.campaign].per_unit

    def _count(self, save: Ready, place: Place) -> None:
        person = self._person(save)
        person.seconds += save.seconds or 0.0
        person.drafts += (not save.submitted) - (place.revision > place.submitted)
        place.revision += 1
        if save.submitted:
            person.submitted += place.submitted == 0
            place.submitted = place.revision

    def _write(self) -> None:
        said = [
            {
                **save._asdict(),
                "given_at": save.given_at or self.now,
                "stored_at": self.now,
                "revision": revision,
            }
            for save, revision in self.new
        ]
        self.conn.execute(sql.ADD_JUDGMENT, said)
        touched = sorted({save.place for save, _ in self.new})
        self.conn.execute(sql.SET_PLACE, [place_values(id, self.places[id]) for id in touched])
        self._write_units()
        self.conn.execute(sql.SET_MEMBER, [self._member_values(id) for id in sorted(self.people)])
        for campaign in sorted(self.followed):
            judged = {save.unit for save, _ in self.new if save.campaign == campaign and save.submitted}
            choose_units(self.conn, campaign, sorted(judged))
        totals = [
            {"c": campaign, "more_done": done, "more_complete": self.complete[campaign]}
            for campaign, done in sorted(self.done.items())
        ]
        if totals:
            self.conn.execute(sql.SET_TOTAL, totals)

    def _write_units(self) -> None:
        changed = sorted(id for id, unit in self.units.items() if unit.more_taken or unit.more_done)
        values = [
            {"c": id[0], "u": id[1], "more_taken": unit.more_taken, "more_done": unit.more_done}
            for id in changed
            for unit in (self.units[id],)
        ]
        if values:
            self.conn.execute(sql.SET_UNIT, values)
        for campaign, number in changed:
            if self.units[campaign, number].more_taken:
                set_levels(self.conn, campaign, [self.units[campaign, number].document])

    def _member_values(self, id: tuple[int, int]) -> dict[str, Any]:
        until = self.now + timedelta(minutes=self.plans[id[0]].minutes)
        return {"c": id[0], "p": id[1], "new_until": until, "now": self.now, **self.people[id].more()}


def place_values(id: PlaceId, place: Place) -> dict[str, Any]:
    """As a statement takes it."""
    names = ("place", "state", "revision", "submitted")
    return {"c": id[0], "u": id[1], "p": id[2], **{f"new_{name}": getattr(place, name) for name in names}}


def _check_same(save: Ready, kept: Kept) -> None:
    """A key that comes again must come with the same answers; in JSON their order may differ."""
    same = kept.place == save.place and kept.submitted == save.submitted
    if not same or msgspec.json.decode(kept.answers) != msgspec.json.decode(save.answers):
        raise RefusedError(
            "key-reused", "this key was used for another answer", hint="make a new key for every new answer"
        )


def _answer(save: Ready, kept: Kept, place: Place | None) -> Saved:
    before = kept.revision - 1
    replaced = before if save.base_revision is not None and save.base_revision < before else None
    return Saved(
        save.key, kept.revision, kept.stored_at, replaced, place is not None and place.state == "extra"
    )
