"""Records of talks with systems."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal, TypeAlias

import msgspec

from lapsus.model import EMPTY, Answer
from lapsus.store.collect_plan import Collect, Side
from lapsus.store.records import Credential

LONGEST_REPLY = 20_000
"""Characters that a system may say in one turn."""
TalkState: TypeAlias = Literal["waiting", "open", "done"]


class Turn(msgspec.Struct, frozen=True):
    """Something that was said."""

    position: int
    side: Side
    text: str
    at: datetime


class Talk(msgspec.Struct, frozen=True):
    """A talk so far."""

    id: int
    campaign: str
    person: int
    partner: int | None
    """Who speaks for the system, where a person does."""
    system: str
    topic: int | None
    """Which of the plan's."""
    state: TalkState
    begun: datetime
    last_at: datetime
    failures: int
    """How often the system failed since the last turn."""
    collect: Collect
    turns: tuple[Turn, ...]
    answers: Mapping[str, Mapping[str, Answer]] = EMPTY
    """What the person said of turns, by position, or of the whole, under the empty name."""

    @property
    def awaits(self) -> Side | None:
        """Whose turn it is; nobody's once it is done."""
        return None if self.state == "done" else self.collect.side_at(len(self.turns))

    @property
    def awaits_program(self) -> bool:
        """Whether a program has to reply."""
        return self.state == "open" and self.partner is None and self.awaits == "system"

    def side_of(self, person: int) -> Side:
        """On which side somebody talks."""
        return "system" if person == self.partner else "user"

    def may_end(self, now: datetime) -> bool:
        """Whether the person may end it before it is complete."""
        plan = self.collect
        least = plan.least_exchanges or plan.exchanges
        minutes = (now - self.begun).total_seconds() / 60
        return (
            self.state == "open"
            and plan.exchanged(len(self.turns)) >= least
            and minutes >= plan.least_minutes
        )


class TurnRequest(msgspec.Struct, frozen=True):
    """Something that a person says. The key is made once and sent again with every try."""

    key: str
    talk: int
    person: int
    position: int
    text: str
    credential: Credential | None = None
    holder: str = ""
    """The server that makes the reply."""


class Said(msgspec.Struct, frozen=True):
    """The answer to a turn, given only once it is on disk."""

    key: str
    position: int
    at: datetime
    text: str
    """As it is kept: masked, where the plan says so."""
    awaits_program: bool
    done: bool


class Reply(msgspec.Struct, frozen=True):
    """What a system said, how long it took, and what it cost."""

    text: str
    seconds: float = 0.0
    tokens_read: int = 0
    tokens_written: int = 0


class SystemFigures(msgspec.Struct, frozen=True):
    """Figures of the talks with one system."""

    system: str
    begun: int
    done: int
    open: int
    left: int
    """Begun, not done, and silent for longer than the plan's minutes."""
    quick: int
    """Done in less than the least time."""
    mean_turns: float | None
    """Of those that are done."""
    seconds_median: float | None
    """How long a reply takes."""
    seconds_late: float | None
    """So long or less in 95 of 100 cases."""
    failed: int
    tokens_read: int
    tokens_written: int
    cost: float
