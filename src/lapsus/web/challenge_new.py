"""The form for a new challenge, and the plan that it says."""

from __future__ import annotations

from typing import Any, Final

from msgspec import UNSET

from lapsus.challenge.testset import SCHEME
from lapsus.errors import InputError, LapsusError
from lapsus.store.challenge_records import ChallengePlan
from lapsus.web.campaign_view import title
from lapsus.web.challenge_shapes import NewChallengePage
from lapsus.web.security import LARGEST_UPLOAD
from lapsus.web.setup_shapes import ChoiceShape
from lapsus.web.visit import Visit
from lapsus.web.wizard import Fields, whole_number, words_in

_EMPTY: Final = {"only": "", "threshold": "0", "runs": "3", "feedback": "own", "language": "", "campaign": ""}


def new_challenge_page(
    visit: Visit, fields: Fields | None = None, error: LapsusError | None = None
) -> NewChallengePage:
    """The form as it was filled in, and what was wrong with it."""
    return NewChallengePage(
        fields={**_EMPTY, **(fields or {})},
        campaigns=[
            ChoiceShape(one.name, title(visit, one))
            for one in visit.store.campaigns()
            if one.scheme == SCHEME
        ],
        megabytes=LARGEST_UPLOAD // 1_000_000,
        error=UNSET if error is None else " · ".join(filter(None, (error.where, error.what))),
        hint=UNSET if error is None or error.hint is None else error.hint,
    )


def challenge_plan(fields: Fields, source: str) -> ChallengePlan:
    """What the form says."""
    feedback: Any = fields.get("feedback", "own")
    if feedback not in ("own", "none"):
        raise InputError("feedback is own or none")
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
        return float(text.strip() or 0)
    except ValueError:
        raise InputError(f"{text[:20]!r} is no number", where="threshold") from None
