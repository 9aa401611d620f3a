"""A campaign as its annotators see it: their judgments and flags and, for those who manage it, everybody's."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from msgspec import UNSET
from starlette.datastructures import FormData
from starlette.responses import Response

from lapsus.campaign_stats.unit_search import folded
from lapsus.kinds import kinds_of, likely_kind
from lapsus.kinds.text import shortened
from lapsus.model import Answer, Scheme, Unit, in_language
from lapsus.store import Flag, RefusedError, StoredJudgment
from lapsus.store.people import new_secret
from lapsus.web.addresses import at
from lapsus.web.forms import field, number, ours, posts
from lapsus.web.page_routes import campaign_here, filled, title
from lapsus.web.rendering import redirect
from lapsus.web.request_context import RequestContext, number_in
from lapsus.web.schemas import (
    BegunDraftResponse,
    CampaignPage,
    FlagResponse,
    JudgmentResponse,
    JudgmentsResponse,
    OwnProgressResponse,
    PersonRow,
    ReplyResponse,
    WaitingResponse,
)


def begun_drafts(visit: RequestContext) -> list[BegunDraftResponse]:
    """The campaigns that somebody has begun to set up, each with where to go on."""
    return [
        BegunDraftResponse(
            in_language(titles, visit.language)
            if (titles := one.plan.get("title"))
            else one.plan.get("name") or one.id[:8],
            at(f"/new/{one.id}/{_where(one.plan)}"),
            one.changed,
        )
        for one in visit.store.drafts.of_person(visit.me.id)
    ]


def _where(plan: Mapping[str, Any]) -> str:
    """The step on which a draft goes on."""
    return "review" if "scheme" in plan else "data" if "name" not in plan else "guideline"


def own_progress(visit: RequestContext, campaign: str) -> OwnProgressResponse:
    """How far the person is."""
    found = visit.store.progress.of_person(campaign, visit.me.id)
    total = visit.store.progress.own_total(campaign, visit.me.id)
    if found is None:
        return OwnProgressResponse(0, 0, 0, total, stopped=False)
    return OwnProgressResponse(found.submitted, found.drafts, found.held, total, found.stopped)


def campaign_page(visit: RequestContext) -> CampaignPage:
    """A campaign, your work in it and, for managers, everybody's."""
    campaign = campaign_here(visit)
    # The newest where the address makes no sense.
    asked = number_in(visit.request.query_params.get("before", ""))
    words = visit.request.query_params.get("q", "")[:LONGEST_SEARCH]
    said = own_judgments(visit, campaign.name, asked, words)
    return filled(
        CampaignPage,
        said,
        campaign,
        campaign=campaign.name,
        title=title(visit, campaign),
        invited=campaign.plan.who == "everybody"
        or visit.store.progress.of_person(campaign.name, visit.me.id) is not None,
        complete=visit.store.progress.is_complete(campaign.name),
        progress=own_progress(visit, campaign.name),
        waiting=[
            WaitingResponse(unit.number, unit.document, unit.revision > 0)
            for unit in visit.store.assignment.own_units(visit.me.id, campaign.name, held=True)
        ],
        older=asked is not None,
        words=words,
        flags=visible_flags(visit, campaign.name),
        people=_people(visit, campaign.name) if visit.manages else UNSET,
    )


def _people(visit: RequestContext, campaign: str) -> list[PersonRow]:
    programs = visit.store.browsing.programs(campaign)
    rows = [
        filled(PersonRow, one, done=one.submitted, program=one.person in programs)
        for one in visit.store.progress.of_campaign(campaign).people
    ]
    # As on the page from which it is managed: who holds units and has saved nothing for the longest comes first.
    return sorted(
        rows, key=lambda row: (row.program, not row.held, row.last_at or datetime.min.replace(tzinfo=UTC))
    )


PAGE = 50
CHUNK = 500
"""How many judgments are looked through at a time."""
LONGEST_SEARCH = 200


def own_judgments(
    visit: RequestContext, campaign: str, before: int | None = None, words: str = "", *, limit: int = PAGE
) -> JudgmentsResponse:
    """A page of what the person said, the last unit first; only what has all the words, where some are given.

    Words are looked for in the text that was judged, in the answers as the reader sees them, and in remarks.
    """
    wanted = folded(words[:LONGEST_SEARCH]).split()
    scheme = visit.store.campaigns.scheme(campaign)
    found: list[JudgmentResponse] = []
    for stored, is_hidden in _newest_first(visit, campaign, scheme, before, CHUNK if wanted else limit + 1):
        unit = visit.store.units.visible(campaign, stored.unit)
        response = _response(visit, scheme, stored, unit, is_hidden)
        if wanted:
            text = folded("\n".join(_said(scheme, stored, response, unit, is_hidden)))
            if not all(word in text for word in wanted):
                continue
        if len(found) == limit:
            return JudgmentsResponse(found, found[-1].unit)
        found.append(response)
    return JudgmentsResponse(found, None)


