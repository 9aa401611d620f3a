"""What goes into the store and what comes out: small immutable records."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, TypeAlias

import msgspec
import regex

from lapsus.errors import InvalidError, LapsusError
from lapsus.model import EMPTY, Answer, TargetRule, Text, freeze
from lapsus.schemes import BrokenRule

Role: TypeAlias = Literal["manager", "adjudicator", "annotator"]
CampaignState: TypeAlias = Literal["open", "paused", "closed"]
UnitState: TypeAlias = Literal["reserved", "done", "released", "extra"]
"""`released`: went back after its time; `extra`: answered after it went back, when others had all its places."""

_SLUG = regex.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
LONGEST_NAME = 200


class RefusedError(LapsusError):
    """A save or a request for work that the store does not accept; nothing was stored."""

    def __init__(
        self, reason: str, what: str, *, broken: tuple[BrokenRule, ...] = (), hint: str | None = None
    ) -> None:
        super().__init__(what, hint=hint)
        self.reason = reason
        """A word for programs: rules, shape, not-yours, closed, disabled, key-reused, unknown-unit, not-invited."""
        self.broken = broken

    def messages(self, language: str = "en") -> list[str]:
        """What to tell the annotator; one line a broken rule."""
        return [rule.message(language) for rule in self.broken] or [self.what]


class StoreError(LapsusError):
    """Trouble of the database: the disk is full, or the server is gone. Nothing was acknowledged."""


class Chain(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Another campaign whose votes choose the units of this one, as they come in."""

    campaign: str
    rule: TargetRule | None = None
    """Which votes admit a unit; the scheme's own rule where none is given."""


class Plan(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A campaign as one decides on it: a file in git, a form in the browser or a command all give this."""

    name: str
    """Short name for addresses and commands: small letters, digits and hyphens."""
    scheme: str
    title: Text = EMPTY
    per_unit: int = 1
    """How many people judge each unit."""
    who: Literal["everybody", "named", "open"] = "everybody"
    """Everybody with an account; named people and those invited; or whoever comes with the campaign's link."""
    people: tuple[str, ...] = ()
    batch: int = 1
    """How many documents a person is given at a time."""
    order: Literal["random", "given"] = "random"
    seed: int = 0
    minutes: int = 60
    """After this long without a save, what a person has not judged goes to others."""
    chain: Chain | None = None
    show_votes: bool = False
    """Whether annotators see the votes of the campaign that this one is chained to."""

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "title", freeze(self.title))
        for broken, what in (
            (
                not _SLUG.fullmatch(self.name) or len(self.name) > 60,
                "is no short name: use a-z, 0-9 and hyphens",
            ),
            (not 1 <= self.per_unit <= 1000, "per_unit is from 1 to 1000"),
            (not 1 <= self.batch <= 100, "batch is from 1 to 100 documents"),
            (not 1 <= self.minutes <= 100_000, "minutes are from 1 to 100,000"),
            (not -(2**63) <= self.seed < 2**63, "seed is a whole number of at most 64 bits"),
            (bool(self.people) and self.who != "named", "people are listed only where who is 'named'"),
            (self.show_votes and self.chain is None, "show_votes needs a chain: whose votes?"),
            (any(len(words) > LONGEST_NAME for words in self.title.values()), "the title is too long"),
        ):
            if broken:
                raise InvalidError(what, where=f"campaign {self.name!r}")

    @property
    def titles(self) -> Text:
        """The title in each language; the short name where there is none."""
        return self.title or {"en": self.name}


class Campaign(msgspec.Struct, frozen=True):
    """A campaign."""

    name: str
    scheme: str
    version: str
    plan: Plan
    state: CampaignState
    created: datetime


class Person(msgspec.Struct, frozen=True):
    """Somebody who manages, decides or judges; also an annotator that came with imported data."""

    id: int
    name: str
    role: Role
    email: str | None
    language: str | None
    created: datetime
    disabled: datetime | None
    has_password: bool


class Invitation(msgspec.Struct, frozen=True):
    """What a link offers."""

    role: Role
    campaign: str | None
    expires: datetime
    uses_left: int | None
    needs_password: bool


class ApiToken(msgspec.Struct, frozen=True):
    """A key by which a program acts for a person. The key itself is shown once and not kept."""

    id: int
    name: str
    created: datetime
    revoked: datetime | None


class UnitPlace(msgspec.Struct, frozen=True):
    """Which unit: its number in the campaign, and what it is in the document."""

    number: int
    document: str
    segment: str | None


class Reservation(msgspec.Struct, frozen=True):
    """Units that are now a person's to judge, until the time given or the next save."""

    units: tuple[UnitPlace, ...]
    until: datetime


class Nothing(msgspec.Struct, frozen=True):
    """Why there is nothing to judge: `wait` where units that others hold may still come back."""

    reason: Literal["done", "wait", "paused", "closed"]


class OwnUnit(msgspec.Struct, frozen=True):
    """A unit of one person's."""

    number: int
    document: str
    segment: str | None
    state: UnitState
    revision: int
    submitted: int
    """The newest submitted revision; 0: none."""


class SaveRequest(msgspec.Struct, frozen=True):
    """Answers to keep. The key is made once by whoever answers and sent again with every try."""

    key: str
    campaign: str
    unit: int
    person: int
    answers: Mapping[str, Answer]
    submitted: bool = True
    """Whether the person is through with it; a draft may be incomplete."""
    given_at: datetime | None = None
    """When the answer was given, by the client's clock."""
    seconds: float | None = None
    client: str = ""
    base_revision: int | None = None
    """The revision that the person saw when answering; 0: none."""


class Saved(msgspec.Struct, frozen=True):
    """The answer to a save, given only once it is on disk."""

    key: str
    revision: int
    stored_at: datetime
    replaced: int | None
    """A revision that came from elsewhere since `base_revision`, and that this one now stands in front of."""
    extra: bool
    """Whether it came after the unit had gone to others: it is kept, but is not one of the planned judgments."""


class StoredJudgment(msgspec.Struct, frozen=True):
    """One revision of what a person said about a unit."""

    unit: int
    document: str
    segment: str | None
    person: int
    annotator: str
    revision: int
    submitted: bool
    version: str
    answers: Mapping[str, Answer]
    given_at: datetime | None
    stored_at: datetime
    seconds: float | None
    client: str


class PersonProgress(msgspec.Struct, frozen=True):
    """How far a person is in a campaign."""

    person: int
    name: str
    submitted: int
    drafts: int
    held: int
    """Units that the person holds and has not submitted."""
    seconds: float
    last_at: datetime | None


class Progress(msgspec.Struct, frozen=True):
    """How far a campaign is. A unit is complete when it has all the judgments that the plan asks for."""

    documents: int
    units: int
    complete: int
    wanted: int
    """Judgments in all."""
    done: int
    people: tuple[PersonProgress, ...]


class Flag(msgspec.Struct, frozen=True):
    """A unit that somebody wants to talk about."""

    id: int
    unit: int
    person: int
    name: str
    text: str
    at: datetime
    settled: datetime | None


class Event(msgspec.Struct, frozen=True):
    """Something that was done, by whom and when."""

    at: datetime
    person: str | None
    campaign: str | None
    what: str
    details: Mapping[str, Any]


class Added(msgspec.Struct, frozen=True):
    """What adding documents did; `known` ones were there already."""

    documents: int
    units: int
    known: int


class Imported(msgspec.Struct, frozen=True):
    """What an import did; `known` judgments were there already."""

    documents: int
    judgments: int
    known: int
    people: int
    passed_over: Mapping[str, int]
    """Judgments under other schemes, which belong to other campaigns."""
