"""The challenges, a form for new ones, and the board of each: freezing, revealing, teams and the test set."""

import tempfile
from pathlib import Path
from typing import Any, Final, cast, get_args

import msgspec
from msgspec import UNSET, UnsetType
from starlette.datastructures import FormData
from starlette.responses import Response

from lapsus.challenge.leaderboard import FIRST, Leaderboard, check_measure
from lapsus.challenge.published import PUBLISHED_THRESHOLD
from lapsus.challenge.service import (
    challenge_board,
    challenge_floors,
    coarse_board,
    coarse_runs,
    create,
    create_from_campaign,
    publish,
)
from lapsus.challenge.testset import SCHEME
from lapsus.errors import InputError, LapsusError, UsageError
from lapsus.store import RefusedError
from lapsus.store.challenge_records import Challenge, ChallengePlan, ChallengeState, Feedback
from lapsus.web.forms import field, fields, given_name, on_disk, posts, told, upload
from lapsus.web.page_routes import Page, filled, for_known, for_managers, managing, single, title, twins
from lapsus.web.pages.challenge.viewer import (
    ChallengeResponse,
    MeasureResponse,
    OwnRun,
    challenge_response,
    cookie,
    measures,
    own_run,
    rounding,
    viewer_here,
)
from lapsus.web.pages.setup.forms import Fields, whole_number, words_in
from lapsus.web.pages.setup.wizard import ChoiceResponse
from lapsus.web.rendering import redirect, with_cookies
from lapsus.web.request_context import RequestContext
from lapsus.web.security import LARGEST_UPLOAD
from lapsus.web.sessions import DAY
from lapsus.word_files import LANGUAGES


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
    answers: int | UnsetType = UNSET
    """Where scores are rounded: how many runs in a language are answered with scores."""
    answers_left: int | UnsetType = UNSET
    teams: list[TeamResponse] | UnsetType = UNSET
    link: str | UnsetType = UNSET
    """The link of a team that was just added. Shown once."""
    link_team: str | UnsetType = UNSET


def challenges(visit: RequestContext) -> ChallengesResponse:
    """All of them for those with an account; for a team, the one that it takes part in."""
    makes = visit.person is not None and visit.person.role == "manager"
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
    return ChallengesResponse([challenge_response(visit, one) for one in found], makes)


def board(visit: RequestContext, **more: Any) -> ChallengePage:
    """The leaderboard, as far as one may see it."""
    viewer = viewer_here(visit)
    challenge = viewer.challenge
    query = visit.request.query_params
    languages = list(challenge_floors(challenge))
    language = query.get("track", languages[0])
    if language not in languages:
        raise RefusedError("not-found", "the challenge has no such language")
    by, runs = check_measure(query.get("by", FIRST)), viewer.runs()
    shown = None
    coarse = coarse_runs(visit.store, challenge, runs) if viewer.sees == "rounded" else {}
    if viewer.sees in ("all", "own"):
        shown = challenge_board(visit.store, challenge, language=language, by=by, runs=runs)
    elif viewer.sees == "rounded":
        shown = coarse_board(challenge, runs, coarse, language, by)
    counts = [run.team for run in runs]
    teams = visit.store.challenges.teams(challenge.name) if viewer.decides else []
    return filled(
        ChallengePage,
        viewer,
        challenge=challenge_response(visit, challenge),
        team=viewer.team.name if viewer.team else None,
        language=language,
        by=by,
        measures=measures(),
        runs=[own_run(run) for run in runs],
        board=shown,
        teams=[TeamResponse(team.name, counts.count(team.name)) for team in teams]
        if viewer.decides
        else UNSET,
        **rounding(viewer, language, coarse),
        **more,
    )


_DAYS = 180


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
    name, team = viewer_here(visit).challenge.name, field(fields, "team").strip()
    token = visit.store.challenges.add_team(name, team, by=visit.me.id)
    made = board(visit, link_team=team, link=visit.link(f"/challenge/{name}/team/{token}"))
    return Page("challenge/board.html", made, 201)


def enter(visit: RequestContext) -> Response:
    """Move a team's secret from the address into a cookie."""
    name, token = visit.request.path_params["name"], visit.request.path_params["token"]
    if visit.store.challenges.team_of_token(name, token) is None:
        raise RefusedError("invitation", "this link was renewed, or is wrong")
    response = redirect(visit, f"/challenge/{name}/submit")
    visit.set_cookie(response, cookie(name), token, _DAYS * DAY)
    return response


