"""Challenges: their boards, handing in runs, and what each run said."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import cast
from urllib.parse import quote

import anyio
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from lapsus.challenge.desk import publish, submit
from lapsus.errors import InputError, UsageError
from lapsus.store import RefusedError
from lapsus.store.challenge_records import ChallengeState
from lapsus.web.challenge_shapes import ChallengesShape
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
from lapsus.web.rendering import redirect, with_cookies
from lapsus.web.routes.forms import field, upload
from lapsus.web.routes.twins import Page, Show, respond, twins
from lapsus.web.routes.uploads import given_name
from lapsus.web.visit import Visit

CHECKING = 2
"""How many runs are checked and scored at a time: each may keep a core busy for some seconds."""
_DAYS = 180

Post = Callable[[Viewer, FormData], Page | Response]


def routes() -> list[BaseRoute]:
    """All of them, each page with its twin."""
    base = "/challenge/{name:slug}"
    return [
        *twins("/challenges", _known(challenges)),
        *twins(base, _known(board)),
        *twins(f"{base}/run/{{run:number}}", _known(run)),
        *twins(f"{base}/submit", _known(form)),
        *_posts(f"{base}/submit", hand_in, who=handing_in),
        *_posts(f"{base}/state", set_state, who=_deciding),
        *_posts(f"{base}/teams", add_team, who=_deciding),
        *twins(f"{base}/team/{{token:secret}}", enter),
        Route(f"{base}/testset.zip", testset),
    ]


def _known(show: Show) -> Show:
    """Strangers are led to the page for signing in, and back afterwards; programs are told."""

    def checked(visit: Visit) -> Page | Response:
        try:
            return show(visit)
        except RefusedError as error:
            if error.reason != "sign-in" or visit.wants_json:
                raise
            return redirect(visit, f"/sign-in?next={quote(visit.request.url.path)}")

    return checked


def _posts(path: str, work: Post, *, who: Callable[[Viewer], object]) -> list[BaseRoute]:
    checking = anyio.CapacityLimiter(CHECKING)

    async def post(request: Request) -> Response:
        visit = Visit(request)
        # Who it is comes first: of those who may not, nothing is read.
        viewer = await run_in_threadpool(_viewer, visit)
        await run_in_threadpool(who, viewer)
        async with request.form(max_files=1, max_fields=10) as fields:
            token = fields.get("csrf")
            visit.check_csrf(token if isinstance(token, str) else None)
            return await anyio.to_thread.run_sync(
                respond, visit, lambda _: work(viewer, fields), limiter=checking
            )

    return [Route(f"{path}.json", post, methods=["POST"]), Route(path, post, methods=["POST"])]


def challenges(visit: Visit) -> Page:
    """All challenges."""
    makes = visit.person is not None and visit.person.role == "manager"
    return Page("challenge/list.html", ChallengesShape(known_challenges(visit), makes))


def board(visit: Visit) -> Page:
    """The leaderboard."""
    return Page("challenge/board.html", challenge_page(_viewer(visit)))


def run(visit: Visit) -> Page:
    """One run with its scores and, turn by turn, its answers."""
    return Page("challenge/run.html", run_page(_viewer(visit), visit.request.path_params["run"]))


def form(visit: Visit) -> Page:
    """Where a team hands in a run."""
    return Page("challenge/submit.html", submit_page(_viewer(visit)))


def hand_in(viewer: Viewer, fields: FormData) -> Page | Response:
    """Check, score and keep a run; or say everything that is wrong with it."""
    file, called, team = upload(fields, "file"), field(fields, "run").strip(), handing_in(viewer)
    if file is None:
        error = RefusedError("no-file", "no file came with the form")
        return Page("challenge/submit.html", submit_page(viewer, error), 422)
    with tempfile.TemporaryDirectory(prefix="lapsus-run-") as folder:
        path = Path(folder) / "run.zip"
        with path.open("wb") as copy:
            shutil.copyfileobj(file.file, copy)
        try:
            kept = submit(
                viewer.visit.store,
                viewer.challenge.name,
                path,
                team,
                run=called or None,
                called=given_name(file),
            )
        except (RefusedError, InputError) as error:
            return Page("challenge/submit.html", submit_page(viewer, error), 422)
    if viewer.visit.wants_json:
        return Page("challenge/run.html", run_page(viewer, kept.id), 201)
    return redirect(viewer.visit, f"/challenge/{kept.challenge}/run/{kept.id}")


def set_state(viewer: Viewer, fields: FormData) -> Response:
    """Freeze, open again, or reveal."""
    state = cast(ChallengeState, field(fields, "state"))
    name = viewer.challenge.name
    try:
        viewer.visit.store.set_challenge_state(name, state, by=viewer.visit.me.id)
    except UsageError as error:
        raise RefusedError("bad-request", error.what) from error
    return redirect(viewer.visit, f"/challenge/{name}")


def add_team(viewer: Viewer, fields: FormData) -> Page:
    """A team's link, which is shown once."""
    name, team = viewer.challenge.name, field(fields, "team").strip()
    token = viewer.visit.store.add_team(name, team, by=viewer.visit.me.id)
    root = str(viewer.visit.request.base_url).rstrip("/")
    link = f"{root}/challenge/{name}/team/{token}"
    return Page("challenge/board.html", challenge_page(viewer, (team, link)), 201)


def enter(visit: Visit) -> Response:
    """Take a team's secret out of the address and into the browser's keeping."""
    name, token = visit.request.path_params["name"], visit.request.path_params["token"]
    if visit.store.team_of_token(name, token) is None:
        raise RefusedError("invitation", "this link was renewed, or is wrong")
    response = redirect(visit, f"/challenge/{name}/submit")
    secure = visit.request.url.scheme == "https"
    response.set_cookie(
        cookie(name), token, max_age=_DAYS * 86400, httponly=True, samesite="lax", secure=secure
    )
    return response


async def testset(request: Request) -> Response:
    """The dialogues without their labels, to take home."""

    def make() -> Response:
        visit = Visit(request)
        name = _viewer(visit).challenge.name
        with tempfile.TemporaryDirectory(prefix="lapsus-testset-") as folder:
            path = Path(folder) / "testset.zip"
            publish(visit.store, name, path)
            headers = {"Content-Disposition": f'attachment; filename="{name}-testset.zip"'}
            return with_cookies(visit, Response(path.read_bytes(), 200, headers, "application/zip"))

    return await run_in_threadpool(make)


def _viewer(visit: Visit) -> Viewer:
    return find_viewer(visit, visit.request.path_params["name"])


def _deciding(viewer: Viewer) -> None:
    if not viewer.decides:
        raise RefusedError("not-manager", "only managers may do this")
