"""The store's records, immutable."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, TypeAlias

import msgspec

from lapsus.errors import LapsusError, UsageError
from lapsus.model import Answer, Judgment
from lapsus.model.judgment import PROGRAM
from lapsus.schemes import BrokenRule
from lapsus.schemes.answer_rules import Procedure
from lapsus.store.plan import Chain as Chain
from lapsus.store.plan import Plan as Plan

Role: TypeAlias = Literal["manager", "adjudicator", "annotator"]
CampaignState: TypeAlias = Literal["draft", "open", "paused", "closed"]
"""A draft hands nothing out; once it was opened, it is none again."""
UnitState: TypeAlias = Literal["reserved", "done", "released", "extra"]
"""`reserved`: held by a person; `done`: submitted; `released`: returned to the pool, by hand or after its time;
`extra`: answered after it was returned, when others had all its places."""

LONGEST_NAME = 200
"""Characters that a name may have."""


def is_programs(judgment: Judgment) -> bool:
    """Whether a judgment says that a program gave it."""
    return judgment.metadata.get(PROGRAM) is True


class RefusedError(LapsusError):
    """A save or a request for work that the store does not accept; nothing was stored."""

    def __init__(
        self, reason: str, what: str, *, broken: tuple[BrokenRule, ...] = (), hint: str | None = None
    ) -> None:
        super().__init__(what, hint=hint)
        self.reason = reason
        """A word for programs: rules, shape, not-yours, closed, disabled, stopped, key-reused, not-invited, …"""
        self.broken = broken

    def messages(self, language: str = "en") -> list[str]:
        """What to tell the annotator; one line a broken rule."""
        return [rule.message(language) for rule in self.broken] or [self.what]


class StoreError(LapsusError):
    """Trouble of the database: the disk is full, or the server is gone. Nothing was acknowledged."""


class UnknownNameError(UsageError):
    """No campaign, challenge or person of that name is in the database; perhaps it is in another one."""


class Campaign(msgspec.Struct, frozen=True):
    """A campaign: documents judged under one version of a guideline, by a plan."""

    name: str
    scheme: str
    """The id of its guideline."""
    version: str
    """The guideline's."""
    plan: Plan
    state: CampaignState
    created: datetime
    stage: Literal["pilot", "main"] = "main"
    archived: datetime | None = None
    """Since when it is out of the lists. What is archived is closed."""


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
    program: bool = False
    """Whether it is a program: a detector or a language model."""


class Invitation(msgspec.Struct, frozen=True):
    """What an invitation's link gives to whoever opens it."""

    role: Role
    campaign: str | None
    expires: datetime
    uses_left: int | None
    """None: any number."""
    needs_password: bool


class ApiToken(msgspec.Struct, frozen=True):
    """A key by which a program acts for a person. The key itself is shown once and not kept."""

    id: int
    name: str
    created: datetime
    revoked: datetime | None
    person: int
    owner: str
    """Whose it is, by name."""


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
    """The reply to somebody who asks for units and gets none.

    `wait`: units that others hold may still come back; `begin`: consent or instructions come first;
    `stopped`: the person failed the checks.
    """

    reason: Literal["done", "wait", "draft", "paused", "closed", "begin", "stopped"]


class OwnUnit(msgspec.Struct, frozen=True):
    """A unit that a person holds or has judged, in a list of all of them."""

    number: int
    document: str
    segment: str | None
    state: UnitState
    revision: int
    submitted: int
    """The newest submitted revision; 0: none."""


class Credential(msgspec.Struct, frozen=True):
    """What proves who is saving: the stamp of a session, or the hash of a token."""

    stamp: str | None = None
    token: str | None = None


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
    """How long the person worked on it."""
    client: str = ""
    """The program that sent it, for the record."""
    base_revision: int | None = None
    """The revision that the person saw when answering; 0: none."""
    credential: Credential | None = None
    """Checked in the transaction that stores the answers; None: whoever calls knows the person."""
    suggested: bool = False
    """Whether a program's answer was shown as a suggestion."""
    procedure: Procedure = Procedure()
    """How the person came to the answers."""
    withdrawn: bool = False
    """Whether this draft takes back what the person had submitted: that counts no more, and the unit is open again."""


