"""The challenges, and the board of each: freezing, revealing, teams and the test set."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import cast

import msgspec
from msgspec import UNSET, UnsetType
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from lapsus.challenge.leaderboard import FIRST, Leaderboard, check_measure
from lapsus.challenge.service import challenge_board, challenge_floors, coarse_board, coarse_runs, publish
from lapsus.errors import UsageError
from lapsus.store import RefusedError
from lapsus.store.challenge_records import ChallengeState
from lapsus.web.cookies import DAY
from lapsus.web.forms import field, posts
from lapsus.web.page_routes import Page, twins
from lapsus.web.pages.challenge.run import CHECKING, _team, form, form_again, hand_in, run
from lapsus.web.pages.challenge.viewer import (
    ChallengeResponse,
    MeasureResponse,
    OwnRun,
    Viewer,
    challenge_response,
    cookie,
    for_known,
    measures,
    own_run,
    rounding,
    viewer_here,
)
from lapsus.web.rendering import redirect, with_cookies
from lapsus.web.request_context import RequestContext


class ChallengesResponse(msgspec.Struct, frozen=True):
    """The challenges that one may see."""

    challenges: list[ChallengeResponse]
    makes: bool
    """Whether one may make another."""


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
        **rounding(viewer, language),
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


_DAYS = 180


def routes() -> list[BaseRoute]:
    """All of them, each page with its twin."""
    base = "/challenge/{name:slug}"
    return [
        *twins("/challenges", for_known(challenges)),
        *twins(base, for_known(board)),
        *twins(f"{base}/run/{{run:number}}", for_known(run)),
        *twins(f"{base}/submit", for_known(form)),
        *posts(f"{base}/submit", hand_in, who=_team, again=form_again, files=1, fields=10, at_once=CHECKING),
        *posts(f"{base}/state", set_state, who=_deciding, fields=10),
        *posts(f"{base}/teams", add_team, who=_deciding, fields=10),
        *twins(f"{base}/team/{{token:secret}}", enter),
        Route(f"{base}/testset.zip", testset),
    ]


def challenges(visit: RequestContext) -> Page:
    """All challenges."""
    makes = visit.person is not None and visit.person.role == "manager"
    return Page("challenge/list.html", ChallengesResponse(known_challenges(visit), makes))


def board(visit: RequestContext) -> Page:
    """The leaderboard."""
    return Page("challenge/board.html", challenge_page(viewer_here(visit)))


def set_state(visit: RequestContext, fields: FormData) -> Response:
    """Freeze, open again, or reveal."""
    state, name = cast(ChallengeState, field(fields, "state")), viewer_here(visit).challenge.name
    try:
        visit.store.challenges.set_state(name, state, by=visit.me.id)
    except UsageError as error:
        raise RefusedError("bad-request", error.what) from error
    return redirect(visit, f"/challenge/{name}")


def add_team(visit: RequestContext, fields: FormData) -> Page:
    """A team's link, which is shown once."""
    viewer, team = viewer_here(visit), field(fields, "team").strip()
    name = viewer.challenge.name
    token = visit.store.challenges.add_team(name, team, by=visit.me.id)
    link = f"{str(visit.request.base_url).rstrip('/')}/challenge/{name}/team/{token}"
    return Page("challenge/board.html", challenge_page(viewer, (team, link)), 201)


def enter(visit: RequestContext) -> Response:
    """Take a team's secret out of the address and into the browser's keeping."""
    name, token = visit.request.path_params["name"], visit.request.path_params["token"]
    if visit.store.challenges.team_of_token(name, token) is None:
        raise RefusedError("invitation", "this link was renewed, or is wrong")
    response = redirect(visit, f"/challenge/{name}/submit")
    visit.set_cookie(response, cookie(name), token, _DAYS * DAY)
    return response


async def testset(request: Request) -> Response:
    """The dialogues without their labels, to take home."""

    def make() -> Response:
        visit = RequestContext(request)
        viewer = viewer_here(visit)
        if not viewer.takes_test_set:
            raise RefusedError("no-team", "the test set is for teams, by their link")
        name = viewer.challenge.name
        with tempfile.TemporaryDirectory(prefix="lapsus-testset-") as folder:
            path = Path(folder) / "testset.zip"
            publish(visit.store, name, path)
            headers = {"Content-Disposition": f'attachment; filename="{name}-testset.zip"'}
            return with_cookies(visit, Response(path.read_bytes(), 200, headers, "application/zip"))

    return await run_in_threadpool(make)


def _deciding(visit: RequestContext) -> None:
    if not viewer_here(visit).decides:
        raise RefusedError("not-manager", "only managers may do this")
