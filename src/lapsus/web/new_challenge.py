"""The form for a new challenge, and the plan that it says."""

from __future__ import annotations

from typing import Any, Final, get_args

from msgspec import UNSET

from lapsus.challenge.published import PUBLISHED_THRESHOLD
from lapsus.challenge.testset import SCHEME
from lapsus.errors import InputError, LapsusError
from lapsus.store.challenge_records import ChallengePlan, Feedback
from lapsus.web.campaign_view import title
from lapsus.web.challenge_schemas import NewChallengePage
from lapsus.web.request_context import RequestContext
from lapsus.web.security import LARGEST_UPLOAD
from lapsus.web.setup_schemas import ChoiceResponse
from lapsus.web.wizard_forms import Fields, whole_number, words_in

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
        error=UNSET if error is None else " · ".join(filter(None, (error.where, error.what))),
        hint=UNSET if error is None or error.hint is None else error.hint,
    )


def challenge_plan(fields: Fields, source: str) -> ChallengePlan:
    """What the form says."""
    feedback: Any = fields.get("feedback", "overall")
    if feedback not in get_args(Feedback):
        raise InputError("feedback is none, overall or all")
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
        raise InputError(f"{text[:20]!r} is no number", where="threshold") from None