class Saved(msgspec.Struct, frozen=True):
    """The answer to a save, given only once it is on disk."""

    key: str
    revision: int
    stored_at: datetime
    replaced: int | None
    """A revision that came from elsewhere since `base_revision`, and that this one now stands in front of."""
    extra: bool
    """Whether it came after the unit had gone to others: it is kept, but is not one of the planned judgments."""
    next: int | None = None
    """The unit to go on with: the next that the person holds, from the beginning again after the last."""


class StoredJudgment(msgspec.Struct, frozen=True):
    """One revision of what a person or a program said about a unit."""

    unit: int
    document: str
    segment: str | None
    person: int
    annotator: str
    by_program: bool
    """Its answers stand beside people's and are no vote."""
    revision: int
    submitted: bool
    version: str
    answers: Mapping[str, Answer]
    given_at: datetime | None
    stored_at: datetime
    seconds: float | None
    client: str


class OwnPlace(msgspec.Struct, frozen=True):
    """A unit that a person holds or has judged, with the person's newest answers, drafts included."""

    unit: int
    segment: str | None
    state: UnitState
    revision: int
    submitted: int
    """The newest submitted revision; 0: none."""
    answers: Mapping[str, Answer]
    practice: bool = False


class OwnProgress(msgspec.Struct, frozen=True):
    """How far a person is in a campaign, seen from a document that is open."""

    places: tuple[OwnPlace, ...]
    """The person's units of the document."""
    unjudged: list[int]
    """Units that the person holds and has not submitted, of all documents."""
    done: int
    """Units that the person has submitted, practice aside, as in the next two..."""
    own: int
    """...of how many held or submitted."""
    before: int
    """How many units of the person's come before the document."""
    previous: int | None
    """The last of the person's units in an earlier document."""
    next: int | None
    """The first in a later document."""
    total: int
    """Units that there are for the person: those of the plan, and the checks that come among them."""


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
    stopped: bool
    """Whether the person gets nothing more."""


class Progress(msgspec.Struct, frozen=True):
    """How far a campaign is. A unit is complete when it has all the judgments that the plan asks for."""

    documents: int
    units: int
    complete: int
    wanted: int
    """Judgments that the plan asks for in all."""
    done: int
    """Those of them that were given: all of them just when every unit is complete."""
    surplus: int
    """Judgments beyond what the plan asks of their units, as imports may bring."""
    people: tuple[PersonProgress, ...]


class FlagReply(msgspec.Struct, frozen=True):
    """What was said to a flag."""

    id: int
    person: int
    name: str
    text: str
    at: datetime


class Flag(msgspec.Struct, frozen=True):
    """A unit that somebody wants to talk about, and what was said to that."""

    id: int
    unit: int
    person: int
    name: str
    text: str
    at: datetime
    settled: datetime | None
    seen: int = 0
    """The last reply that its author has read."""
    replies: tuple[FlagReply, ...] = ()

    @property
    def unread(self) -> bool:
        """Whether somebody else has replied since its author read it."""
        return any(reply.id > self.seen and reply.person != self.person for reply in self.replies)


class Event(msgspec.Struct, frozen=True):
    """A line of the audit trail."""

    at: datetime
    by: str | None
    campaign: str | None
    what: str
    details: Mapping[str, Any]


class Chosen(msgspec.Struct, frozen=True):
    """What the target rule of a guideline chose: it names the units to judge by the votes of an earlier guideline."""

    judged: int
    """Units that had such votes."""
    chosen: int
    """Those of them that are to be judged."""
    without: int
    """Documents that came without any votes."""


class Added(msgspec.Struct, frozen=True):
    """What adding documents did; `known` ones were there already."""

    documents: int
    units: int
    known: int
    targets: Chosen | None = None
    """Where the guideline has a target rule: what the votes that came along, or those of the campaign before, chose."""


class Imported(msgspec.Struct, frozen=True):
    """What an import did; `known` judgments were there already."""

    documents: int
    judgments: int
    known: int
    people: int
    passed_over: Mapping[str, int]
    """Judgments under other schemes, which belong to other campaigns."""
