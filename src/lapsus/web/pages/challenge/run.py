"""Handing in a run, and what each run said."""

import shutil
import tempfile
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType
from starlette.datastructures import FormData
from starlette.responses import Response

from lapsus.challenge.run_details import WANTED, Confusion, DialogueSeen, Wanted, confusion, dialogues
from lapsus.challenge.run_scores import Answers, ScoreValues
from lapsus.challenge.run_validation import RunError
from lapsus.challenge.service import challenge_floors, challenge_tracks, coarse_runs, entrant, submit
from lapsus.errors import LapsusError
from lapsus.notices import Notice
from lapsus.store import RefusedError
from lapsus.store.challenge_records import StoredRun, Team
from lapsus.web.forms import field, given_name, posts, upload
from lapsus.web.page_routes import Page, filled, for_known, twins
from lapsus.web.page_words import refusal
from lapsus.web.pages.challenge.viewer import (
    ChallengeResponse,
    MeasureResponse,
    OwnRun,
    Viewer,
    challenge_response,
    handing_in,
    measures,
    own_run,
    rounding,
    viewer_here,
)
from lapsus.web.rendering import redirect
from lapsus.web.request_context import RequestContext, number_in
from lapsus.web.security import LARGEST_UPLOAD, RateLimit


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
    browser: Browser | None
    """None where the votes are not to be seen yet."""
    systems: dict[str, ScoreValues] = {}
    one_hot: int = 0
    out_of_place: int = 0
    rounded_turns: int | UnsetType = UNSET
    answers: int | UnsetType = UNSET
    answers_left: int | UnsetType = UNSET
    """As on the board."""


PAGE: Final = 5
"""Dialogues on a page."""
_ANSWERS = msgspec.json.Decoder(Answers)


def submit_page(visit: RequestContext, error: LapsusError | None = None) -> SubmitPage:
    """The form with which a team hands in a run, and what was wrong with the last try."""
    viewer = viewer_here(visit)
    challenge, team = viewer.challenge, handing_in(viewer)
    runs = [run for run in visit.store.challenges.runs(challenge.name) if run.team == team.name]
    counts = [run.language for run in runs]
    return SubmitPage(
        challenge=challenge_response(visit, challenge),
        team=team.name,
        left={
            language: max(challenge.plan.runs - counts.count(language), 0)
            for language in challenge_floors(challenge)
        },
        runs=[own_run(run) for run in runs],
        megabytes=LARGEST_UPLOAD // 1_000_000,
        **_why_not(error, visit.language),
    )


def _why_not(error: LapsusError | None, language: str) -> dict[str, Any]:
    """Why a run was not taken."""
    if isinstance(error, RunError):
        problems = [filled(ProblemResponse, one, message=one.text(language)) for one in error.problems]
        return {"reason": "run", "problems": problems, "problem_count": error.count}
    if isinstance(error, RefusedError):
        return {"reason": error.reason, "message": refusal(error.reason, language) or error.what}
    return {} if error is None else {"reason": "shape", "message": error.what}


def run_page(visit: RequestContext, id: int | None = None) -> RunPage:
    """One run with its scores and, turn by turn, its answers, as far as one may see them."""
    viewer = viewer_here(visit)
    id = visit.request.path_params["run"] if id is None else id
    run = next((run for run in viewer.runs() if run.id == id), None)
    if run is None:
        # The same answer whether there is none or it is somebody else's.
        raise RefusedError("no-run", Notice("no-run", id=id))
    coarse = coarse_runs(visit.store, viewer.challenge, viewer.runs()) if viewer.sees == "rounded" else {}
    figures = entrant(run).figures if viewer.sees in ("all", "own") else coarse.get(run.id)
    return filled(
        RunPage,
        figures,
        challenge=challenge_response(visit, viewer.challenge),
        run=own_run(run),
        measures=measures(),
        figures=figures.all if figures else None,
        browser=_browser(viewer, run) if viewer.sees_all else None,
        **rounding(viewer, run.language, coarse),
    )


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


CHECKING = 2
"""How many runs are checked and scored at a time: each may keep a core busy for some seconds."""
REFUSED = RateLimit("refused runs", 20, 3600)
"""Of a team: whoever mends a run needs a few tries, whoever wants to keep the server busy many."""


def _form_again(visit: RequestContext, fields: FormData, error: LapsusError) -> SubmitPage:
    return submit_page(visit, error)


def hand_in(visit: RequestContext, fields: FormData) -> Page | Response:
    """Check, score and keep a run."""
    viewer, file, called = viewer_here(visit), upload(fields, "file"), field(fields, "run").strip()
    team = handing_in(viewer)
    if file is None:
        raise RefusedError("no-file", "no file came with the form")
    if not REFUSED.take(visit.store, str(team.id)):
        raise RefusedError("too-many-refused", "too many runs of the team were refused within an hour")
    with tempfile.TemporaryDirectory(prefix="lapsus-run-") as folder:
        path = Path(folder) / "run.zip"
        with path.open("wb") as copy:
            shutil.copyfileobj(file.file, copy)
        name = viewer.challenge.name
        kept = submit(visit.store, name, path, team, run=called or None, called=given_name(file))
    REFUSED.forgive(visit.store, str(team.id))
    if visit.wants_json:
        return Page("challenge/run.html", run_page(visit, kept.id), 201)
    return redirect(visit, f"/challenge/{kept.challenge}/run/{kept.id}")


def _team(visit: RequestContext) -> Team:
    return handing_in(viewer_here(visit))


_FILES = {"files": 1, "fields": 10, "at_once": CHECKING}
_BASE, _FORM = "/challenge/{name:slug}", "challenge/submit.html"
ROUTES = [
    *twins(f"{_BASE}/run/{{run:number}}", for_known(run_page), "challenge/run.html"),
    *twins(f"{_BASE}/submit", for_known(submit_page), _FORM),
    *posts(f"{_BASE}/submit", hand_in, who=_team, again=_form_again, template=_FORM, **_FILES),
]
