"""Challenges: their boards, handing in runs, and what each run said."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import cast
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from lapsus.challenge.service import publish, submit
from lapsus.errors import LapsusError, UsageError
from lapsus.store import RefusedError
from lapsus.store.challenge_records import ChallengeState, Team
from lapsus.web.challenge_schemas import ChallengesResponse
from lapsus.web.challenge_view import (
    Viewer,
    challenge_page,
    cookie,
    find_viewer,
    handing_in,
    known_challenges,
    run_page,
    submit_page,
)
from lapsus.web.cookies import DAY
from lapsus.web.rendering import redirect, with_cookies
from lapsus.web.request_context import RequestContext
from lapsus.web.routes.forms import field, posts, upload
from lapsus.web.routes.pages_as_json import Page, Show, twins
from lapsus.web.routes.uploads import given_name
from lapsus.web.security import RateLimit

CHECKING = 2
"""How many runs are checked and scored at a time: each may keep a core busy for some seconds."""
REFUSED = RateLimit("refused runs", 20, 3600)
"""Of a team: whoever mends a run needs a few tries, whoever wants to keep the server busy many."""
_DAYS = 180


def routes() -> list[BaseRoute]:
    """All of them, each page with its twin."""
    base = "/challenge/{name:slug}"
    return [
        *twins("/challenges", _known(challenges)),
        *twins(base, _known(board)),
        *twins(f"{base}/run/{{run:number}}", _known(run)),
        *twins(f"{base}/submit", _known(form)),
        *posts(f"{base}/submit", hand_in, who=_team, again=form_again, files=1, fields=10, at_once=CHECKING),
        *posts(f"{base}/state", set_state, who=_deciding, fields=10),
        *posts(f"{base}/teams", add_team, who=_deciding, fields=10),
        *twins(f"{base}/team/{{token:secret}}", enter),
        Route(f"{base}/testset.zip", testset),
    ]


def _known(show: Show) -> Show:
    """Strangers are led to the page for signing in, and back afterwards; programs are told."""

    def checked(visit: RequestContext) -> Page | Response:
        try:
            return show(visit)
        except RefusedError as error:
            if error.reason != "sign-in" or visit.wants_json:
                raise
            return redirect(visit, f"/sign-in?next={quote(visit.request.url.path)}")

    return checked


def challenges(visit: RequestContext) -> Page:
    """All challenges."""
    makes = visit.person is not None and visit.person.role == "manager"
    return Page("challenge/list.html", ChallengesResponse(known_challenges(visit), makes))


def board(visit: RequestContext) -> Page:
    """The leaderboard."""
    return Page("challenge/board.html", challenge_page(_viewer(visit)))


def run(visit: RequestContext) -> Page:
    """One run with its scores and, turn by turn, its answers."""
    return Page("challenge/run.html", run_page(_viewer(visit), visit.request.path_params["run"]))


def form(visit: RequestContext) -> Page:
    """Where a team hands in a run."""
    return Page("challenge/submit.html", submit_page(_viewer(visit)))


def form_again(visit: RequestContext, fields: FormData, error: LapsusError) -> Page:
    """The same, with everything that is wrong with the run."""
    return Page("challenge/submit.html", submit_page(_viewer(visit), error))


def hand_in(visit: RequestContext, fields: FormData) -> Page | Response:
    """Check, score and keep a run."""
    viewer, file, called = _viewer(visit), upload(fields, "file"), field(fields, "run").strip()
    team = handing_in(viewer)
    if file is None:
        raise RefusedError("no-file", "no file came with the form")
    if not REFUSED.take(visit.store, str(team.id)):
        raise RefusedError("too-many-refused", "too many runs of the team were refused within an hour")
    with tempfile.TemporaryDirectory(prefix="lapsus-run-") as folder:
        path = Path(folder) / "run.zip"
        with path.open("wb") as copy:
            shutil.copyfileobj(file.file, copy)
        kept = submit(
            visit.store,
            viewer.challenge.name,
            path,
            team,
            run=called or None,
            called=given_name(file),
        )
    REFUSED.forgive(visit.store, str(team.id))
    if visit.wants_json:
        return Page("challenge/run.html", run_page(viewer, kept.id), 201)
    return redirect(visit, f"/challenge/{kept.challenge}/run/{kept.id}")


def set_state(visit: RequestContext, fields: FormData) -> Response:
    """Freeze, open again, or reveal."""
    state, name = cast(ChallengeState, field(fields, "state")), _viewer(visit).challenge.name
    try:
        visit.store.challenges.set_state(name, state, by=visit.me.id)
    except UsageError as error:
        raise RefusedError("bad-request", error.what) from error
    return redirect(visit, f"/challenge/{name}")


def add_team(visit: RequestContext, fields: FormData) -> Page:
    """A team's link, which is shown once."""
    viewer, team = _viewer(visit), field(fields, "team").strip()
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
        viewer = _viewer(visit)
        if not viewer.takes_test_set:
            raise RefusedError("no-team", "the test set is for teams, by their link")
        name = viewer.challenge.name
        with tempfile.TemporaryDirectory(prefix="lapsus-testset-") as folder:
            path = Path(folder) / "testset.zip"
            publish(visit.store, name, path)
            headers = {"Content-Disposition": f'attachment; filename="{name}-testset.zip"'}
            return with_cookies(visit, Response(path.read_bytes(), 200, headers, "application/zip"))

    return await run_in_threadpool(make)


def _viewer(visit: RequestContext) -> Viewer:
    return find_viewer(visit, visit.request.path_params["name"])


def _team(visit: RequestContext) -> Team:
    return handing_in(_viewer(visit))


def _deciding(visit: RequestContext) -> None:
    if not _viewer(visit).decides:
        raise RefusedError("not-manager", "only managers may do this")
