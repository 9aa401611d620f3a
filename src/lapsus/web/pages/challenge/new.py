"""A new challenge: what `lapsus challenge create` does, from a form."""

from typing import Any, Final, get_args

import msgspec
from msgspec import UNSET, UnsetType
from starlette.datastructures import FormData
from starlette.responses import Response
from starlette.routing import BaseRoute

from lapsus.challenge.published import PUBLISHED_THRESHOLD
from lapsus.challenge.service import create, create_from_campaign
from lapsus.challenge.testset import SCHEME
from lapsus.errors import InputError, LapsusError
from lapsus.store.challenge_records import Challenge, ChallengePlan, Feedback
from lapsus.web.forms import fields, posts, told, upload
from lapsus.web.page_routes import for_managers, managing, title, twins
from lapsus.web.pages.setup.forms import Fields, whole_number, words_in
from lapsus.web.pages.setup.wizard import ChoiceResponse
from lapsus.web.rendering import redirect
from lapsus.web.request_context import RequestContext
from lapsus.web.security import LARGEST_UPLOAD
from lapsus.web.uploads import given_name, on_disk
from lapsus.word_files import LANGUAGES


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


def routes() -> list[BaseRoute]:
    """The form, and where it is sent."""
    return [
        *twins("/challenges/new", for_managers(new_challenge_page), _FORM),
        *posts("/challenges/new", make, who=managing, again=_form_again, template=_FORM, files=1),
    ]


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
