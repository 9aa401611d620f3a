"""Challenges as people see them: organisers everything, teams their own, all the rest when it is revealed."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import msgspec

from lapsus.analysis.scores import SHOWN
from lapsus.challenge.feedback import MOST_SCORED, grain
from lapsus.challenge.leaderboard import FIRST, check_measure
from lapsus.challenge.published import CLASSIFICATION
from lapsus.challenge.run_details import WANTED, Wanted, confusion, dialogues
from lapsus.challenge.run_problems import RunError
from lapsus.challenge.run_scores import Answers, RunScores
from lapsus.challenge.service import (
    challenge_board,
    challenge_floors,
    challenge_tracks,
    coarse_board,
    coarse_runs,
    entrant,
)
from lapsus.errors import LapsusError, UsageError
from lapsus.measures.scores import BREAKDOWN_MEASURES, LOWER_IS_BETTER
from lapsus.model import in_language
from lapsus.store import RefusedError
from lapsus.store.challenge_records import Challenge, StoredRun, Team
from lapsus.web.addresses import at
from lapsus.web.challenge_schemas import (
    Browser,
    ChallengePage,
    ChallengeResponse,
    MeasureResponse,
    OwnRun,
    ProblemResponse,
    RunPage,
    SubmitPage,
    TeamResponse,
)
from lapsus.web.page_words import refusal
from lapsus.web.request_context import RequestContext, number_in
from lapsus.web.security import LARGEST_UPLOAD

PAGE: Final = 5
"""Dialogues on a page."""
_ANSWERS = msgspec.json.Decoder(Answers)


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


def find_viewer(visit: RequestContext, name: str) -> Viewer:
    """Who asks for a challenge: somebody with an account, or a team by its link. Strangers are asked to sign in."""
    secret = visit.token or visit.cookie(cookie(name))
    team = None if secret is None else visit.store.challenges.team_of_token(name, secret)
    if team is None:
        visit.me  # noqa: B018  raises for strangers
    return Viewer(visit, find_challenge(visit, name), team)


def find_challenge(visit: RequestContext, name: str) -> Challenge:
    """The challenge of that name."""
    try:
        return visit.store.challenges.get(name)
    except UsageError as error:
        raise RefusedError("no-challenge", error.what) from error


def challenge_response(visit: RequestContext, challenge: Challenge) -> ChallengeResponse:
    """A challenge as pages name it."""
    plan, known = challenge.plan, challenge_floors(challenge)
    return ChallengeResponse(
        name=challenge.name,
        title=in_language(plan.titles, visit.language),
        state=challenge.state,
        feedback=plan.feedback,
        threshold=plan.threshold,
        allowed=plan.runs,
        languages=list(known),
        turns={language: floors.prior.n for language, floors in known.items()},
        created=challenge.created,
        url=at(f"/challenge/{challenge.name}"),
    )


def known_challenges(visit: RequestContext) -> list[ChallengeResponse]:
    """All of them for those with an account; for a team, the one that it takes part in."""
    found = visit.store.challenges.all()
    if visit.person is None:
        found = [
            one
            for one in found
            if (secret := visit.cookie(cookie(one.name)))
            and visit.store.challenges.team_of_token(one.name, secret) is not None
        ]
        if not found:
            raise RefusedError("sign-in", "nobody is signed in")
    return [challenge_response(visit, one) for one in found]


def challenge_page(viewer: Viewer, link: tuple[str, str] | None = None) -> ChallengePage:
    """The board, as far as one may see it. `link` is that of a team that was just added, after its name."""
    visit, challenge = viewer.visit, viewer.challenge
    query = visit.request.query_params
    languages = list(challenge_floors(challenge))
    language = query.get("track", languages[0])
    if language not in languages:
        raise RefusedError("not-found", "the challenge has no such language")
    by, runs = check_measure(query.get("by", FIRST)), viewer.runs()
    board = None
    if viewer.sees in ("all", "own"):
        board = challenge_board(visit.store, challenge, language=language, by=by, runs=runs)
    elif viewer.sees == "rounded":
        board = coarse_board(challenge, runs, coarse_runs(visit.store, challenge, runs), language, by)
    page = ChallengePage(
        challenge=challenge_response(visit, challenge),
        decides=viewer.decides,
        team=viewer.team.name if viewer.team else None,
        sees=viewer.sees,
        language=language,
        by=by,
        measures=measures(),
        runs=[own_run(run) for run in runs],
        board=board,
        takes_test_set=viewer.takes_test_set,
        **_rounding(viewer, language),
    )
    if not viewer.decides:
        return page
    counts = [run.team for run in runs]
    teams = [
        TeamResponse(team.name, counts.count(team.name))
        for team in visit.store.challenges.teams(challenge.name)
    ]
    page = msgspec.structs.replace(page, teams=teams)
    return msgspec.structs.replace(page, link_team=link[0], link=link[1]) if link else page


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
    return OwnRun(
        run.id, run.name, run.team, run.language, run.at, at(f"/challenge/{run.challenge}/run/{run.id}")
    )


def submit_page(viewer: Viewer, error: LapsusError | None = None) -> SubmitPage:
    """The form, and what was wrong with the last try."""
    visit, challenge, team = viewer.visit, viewer.challenge, handing_in(viewer)
    runs = [run for run in visit.store.challenges.runs(challenge.name) if run.team == team.name]
    counts = [run.language for run in runs]
    page = SubmitPage(
        challenge=challenge_response(visit, challenge),
        team=team.name,
        left={
            language: max(challenge.plan.runs - counts.count(language), 0)
            for language in challenge_floors(challenge)
        },
        runs=[own_run(run) for run in runs],
        megabytes=LARGEST_UPLOAD // 1_000_000,
    )
    if isinstance(error, RunError):
        problems = [
            ProblemResponse(one.kind, one.file, one.turn, one.text(visit.language)) for one in error.problems
        ]
        changes = {"reason": "run", "problems": problems, "problem_count": error.count}
        return msgspec.structs.replace(page, **changes)
    if error is not None:
        reason = error.reason if isinstance(error, RefusedError) else "shape"
        message = refusal(reason, visit.language) if isinstance(error, RefusedError) else None
        return msgspec.structs.replace(page, reason=reason, message=message or error.what)
    return page


def handing_in(viewer: Viewer) -> Team:
    """The team that hands in; others have nothing to do there."""
    if viewer.team is None:
        raise RefusedError("no-team", "only teams hand in runs, by their link")
    return viewer.team


def run_page(viewer: Viewer, id: int) -> RunPage:
    """One run, as far as one may see it."""
    visit, challenge = viewer.visit, viewer.challenge
    run = next((run for run in viewer.runs() if run.id == id), None)
    if run is None:
        # The same answer whether there is none or it is somebody else's.
        raise RefusedError("no-run", f"there is no run {id}")
    figures = _figures(viewer, run)
    return RunPage(
        challenge=challenge_response(visit, challenge),
        run=own_run(run),
        measures=measures(),
        figures=figures.all if figures else None,
        systems=figures.systems if figures else {},
        one_hot=figures.one_hot if figures else 0,
        out_of_place=figures.out_of_place if figures else 0,
        browser=_browser(viewer, run) if viewer.sees_all else None,
        **_rounding(viewer, run.language),
    )


def _figures(viewer: Viewer, run: StoredRun) -> RunScores | None:
    """The scores of a run as one may see them; None where one may not."""
    if viewer.sees == "rounded":
        return coarse_runs(viewer.visit.store, viewer.challenge, viewer.runs()).get(run.id)
    return entrant(run).figures if viewer.sees in ("all", "own") else None


def _rounding(viewer: Viewer, language: str) -> dict[str, Any]:
    """By how many turns the scores are rounded, and how many runs have any; nothing where they are exact."""
    if viewer.sees != "rounded":
        return {}
    turns = challenge_floors(viewer.challenge)[language].prior.n
    return {"rounded_turns": grain(turns), "most_scored": MOST_SCORED}


def _browser(viewer: Viewer, run: StoredRun) -> Browser:
    store, challenge = viewer.visit.store, viewer.challenge
    query = viewer.visit.request.query_params
    wanted: Wanted = next((known for known in WANTED if known == query.get("show")), "errors")
    track = challenge_tracks(store, challenge)[run.language]
    system = query.get("system") if query.get("system") in track.systems else None
    answers = _ANSWERS.decode(store.challenges.run_answers(run.id))
    found = dialogues(track, answers, challenge.plan.threshold, wanted, system)
    pages = max(-(-len(found) // PAGE), 1)
    page = min(max(number_in(query.get("page", "")) or 1, 1), pages)
    return Browser(
        show=wanted,
        system=system,
        page=page,
        pages=pages,
        found=len(found),
        dialogues=found[(page - 1) * PAGE : page * PAGE],
        confusion=confusion(track, answers, challenge.plan.threshold),
    )
