"""What the pages of a challenge show, as records."""

from __future__ import annotations

from datetime import datetime

import msgspec
from msgspec import UNSET, UnsetType

from lapsus.challenge.board import Board
from lapsus.challenge.browsing import Confusion, DialogueSeen
from lapsus.challenge.figures import Figures
from lapsus.web.setup_shapes import ChoiceShape


class ChallengeShape(msgspec.Struct, frozen=True):
    """A challenge."""

    name: str
    title: str
    state: str
    feedback: str
    threshold: float
    allowed: int
    """Runs that a team may hand in for each language."""
    languages: list[str]
    turns: dict[str, int]
    """How many turns are scored, by language."""
    created: datetime
    url: str


class ChallengesShape(msgspec.Struct, frozen=True):
    """The challenges that one may see."""

    challenges: list[ChallengeShape]
    makes: bool
    """Whether one may make another."""


class NewChallengePage(msgspec.Struct, frozen=True):
    """The form for a new challenge, and what was wrong with the last try."""

    fields: dict[str, str]
    campaigns: list[ChoiceShape]
    """Those whose votes can be a test set."""
    megabytes: int
    error: str | UnsetType = UNSET
    hint: str | UnsetType = UNSET


class MeasureShape(msgspec.Struct, frozen=True):
    """A column of a board."""

    name: str
    label: str
    lower: bool
    """Whether lower is better."""
    kind: str
    """`labels` or `distributions`."""


class OwnRun(msgspec.Struct, frozen=True):
    """A run in a list."""

    id: int
    name: str
    team: str | None
    language: str
    at: datetime
    url: str


class TeamShape(msgspec.Struct, frozen=True):
    """Who takes part."""

    name: str
    runs: int


class ChallengePage(msgspec.Struct, frozen=True):
    """The board of a challenge, as far as one may see it."""

    challenge: ChallengeShape
    decides: bool
    """Whether one may freeze and reveal."""
    team: str | None
    sees: str
    """`all` runs, one's `own` runs with scores, their `names` only, or `nothing`."""
    language: str
    by: str
    measures: list[MeasureShape]
    runs: list[OwnRun]
    board: Board | None
    teams: list[TeamShape] | UnsetType = UNSET
    link: str | UnsetType = UNSET
    """The link of a team that was just added. Shown once."""
    link_team: str | UnsetType = UNSET


class ProblemShape(msgspec.Struct, frozen=True):
    """What is wrong with a run."""

    kind: str
    file: str
    turn: str | None
    message: str


class SubmitPage(msgspec.Struct, frozen=True):
    """The form for handing in a run, and why the last one was not taken."""

    challenge: ChallengeShape
    team: str
    left: dict[str, int]
    """How many runs the team has left, by language."""
    runs: list[OwnRun]
    megabytes: int
    reason: str | None = None
    message: str | None = None
    problems: list[ProblemShape] = []
    problem_count: int = 0


class Browser(msgspec.Struct, frozen=True):
    """A run turn by turn, a few dialogues at a time."""

    show: str
    system: str | None
    page: int
    pages: int
    found: int
    """Dialogues in which there is something to show."""
    dialogues: list[DialogueSeen]
    confusion: Confusion


class RunPage(msgspec.Struct, frozen=True):
    """One run."""

    challenge: ChallengeShape
    run: OwnRun
    measures: list[MeasureShape]
    figures: Figures | None
    """None where the scores are not to be seen yet."""
    systems: dict[str, Figures]
    one_hot: int
    out_of_place: int
    browser: Browser | None
    """None where the votes are not to be seen yet."""
