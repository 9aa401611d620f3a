"""What the pages of a challenge show, as records."""

from __future__ import annotations

from datetime import datetime

import msgspec
from msgspec import UNSET, UnsetType

from lapsus.challenge.leaderboard import Leaderboard
from lapsus.challenge.run_details import Confusion, DialogueSeen
from lapsus.challenge.run_scores import ScoreValues
from lapsus.web.setup_schemas import ChoiceResponse


class ChallengeResponse(msgspec.Struct, frozen=True):
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


class ChallengesResponse(msgspec.Struct, frozen=True):
    """The challenges that one may see."""

    challenges: list[ChallengeResponse]
    makes: bool
    """Whether one may make another."""


class NewChallengePage(msgspec.Struct, frozen=True):
    """The form for a new challenge, and what was wrong with the last try."""

    fields: dict[str, str]
    campaigns: list[ChoiceResponse]
    """Those whose votes can be a test set."""
    megabytes: int
    error: str | UnsetType = UNSET
    hint: str | UnsetType = UNSET


class MeasureResponse(msgspec.Struct, frozen=True):
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


class TeamResponse(msgspec.Struct, frozen=True):
    """Who takes part."""

    name: str
    runs: int


class ChallengePage(msgspec.Struct, frozen=True):
    """The board of a challenge, as far as one may see it."""

    challenge: ChallengeResponse
    decides: bool
    """Whether one may freeze and reveal."""
    team: str | None
    sees: str
    """`all` runs, one's `own` with scores, those with `rounded` scores, their `names` only, or `nothing`."""
    language: str
    by: str
    measures: list[MeasureResponse]
    runs: list[OwnRun]
    board: Leaderboard | None
    takes_test_set: bool
    rounded_turns: int | UnsetType = UNSET
    """Where scores are rounded: by what so many turns can change."""
    most_scored: int | UnsetType = UNSET
    """Where scores are rounded: how many runs in a language have any."""
    teams: list[TeamResponse] | UnsetType = UNSET
    link: str | UnsetType = UNSET
    """The link of a team that was just added. Shown once."""
    link_team: str | UnsetType = UNSET


class ProblemResponse(msgspec.Struct, frozen=True):
    """What is wrong with a run."""

    kind: str
    file: str
    turn: str | None
    message: str


class SubmitPage(msgspec.Struct, frozen=True):
    """The form for handing in a run, and why the last one was not taken."""

    challenge: ChallengeResponse
    team: str
    left: dict[str, int]
    """How many runs the team has left, by language."""
    runs: list[OwnRun]
    megabytes: int
    reason: str | None = None
    message: str | None = None
    problems: list[ProblemResponse] = []
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

    challenge: ChallengeResponse
    run: OwnRun
    measures: list[MeasureResponse]
    figures: ScoreValues | None
    """None where the scores are not to be seen yet."""
    systems: dict[str, ScoreValues]
    one_hot: int
    out_of_place: int
    browser: Browser | None
    """None where the votes are not to be seen yet."""
    rounded_turns: int | UnsetType = UNSET
    most_scored: int | UnsetType = UNSET
    """As on the board."""
