"""Several saves in one transaction: read what they are about, decide on each, write it all.

The number of statements does not depend on how many saves there are, nor on how much was saved before.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple, NoReturn, TypeAlias

import msgspec
from sqlalchemy import Connection, Row

from lapsus.model import EMPTY
from lapsus.schemes import BrokenRule
from lapsus.store import save_statements as sql
from lapsus.store import tables as t
from lapsus.store.chains import choose_units
from lapsus.store.known_answers import check_answers
from lapsus.store.pipeline import PipelineStep, execute
from lapsus.store.records import Credential, Plan, RefusedError, Saved
from lapsus.store.rows import plan_of, set_levels
from lapsus.store.validation import to_json

ROOM = 4_000_000
"""Characters of answers that are kept of a person in a campaign, all revisions together..."""
ROOM_PER_UNIT = 10_000
"""...and so many more for each unit that was submitted."""
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
    credential: Credential | None = None
    suggested: bool = False
    """Whether a program's answer was shown as a suggestion."""
    broken: tuple[BrokenRule, ...] = ()
    """The rules that it breaks: it is refused, once it is known who asks."""
    in_order: bool = False
    """Whether a unit may be seen only when those before it are judged."""
    stops: bool = False
    """Whether a wrong answer can make units go back."""
    procedure: Mapping[str, Any] = EMPTY
    """What is kept of the way to the answers."""
    withdrawn: bool = False
    """Whether it takes back what was submitted."""

    @property
    def place(self) -> PlaceId:
        """Campaign, unit and person."""
        return self.campaign, self.unit, self.person


class Kept(NamedTuple):
    """A save that is in the database already."""

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
    wanted: int = t.FULL
    """How many places it has; FULL: everybody's, and counted nowhere."""

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
    stored: int = 0
    """Characters of answers."""

    def more(self) -> dict[str, Any]:
        """The values of a statement."""
        return {f"more_{name}": value for name, value in vars(self).items()}


@dataclass
class UnitCapacity:
    """What a person has to do with a unit: as it was read, then as it will be written."""

    unit: UnitCounts
    place: int | None
    state: str
    revision: int
    submitted: int
    disabled: bool = False
    stamp: str | None = None
    """What sessions of the person carry."""
    room: int = 0
    """How many more characters are kept of the person's answers."""
    is_new: bool = False
    stopped: bool = False


