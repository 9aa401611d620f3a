"""What the store keeps of a challenge: its test set, its teams and their runs."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal, TypeAlias

import msgspec
import regex

from lapsus.errors import InvalidError
from lapsus.model import EMPTY, Document, Text, freeze
from lapsus.notices import Notice
from lapsus.store.records import LONGEST_NAME

ChallengeState: TypeAlias = Literal["open", "frozen", "revealed"]
"""`open`: teams hand in runs; `frozen`: they no longer can; `revealed`: everybody sees everything, for good."""
Feedback: TypeAlias = Literal["none", "overall", "all"]
"""What teams see of their own runs before everything is revealed: no scores; rounded ones on all dialogues together;
or all there is, from which the labels of single turns can be worked out."""
Counts: TypeAlias = tuple[int, int, int]
"""How many annotators said O, T and X."""

_SLUG = regex.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class ChallengePlan(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A challenge as its organiser decides on it."""

    name: str
    """Short name for addresses and commands: small letters, digits and hyphens."""
    title: Text = EMPTY
    threshold: float = 0.0
    """The share of votes that a gold label needs."""
    runs: int = 3
    """How many runs a team may hand in for each language."""
    feedback: Feedback = "overall"
    source: str = ""
    """What the test set was made from."""

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "title", freeze(self.title))
        for broken, what in (
            (
                not _SLUG.fullmatch(self.name) or len(self.name) > 60,
                Notice("no-short-name-use"),
            ),
            (not 0 <= self.threshold <= 1, Notice("threshold-from-0-1")),
            (not 1 <= self.runs <= 100, Notice("team-runs-1-100")),
            (any(len(words) > LONGEST_NAME for words in self.title.values()), Notice("title-too-long")),
        ):
            if broken:
                raise InvalidError(what, where=Notice("challenge", name=self.name))

    @property
    def titles(self) -> Text:
        """The title in each language; the short name where there is none."""
        return self.title or {"en": self.name}


class Challenge(msgspec.Struct, frozen=True):
    """A challenge."""

    id: int
    name: str
    plan: ChallengePlan
    state: ChallengeState
    created: datetime
    floors: str
    """JSON, as it was given."""


class GoldDocument(msgspec.Struct, frozen=True):
    """A dialogue of a test set with what people said of its turns."""

    document: Document
    language: str
    votes: Mapping[str, Counts]
    """By turn; only the turns that are scored."""


class Team(msgspec.Struct, frozen=True):
    """Who takes part."""

    id: int
    name: str
    created: datetime


class NewRun(msgspec.Struct, frozen=True):
    """A run that was found to be sound. `answers`, `sums` and `scores` are JSON, kept as they are."""

    language: str
    digest: str
    answers: str
    sums: str
    scores: str
    name: str | None = None
    """`run1`, `run2` and so on where none is given."""


class StoredRun(msgspec.Struct, frozen=True):
    """A run without its answers."""

    id: int
    challenge: str
    team: str | None
    """None: the organisers."""
    language: str
    number: int
    name: str
    at: datetime
    scores: str