def testset(visit: RequestContext) -> Response:
    """The dialogues without their labels, to take home."""
    viewer = viewer_here(visit)
    if not viewer.takes_test_set:
        raise RefusedError("no-team", "the test set is for teams, by their link")
    name = viewer.challenge.name
    with tempfile.TemporaryDirectory(prefix="lapsus-testset-") as folder:
        path = Path(folder) / "testset.zip"
        publish(visit.store, name, path)
        headers = {"Content-Disposition": f'attachment; filename="{name}-testset.zip"'}
        return with_cookies(visit, Response(path.read_bytes(), 200, headers, "application/zip"))


def _deciding(visit: RequestContext) -> None:
    if not viewer_here(visit).decides:
        raise RefusedError("not-manager", "only managers may do this")


class NewChallengePage(msgspec.Struct, frozen=True):
    """The form for a new challenge, and what was wrong with the last try."""

    fields: dict[str, str]
    campaigns: list[ChoiceResponse]
    """Those whose votes can be a test set."""
    megabytes: int
    error: str | UnsetType = UNSET
    hint: str | UnsetType = UNSET


_FORM: Final = "challenge/new.html"
_EMPTY: Final = {
    "only": "",
    "threshold": f"{PUBLISHED_THRESHOLD:g}",
    "runs": "3",
    "feedback": "overall",
    "language": "",
    "campaign": "",
}


def new_challenge_page(
    visit: RequestContext, fields: Fields | None = None, error: LapsusError | None = None
) -> NewChallengePage:
    """The form as it was filled in, and what was wrong with it."""
    return NewChallengePage(
        fields={**_EMPTY, **(fields or {})},
        campaigns=[
            ChoiceResponse(one.name, title(visit, one))
            for one in visit.store.campaigns.all()
            if one.scheme == SCHEME
        ],
        megabytes=LARGEST_UPLOAD // 1_000_000,
        **told(error, visit.language),
    )


def challenge_plan(fields: Fields, source: str) -> ChallengePlan:
    """What the form says."""
    feedback: Any = fields.get("feedback", "overall")
    if feedback not in get_args(Feedback):
        raise InputError("feedback-is-none-overall-or-all")
    runs = whole_number(fields, "runs")
    return ChallengePlan(
        name=fields.get("name", "").strip(),
        title=words_in(fields, "title"),
        threshold=_share(fields.get("threshold", "")),
        runs=3 if runs is None else runs,
        feedback=feedback,
        source=source,
    )


def _share(text: str) -> float:
    try:
        return float(text.strip() or PUBLISHED_THRESHOLD)
    except ValueError:
        raise InputError("no-number", where="threshold", text=text[:20]) from None


def _form_again(visit: RequestContext, sent: FormData, error: LapsusError) -> NewChallengePage:
    return new_challenge_page(visit, fields(sent), error)


def make(visit: RequestContext, sent: FormData) -> Response:
    """Make the challenge."""
    return redirect(visit, f"/challenge/{_made(visit, sent).name}")


def _made(visit: RequestContext, sent: FormData) -> Challenge:
    by, file, given = visit.me.id, upload(sent, "file"), fields(sent)
    if file is not None and given.get("campaign"):
        raise InputError("choose-file-campaign-not", where="file")
    if campaign := given.get("campaign", ""):
        return create_from_campaign(visit.store, challenge_plan(given, campaign), campaign, by=by)
    with on_disk(file) as path:
        plan = challenge_plan(given, "" if file is None else given_name(file))
        only = given.get("only", "").strip() or None
        language = given["language"] if given.get("language") in LANGUAGES else None
        return create(visit.store, plan, path, only=only, language=language, by=by)


_BASE = "/challenge/{name:slug}"
ROUTES = [
    *twins("/challenges", for_known(challenges), "challenge/list.html"),
    *twins(_BASE, for_known(board), "challenge/board.html"),
    *posts(f"{_BASE}/state", set_state, who=_deciding, fields=10),
    *posts(f"{_BASE}/teams", add_team, who=_deciding, fields=10),
    *twins(f"{_BASE}/team/{{token:secret}}", enter),
    single(f"{_BASE}/testset.zip", testset),
    *twins("/challenges/new", for_managers(new_challenge_page), _FORM),
    *posts("/challenges/new", make, who=managing, again=_form_again, template=_FORM, files=1),
]