def _newest_first(
    visit: RequestContext, campaign: str, scheme: Scheme, before: int | None, chunk: int
) -> Iterator[tuple[StoredJudgment, bool]]:
    """The person's judgments, and whether the text of each is still hidden."""
    judgments, me = visit.store.judgments, visit.me.id
    while some := judgments.of_person(campaign, me, limit=chunk, before=before):
        # A text would show what comes after a unit of the same document that is still to be judged.
        may_hide = scheme.unit.context == "before"
        hidden = judgments.after_unjudged(campaign, me, [one.unit for one in some]) if may_hide else ()
        yield from ((stored, stored.unit in hidden) for stored in some)
        if len(some) < chunk:
            return
        before = some[-1].unit


def _said(
    scheme: Scheme, stored: StoredJudgment, response: JudgmentResponse, unit: Unit, is_hidden: bool
) -> Iterator[str]:
    """All that is searched."""
    yield from response.said
    for id, kind in kinds_of(scheme).items():
        if not kind.is_countable and isinstance(remark := stored.answers.get(id), str):
            yield remark
    if not is_hidden:
        yield from ([unit.target.text] if unit.target else [segment.text for segment in unit.visible])


def _response(
    visit: RequestContext, scheme: Scheme, stored: StoredJudgment, unit: Unit, is_hidden: bool
) -> JudgmentResponse:
    """Without the time it took. What is hidden is shown without its text."""
    return filled(
        JudgmentResponse,
        stored,
        text="" if is_hidden else excerpt(unit),
        language=unit.language,
        said=in_words(scheme, stored.answers, visit.language),
    )


def in_words(scheme: Scheme, answers: Mapping[str, Answer], language: str) -> list[str]:
    """What was said, question by question, with labels by their names; how many of each, of spans."""
    kinds = kinds_of(scheme)
    found: list[str] = []
    for id, kind in kinds.items():
        if (answer := answers.get(id)) is not None:
            is_only = sum(type(other) is type(kind) for other in kinds.values()) == 1
            fitting = kind if kind.holds(answer) else likely_kind(answer)(kind.question, kind.labels)
            found.extend(fitting.in_words(answer, language, is_only))
    return found


def excerpt(unit: Unit) -> str:
    """The text that was judged, or its beginning; of a whole document, the last there is to read."""
    segment = unit.target or unit.visible[-1]
    return shortened(segment.text)


def visible_flags(visit: RequestContext, campaign: str, unit: int | None = None) -> list[FlagResponse]:
    """The flags of a campaign, or of one unit, that a person may see."""
    person = None if visit.manages else visit.me.id
    return flag_responses(visit, visit.store.flags.all(campaign, unit=unit, person=person))


def find_flag(visit: RequestContext, campaign: str, id: int) -> Flag:
    """A flag that a person may see; of others' they are told that there is none."""
    flag = visit.store.flags.get(campaign, id)
    if flag is None or not (visit.manages or flag.person == visit.me.id):
        raise RefusedError("no-flag", f"there is no flag {id}")
    return flag


def flag_responses(visit: RequestContext, flags: Iterable[Flag]) -> list[FlagResponse]:
    """Flags as the reader sees them, with what was said to each."""
    me = visit.me.id
    return [
        filled(
            FlagResponse,
            flag,
            settled=flag.settled is not None,
            own=flag.person == me,
            unread=flag.person == me and flag.unread,
            replies=[filled(ReplyResponse, reply, own=reply.person == me) for reply in flag.replies],
        )
        for flag in flags
    ]


def act(visit: RequestContext, form: FormData) -> Response:
    """Do what a button of the thread says, and go back."""
    name = campaign_here(visit).name
    flag = find_flag(visit, name, _flag(form))
    _do(visit, name, flag, field(form, "do"), form)
    return redirect(visit, ours(field(form, "back"), f"/c/{name}#flag-{flag.id}"))


def _do(visit: RequestContext, name: str, flag: Flag, what: str, form: FormData) -> None:
    flags, me = visit.store.flags, visit.me.id
    if what not in ("reply", "seen", "settle", "reopen"):
        raise RefusedError("shape", "a flag is replied to, settled, opened again or seen")
    if what == "seen":
        flags.have_read(name, flag.id, me)
        return
    # What stands in the field goes along, whichever button is pressed.
    if text := field(form, "text").strip():
        key = field(form, "key") or new_secret()
        flags.reply(f"{me}:{key}", name, flag.id, me, text)
    now = flags.get(name, flag.id)
    is_settled = now is not None and now.settled is not None
    # Pressed twice, or by two at a time: it is as wanted.
    if what in ("settle", "reopen") and is_settled != (what == "settle"):
        flags.set_settled(name, flag.id, what == "settle", by=me)


def _flag(form: FormData) -> int:
    if (flag := number(form, "flag")) is None:
        raise RefusedError("no-flag", "no flag was named")
    return flag


ROUTES = [*posts("/c/{campaign:slug}/flags", act, who=lambda visit: visit.me)]