@dataclass
class SaveBatch:
    """Saves that are written together."""

    conn: Connection
    now: datetime
    plans: dict[int, Plan] = field(default_factory=dict)
    closed: set[int] = field(default_factory=set)
    followed: set[int] = field(default_factory=set)
    """Campaigns whose votes choose the units of others."""
    tokens: dict[str, int] = field(default_factory=dict)
    """Whom the tokens that hold speak for."""
    kept: dict[str, Kept] = field(default_factory=dict)
    places: dict[PlaceId, UnitCapacity] = field(default_factory=dict)
    units: dict[UnitId, UnitCounts] = field(default_factory=dict)
    people: dict[tuple[int, int], PersonCounts] = field(default_factory=dict)
    done: Counter[int] = field(default_factory=Counter)
    surplus: Counter[int] = field(default_factory=Counter)
    complete: Counter[int] = field(default_factory=Counter)
    reopened: set[PlaceId] = field(default_factory=set)
    """Whose submitted answers were taken back."""
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
        self._write(saves, outcomes)
        return outcomes

    def _read(self, saves: Sequence[Ready]) -> None:
        hashes = {save.credential.token for save in saves if save.credential and save.credential.token}
        # Where units may go back the campaign is locked before they are, as it is where units are handed out.
        first = sorted({save.campaign for save in saves if save.stops})
        if first:
            execute(self.conn, [sql.locked_campaigns(first)])
        campaigns, keys, places, *tokens = execute(
            self.conn,
            [
                sql.campaigns(sorted({save.campaign for save in saves})),
                sql.keys([save.key for save in saves]),
                sql.places(sorted({save.place for save in saves})),
                *([sql.tokens(sorted(hashes))] if hashes else []),
            ],
        )
        self.tokens = {row.hash: row.person for rows in tokens for row in rows}
        for row in campaigns:
            self.plans[row.id] = plan_of(row)
            if row.state in ("closed", "draft"):
                self.closed.add(row.id)
            if row.is_followed:
                self.followed.add(row.id)
        for row in keys:
            place = (row.campaign, row.unit, row.person)
            self.kept[row.key] = Kept(place, row.revision, row.answers, row.submitted, row.stored_at)
        for row in places:
            self._keep(row)

    def _keep(self, row: Row[Any]) -> None:
        unit = self.units.setdefault(
            (row.campaign, row.unit),
            UnitCounts(row.document, row.unit_taken, row.unit_done, wanted=row.unit_wanted),
        )
        disabled = row.disabled is not None
        place = UnitCapacity(
            unit,
            row.place,
            row.state,
            row.revision,
            row.submitted,
            disabled,
            row.stamp,
            ROOM + ROOM_PER_UNIT * row.member_submitted - row.member_stored,
            stopped=row.stopped is not None,
        )
        self.places[row.campaign, row.unit, row.person] = place

    def _save(self, save: Ready) -> Saved:
        place = self.places.get(save.place)
        if save.credential is not None:
            self._check_credential(save, save.credential, place)
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
        if place.stopped:
            raise RefusedError("stopped", "you were asked to stop", hint="ask a manager")
        if save.broken:
            self._refuse(save)
        if self._person(save).stored + len(save.answers) > place.room:
            raise RefusedError("too-much", "more was saved here than anybody needs", hint="ask a manager")
        self._take_again(save, place)
        if save.submitted:
            self._finish(save, place)
        elif save.withdrawn and place.submitted:
            self._reopen(save, place)
        self._count(save, place)
        self.new.append((save, place.revision))
        kept = Kept(save.place, place.revision, save.answers, save.submitted, self.now)
        self.kept[save.key] = kept
        return _answer(save, kept, place)

    def _check_credential(self, save: Ready, credential: Credential, place: UnitCapacity | None) -> None:
        """Whether a session or a token still holds, in the transaction in which the answer is stored."""
        if credential.token is not None:
            holds = self.tokens.get(credential.token) == save.person
        elif place is not None:
            holds = not place.disabled and place.stamp == credential.stamp
        else:
            stamp = self.conn.scalar(sql.STAMP, {"p": save.person})
            holds = stamp is not None and stamp == credential.stamp
        if not holds:
            raise RefusedError("sign-in", "nobody is signed in")

    def _refuse(self, save: Ready) -> NoReturn:
        """Say which rules are broken; not of a unit that is still to come, for they may quote it."""
        if save.in_order and self.conn.scalar(
            sql.EARLIER, {"c": save.campaign, "u": save.unit, "p": save.person}
        ):
            raise RefusedError("earlier", "an earlier unit of the document comes first")
        raise RefusedError("rules", save.broken[0].message(), broken=save.broken)

    def _person(self, save: Ready) -> PersonCounts:
        return self.people.setdefault((save.campaign, save.person), PersonCounts())

    def _take_again(self, save: Ready, place: UnitCapacity) -> None:
        """A unit that went back after its time is the person's again, if a place of it is still free."""
        unit = place.unit
        if place.state == "released" and unit.taken + unit.more_taken < unit.wanted:
            unit.used |= set(self.conn.scalars(sql.USED, {"c": save.campaign, "u": save.unit}))
            place.place, place.state = unit.take_free(), "reserved"
            self._person(save).held += 1

    def _finish(self, save: Ready, place: UnitCapacity) -> None:
        """The place is done. One that others have by now stays theirs, and this judgment comes on top."""
        if place.state == "released":
            place.state = "extra"
        elif place.state == "reserved":
            place.state = "done"
            place.unit.more_done += 1
            self._person(save).held -= 1
            if place.unit.wanted < t.FULL:
                self.done[save.campaign] += 1
                done = place.unit.done + place.unit.more_done
                self.complete[save.campaign] += done == place.unit.wanted
                # The plan asks for fewer judgments now than when the unit was handed out.
                self.surplus[save.campaign] += done > place.unit.wanted

    def _reopen(self, save: Ready, place: UnitCapacity) -> None:
        """What was submitted counts no more, and the person holds the unit again; all that `_finish` did is undone."""
        self.reopened.add(save.place)
        if place.state == "extra":
            place.state = "released"
        elif place.state == "done":
            place.state = "reserved"
            done = place.unit.done + place.unit.more_done
            place.unit.more_done -= 1
            self._person(save).held += 1
            if place.unit.wanted < t.FULL:
                self.done[save.campaign] -= 1
                self.complete[save.campaign] -= done == place.unit.wanted
                self.surplus[save.campaign] -= done > place.unit.wanted
        self._person(save).submitted -= 1
        # Where a draft stood in front of it already, that was counted.
        self._person(save).drafts += place.revision == place.submitted
        place.submitted = 0

    def _count(self, save: Ready, place: UnitCapacity) -> None:
        person = self._person(save)
        person.seconds += save.seconds or 0.0
        person.stored += len(save.answers)
        person.drafts += (not save.submitted) - (place.revision > place.submitted)
        place.revision += 1
        if save.submitted:
            person.submitted += place.submitted == 0
            place.submitted = place.revision

    def _write(self, saves: Sequence[Ready], outcomes: list[Saved | Exception]) -> None:
        """All that is new, and for each answer the unit to go on with."""
        stored = [(n, outcome) for n, outcome in enumerate(outcomes) if isinstance(outcome, Saved)]
        if not stored:
            return
        answered = [saves[n] for n, _ in stored]
        after = sql.following(
            [(one.campaign, one.person, one.unit, self.places[one.place].unit.document) for one in answered]
        )
        *_, (units,) = execute(self.conn, [*self._changes(), after])
        stopped = self._carry_on()
        for (n, saved), unit in zip(stored, units, strict=False):
            # Whoever was stopped by this very answer goes on with nothing: all they held went back.
            is_stopped = (saves[n].campaign, saves[n].person) in stopped
            outcomes[n] = msgspec.structs.replace(saved, next=None if is_stopped else unit)

    def _changes(self) -> list[PipelineStep]:
        """The statements that write what is new."""
        said = [
            {
                **{name: getattr(save, name) for name in _KEPT},
                "given_at": save.given_at or self.now,
                "stored_at": self.now,
                "revision": revision,
                "more": self._more(save),
            }
            for save, revision in self.new
        ]
        touched = sorted({save.place for save, _ in self.new})
        units = [
            {"c": id[0], "u": id[1], "more_taken": unit.more_taken, "more_done": unit.more_done}
            for id, unit in sorted(self.units.items())
            if unit.more_taken or unit.more_done
        ]
        totals = [
            {
                "c": campaign,
                "more_done": done,
                "more_surplus": self.surplus[campaign],
                "more_complete": self.complete[campaign],
            }
            for campaign, done in sorted(self.done.items())
        ]
        steps = (
            PipelineStep(sql.ADD_JUDGMENT, said),
            PipelineStep(sql.SET_PLACE, [place_values(id, self.places[id]) for id in touched]),
            PipelineStep(sql.SET_UNIT, units),
            PipelineStep(sql.SET_MEMBER, [self._member_values(id) for id in sorted(self.people)]),
            PipelineStep(sql.SET_TOTAL, totals),
            PipelineStep(sql.ADD_CHANGE, self._notes()),
        )
        return [step for step in steps if step.values]

    def _more(self, save: Ready) -> str | None:
        """What is kept beside the answers: whose suggestion was on the page, and the way to the answers."""
        name = self.plans[save.campaign].suggests
        shown = {"suggested": name} if save.suggested and name is not None else {}
        held = {**shown, **save.procedure}
        return to_json({"metadata": held}) if held else None

    def _notes(self) -> list[dict[str, Any]]:
        """Which documents have new votes, for the figures that are kept of them."""
        changed: dict[int, set[int]] = {}
        for save, _ in self.new:
            if save.submitted or save.place in self.reopened:
                changed.setdefault(save.campaign, set()).add(self.places[save.place].unit.document)
        return [{"campaign": id, "documents": to_json(sorted(changed[id]))} for id in sorted(changed)]

    def _carry_on(self) -> set[tuple[int, int]]:
        """What follows from it for documents, for other campaigns, and for people: who is stopped, and where."""
        stopped: set[tuple[int, int]] = set()
        for (campaign, _), unit in sorted(self.units.items()):
            if unit.more_taken:
                set_levels(self.conn, campaign, [unit.document])
        for campaign in sorted(self.followed):
            judged = {save.unit for save, _ in self.new if save.campaign == campaign and save.submitted}
            choose_units(self.conn, campaign, sorted(judged))
        for campaign, plan in sorted(self.plans.items()):
            if plan.has_known:
                mine = ((save, revision) for save, revision in self.new if save.campaign == campaign)
                said = [(s.unit, s.person, revision, s.answers) for s, revision in mine if s.submitted]
                found = check_answers(self.conn, campaign, plan, said, self.now)
                stopped |= {(campaign, person) for person in found}
        return stopped

    def _member_values(self, id: tuple[int, int]) -> dict[str, Any]:
        until = self.now + timedelta(minutes=self.plans[id[0]].minutes)
        return {"c": id[0], "p": id[1], "new_until": until, "now": self.now, **self.people[id].more()}


_KEPT = ("key", "campaign", "unit", "person", "answers", "version", "submitted", "seconds", "client")
"""What of a save goes into its row as it is."""


def place_values(id: PlaceId, place: UnitCapacity) -> dict[str, Any]:
    """The values of a statement."""
    names = ("place", "state", "revision", "submitted")
    return {"c": id[0], "u": id[1], "p": id[2], **{f"new_{name}": getattr(place, name) for name in names}}


def _check_same(save: Ready, kept: Kept) -> None:
    """A key that comes again must come with the same answers; in JSON their order may differ."""
    same = kept.place == save.place and kept.submitted == save.submitted
    if not same or msgspec.json.decode(kept.answers) != msgspec.json.decode(save.answers):
        raise RefusedError(
            "key-reused", "this key was used for another answer", hint="make a new key for every new answer"
        )


def _answer(save: Ready, kept: Kept, place: UnitCapacity | None) -> Saved:
    before = kept.revision - 1
    replaced = before if save.base_revision is not None and save.base_revision < before else None
    return Saved(
        save.key, kept.revision, kept.stored_at, replaced, place is not None and place.state == "extra"
    )
