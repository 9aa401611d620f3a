"""The viewer of a challenge, and what they may see."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from lapsus.analysis.scores import SHOWN
from lapsus.challenge.feedback import MOST_ANSWERED, grain
from lapsus.challenge.published import CLASSIFICATION
from lapsus.challenge.run_scores import RunScores
from lapsus.challenge.service import challenge_floors
from lapsus.errors import UsageError
from lapsus.measures.scores.breakdown import BREAKDOWN_MEASURES, LOWER_IS_BETTER
from lapsus.model import in_language
from lapsus.store import RefusedError
from lapsus.store.challenge_records import Challenge, StoredRun, Team
from lapsus.web.addresses import at
from lapsus.web.page_routes import filled
from lapsus.web.request_context import RequestContext


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


class Viewer(NamedTuple):
    """Who looks at a challenge."""

    visit: RequestContext
    challenge: Challenge
    team: Team | None

    @property
    def manages(self) -> bool:
        """Whether one sees everything at all times."""
        return self.visit.person is not None and self.visit.manages

    @property
    def decides(self) -> bool:
        """Whether one may freeze, reveal and add teams."""
        return self.visit.person is not None and self.visit.person.role == "manager"

    @property
    def sees_all(self) -> bool:
        """Whether everybody's runs are shown, and the votes."""
        return self.manages or self.challenge.state == "revealed"

    @property
    def sees(self) -> str:
        """`all` runs, one's `own` with scores, those with `rounded` scores, their `names`, or `nothing`."""
        if self.sees_all:
            return "all"
        if self.team is None:
            return "nothing"
        return {"all": "own", "overall": "rounded", "none": "names"}[self.challenge.plan.feedback]

    @property
    def takes_test_set(self) -> bool:
        """Whether one may have the dialogues: teams and those who manage at all times, everybody in the end."""
        return self.team is not None or self.sees_all

    def runs(self) -> list[StoredRun]:
        """The runs that one may know of."""
        found = self.visit.store.challenges.runs(self.challenge.name)
        if self.sees_all:
            return found
        return [run for run in found if self.team is not None and run.team == self.team.name]


def cookie(name: str) -> str:
    """Where a browser keeps a team's secret for a challenge."""
    return f"team-{name}"


def viewer_here(visit: RequestContext) -> Viewer:
    """Who asks for the challenge that the address names: somebody with an account, or a team by its link."""
    name = str(visit.request.path_params["name"])
    secret = visit.token or visit.cookie(cookie(name))
    team = None if secret is None else visit.store.challenges.team_of_token(name, secret)
    if team is None:
        visit.me  # noqa: B018  raises for strangers
    try:
        return Viewer(visit, visit.store.challenges.get(name), team)
    except UsageError as error:
        raise RefusedError("no-challenge", error.what) from error


def challenge_response(visit: RequestContext, challenge: Challenge) -> ChallengeResponse:
    """A challenge as pages name it."""
    plan, known = challenge.plan, challenge_floors(challenge)
    return filled(
        ChallengeResponse,
        challenge,
        plan,
        title=in_language(plan.titles, visit.language),
        allowed=plan.runs,
        languages=list(known),
        turns={language: floors.prior.n for language, floors in known.items()},
        url=at(f"/challenge/{challenge.name}"),
    )


def measures() -> list[MeasureResponse]:
    """The columns of a board."""
    return [
        MeasureResponse(
            name,
            str(BREAKDOWN_MEASURES[name]),
            name in LOWER_IS_BETTER,
            "labels" if name in CLASSIFICATION else "distributions",
        )
        for name in SHOWN
    ]


def own_run(run: StoredRun) -> OwnRun:
    """A run in a list."""
    return filled(OwnRun, run, url=at(f"/challenge/{run.challenge}/run/{run.id}"))


def handing_in(viewer: Viewer) -> Team:
    """The team that hands in; others have nothing to do there."""
    if viewer.team is None:
        raise RefusedError("no-team", "only teams hand in runs, by their link")
    return viewer.team


def rounding(viewer: Viewer, language: str, shown: Mapping[int, RunScores]) -> dict[str, Any]:
    """The rounding of scores in turns, and the budget of answers; empty where scores are exact."""
    if viewer.sees != "rounded":
        return {}
    turns = challenge_floors(viewer.challenge)[language].prior.n
    used = sum(run.language == language and run.id in shown for run in viewer.runs())
    return {"rounded_turns": grain(turns), "answers": MOST_ANSWERED, "answers_left": MOST_ANSWERED - used}
