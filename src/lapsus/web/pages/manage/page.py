"""Running a campaign: its state, members, messages, plan and settings, and what people read before they begin."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final, cast

import msgspec
from msgspec import UNSET, UnsetType
from starlette.datastructures import FormData
from starlette.responses import Response

from lapsus.errors import UsageError
from lapsus.formats import read
from lapsus.model import units
from lapsus.model.unit import Targets, screened
from lapsus.notices import Notice
from lapsus.schemes import load_scheme, scheme_names
from lapsus.store import Campaign, CampaignState, Learn, Message, Store, plan_yaml
from lapsus.store.arrivals import PLACEHOLDERS
from lapsus.store.drafts import DraftLine
from lapsus.store.members import Member
from lapsus.store.plan_file import to_yaml
from lapsus.web.forms import field, number, number_of, on_disk, ours, posts, upload, with_error
from lapsus.web.page_routes import (
    Page,
    campaign_here,
    filled,
    for_managers,
    managing,
    signed_in,
    title,
    twins,
)
from lapsus.web.pages.setup.known_units import BLOCKS
from lapsus.web.pages.setup.preview import SummaryResponse, plan_summary, words_of
from lapsus.web.rendering import redirect
from lapsus.web.request_context import RequestContext


class BeginResponse(msgspec.Struct, frozen=True):
    """What is read before the first unit."""

    campaign: str
    title: str
    consent: str
    instructions: str
    error: str | UnsetType = UNSET


class MemberResponse(msgspec.Struct, frozen=True):
    """A person in a campaign, as those see who run it."""

    id: int
    name: str
    program: bool
    judged: int
    held: int
    passed: int
    failed: int
    begun: datetime | None
    stopped: datetime | None
    last_at: datetime | None
    origin: Mapping[str, str]


class MessagesResponse(msgspec.Struct, frozen=True):
    """What one has not read yet."""

    messages: list[Message]


class LearnResponse(msgspec.Struct, frozen=True):
    """Whether a judge learns from the campaign, and how."""

    on: bool
    after: int
    every: int
    without: int
    """Percent of units that are judged without a suggestion."""
    uncertain_first: bool


class ManageResponse(msgspec.Struct, frozen=True):
    """A campaign, for those who run it."""

    campaign: str
    title: str
    scheme: str
    version: str
    state: str
    stage: str
    stages: list[str]
    """What it goes through: a draft, a pilot where the plan has one, open, closed."""
    who: str
    documents: int
    units: int
    complete: int
    wanted: int
    done: int
    members: list[MemberResponse]
    sent: list[Message]
    plan: str
    titles: Mapping[str, str]
    """The title in each language that it is given in."""
    per_unit: int
    summary: list[SummaryResponse]
    """The plan in words."""
    archived: datetime | None
    """Since when it is out of the lists."""
    learn: LearnResponse
    link: str | UnsetType = UNSET
    """A link that was just made. It is shown once."""
    error: str | UnsetType = UNSET


def manage_page(visit: RequestContext, **more: Any) -> ManageResponse:
    """A campaign for those who run it."""
    campaign = campaign_here(visit)
    far = visit.store.progress.of_campaign(campaign.name)
    return filled(
        ManageResponse,
        campaign,
        far,
        campaign=campaign.name,
        title=title(visit, campaign),
        stages=["draft", *(["pilot"] if campaign.plan.pilot else []), "open", "closed"],
        who=campaign.plan.who,
        members=[
            filled(MemberResponse, who, id=who.person, judged=who.submitted)
            for who in sorted(visit.store.members.all(campaign.name), key=_behind_first)
        ],
        sent=visit.store.messages.of_campaign(campaign.name),
        plan=plan_yaml(campaign.plan),
        titles=campaign.plan.title,
        per_unit=campaign.plan.per_unit,
        summary=plan_summary(
            visit,
            campaign.plan,
            visit.store.campaigns.scheme(campaign.name),
            far.documents,
            visit.store.units.planned(campaign.name) if campaign.stage == "pilot" else far.units,
        ),
        learn=_learn(campaign.plan.learn),
        **more,
    )


def _learn(learn: Learn | None) -> LearnResponse:
    """What the switch says; what a plan would begin with where it is off."""
    shown = learn or Learn()
    return filled(LearnResponse, shown, on=learn is not None, without=round(100 * shown.without))


MANAGE = "manage/manage.html"
DAYS = 30
"""How long a link holds that is made here."""


def begin_page(visit: RequestContext) -> Page | Response:
    """What is read before the first unit; those who have read it go on."""
    found = campaign_here(visit)
    if not visit.store.members.must_begin(found.name, visit.me.id):
        return redirect(visit, f"/c/{found.name}/judge")
    return Page("manage/begin.html", _begin_response(visit, found))


def _begin_response(visit: RequestContext, found: Campaign) -> BeginResponse:
    consent, instructions = (words_of(visit, text) for text in (found.plan.consent, found.plan.instructions))
    return BeginResponse(found.name, title(visit, found), consent, instructions)


def begin(visit: RequestContext, form: FormData) -> Page | Response:
    """Note that somebody has read it and, where it is asked for, agrees."""
    found = campaign_here(visit)
    shape = _begin_response(visit, found)
    if shape.consent and field(form, "agree") != "yes":
        return Page("manage/begin.html", filled(BeginResponse, shape, error="agree"), 422)
    visit.store.members.begin(found.name, visit.me.id)
    return redirect(visit, f"/c/{found.name}/judge")


def act(visit: RequestContext, form: FormData) -> ManageResponse | Response:
    """Do what a button of the page says."""
    found, wanted = campaign_here(visit), field(form, "do")
    if wanted == "invite":
        return manage_page(visit, link=_link(visit, found, form))
    if (action := _ACTIONS.get(wanted)) is None:
        raise UsageError("nothing-called-here", wanted=wanted[:40])
    action(visit, found.name, form)
    # Who has joined wants to judge.
    return redirect(visit, f"/c/{found.name}{'' if wanted == 'join' else '/manage'}")


manage_again = with_error(manage_page)
"""The campaign's page for those who run it, with what was wrong with a form on it."""


def _behind_first(who: Member) -> tuple[bool, bool, datetime]:
    """Who holds units and has been silent the longest comes first, programs last."""
    return who.program, not who.held, who.last_at or who.joined


def _link(visit: RequestContext, found: Campaign, form: FormData) -> str:
    many, platform = field(form, "uses") == "any", field(form, "platform")
    token = visit.store.access.invite(
        campaign=found.name, uses=None if many else 1, days=DAYS, by=visit.me.id
    )
    query = f"?{PLACEHOLDERS[platform]}" if platform in PLACEHOLDERS else ""
    return visit.link(f"/join/{token}{query}")


def _person(form: FormData) -> int:
    return number_of(form, "person", Notice("nobody-named"))


def _state(visit: RequestContext, name: str, form: FormData) -> None:
    visit.store.campaigns.set_state(name, cast(CampaignState, field(form, "state")), by=visit.me.id)


def _message(visit: RequestContext, name: str, form: FormData) -> None:
    person = _person(form) if field(form, "person") else None
    visit.store.messages.send(name, field(form, "text"), person=person, by=visit.me.id)


_ACTIONS: Final[Mapping[str, Callable[[RequestContext, str, FormData], object]]] = {
    "state": _state,
    "join": lambda visit, name, form: visit.store.campaigns.add_people(name, [visit.me.name], by=visit.me.id),
    "main": lambda visit, name, form: visit.store.campaigns.open_main(name, by=visit.me.id),
    "release": lambda visit, name, form: visit.store.assignment.give_back(
        _person(form), name, by=visit.me.id
    ),
    "stop": lambda visit, name, form: visit.store.members.stop(name, _person(form), by=visit.me.id),
    "resume": lambda visit, name, form: visit.store.members.resume(name, _person(form), by=visit.me.id),
    "message": _message,
}


def plan(visit: RequestContext) -> Page | Response:
    """A campaign's plan as a file; its twin is the plan as data."""
    found = campaign_here(visit)
    if visit.wants_json:
        return Page(None, found.plan)
    headers = {"Content-Disposition": f'attachment; filename="{found.name}.yaml"'}
    return Response(plan_yaml(found.plan), headers=headers, media_type="text/yaml")


def messages(visit: RequestContext) -> Page | Response:
    """What one has not read yet; every page shows it."""
    if not visit.wants_json:
        return redirect(visit, "/")
    return Page(None, MessagesResponse(visit.store.messages.unread(visit.me.id)))


def have_read(visit: RequestContext, form: FormData) -> Response:
    """Note that a message was read, and go back."""
    if (message := number(form, "message")) is not None:
        visit.store.messages.have_read(visit.me.id, message)
    return redirect(visit, ours(field(form, "back"), "/"))


def draft_of(visit: RequestContext, campaign: Campaign) -> str:
    """Keep a draft that says what a campaign is; the name by which it is found again."""
    store, plan = visit.store, campaign.plan
    tree: dict[str, Any] = msgspec.to_builtins(plan, str_keys=True)
    tree = {key: value for key, value in tree.items() if key != "data"}
    # Known answers from a file beside the plan are not in the plan; they can be uploaded again.
    tree = {key: value for key, value in tree.items() if key not in BLOCKS or value.get("units")}
    tree["name"] = _free_name(store, campaign.name)
    scheme = store.campaigns.scheme(campaign.name)
    if scheme.id not in scheme_names():
        tree["own"] = to_yaml(msgspec.to_builtins(scheme, str_keys=True))
    lines = () if plan.chain is not None else _lines(store, campaign)
    return store.drafts.keep(visit.me.id, tree, lines)


def _free_name(store: Store, name: str) -> str:
    taken = {campaign.name for campaign in store.campaigns.all()}
    return next(new for n in range(2, len(taken) + 3) if (new := f"{name[:55]}-{n}") not in taken)


def _lines(store: Store, campaign: Campaign) -> Iterator[DraftLine]:
    """The documents; where votes chose some of a document's turns, with these as targets."""
    scheme, all_turns = store.campaigns.scheme(campaign.name), campaign.plan.all_turns
    judged: dict[str, list[str | None]] = {}
    for place in store.units.places(campaign.name):
        judged.setdefault(place.document, []).append(place.segment)
    choosing = [
        name for name in scheme_names() if scheme.target and load_scheme(name).target == scheme.target
    ]
    for name in store.units.document_names(campaign.name):
        document = store.units.document(campaign.name, name)
        chosen, every = judged.get(name, []), sum(1 for _ in units(document, scheme.unit))
        are_chosen = bool(choosing) and not all_turns and len(chosen) < every
        targets = Targets(every, tuple(chosen))
        yield DraftLine(document, {choosing[0]: targets} if are_chosen else {})


def copy(visit: RequestContext, form: FormData) -> Response:
    """A new campaign with the same plan and documents: the steps of making one, filled in, nothing made yet."""
    found = campaign_here(visit)
    return redirect(visit, f"/new/{draft_of(visit, found)}/data")


def move(visit: RequestContext, form: FormData) -> Response:
    """Into the archive, or out of it."""
    found = campaign_here(visit)
    visit.store.campaigns.set_archived(found.name, field(form, "archived") == "yes", by=visit.me.id)
    return redirect(visit, f"/c/{found.name}/manage")


def change_settings(visit: RequestContext, form: FormData) -> Response:
    """Another title, or another number of people for each unit."""
    found = campaign_here(visit)
    title = {language: field(form, f"title-{language}").strip() for language in ("en", "ja")}
    many = number(form, "per_unit") or 0
    if not 1 <= many <= 1000:
        raise UsageError("unit-judged-1-1000")
    visit.store.campaigns.set_title(
        found.name, {key: words for key, words in title.items() if words}, by=visit.me.id
    )
    if many != found.plan.per_unit:
        visit.store.campaigns.set_per_unit(found.name, many, by=visit.me.id)
    return redirect(visit, f"/c/{found.name}/manage")


def add_documents(visit: RequestContext, form: FormData) -> Response:
    """More documents from a file; those that are there already are passed over."""
    found = campaign_here(visit)
    with on_disk(upload(form, "file")) as path:
        documents = list(screened(read(path), visit.store.campaigns.scheme(found.name)))
        visit.store.campaigns.add_documents(found.name, documents, by=visit.me.id)
    return redirect(visit, f"/c/{found.name}/manage")


_BASE = "/c/{campaign:slug}"
ROUTES = [
    *twins(f"{_BASE}/begin", signed_in(begin_page)),
    *posts(f"{_BASE}/begin", begin, who=lambda visit: visit.me),
    *twins(f"{_BASE}/manage", for_managers(manage_page), MANAGE),
    *posts(f"{_BASE}/manage", act, who=managing, again=manage_again, template=MANAGE),
    *twins(f"{_BASE}/plan", for_managers(plan)),
    *twins("/messages", signed_in(messages)),
    *posts("/messages", have_read, who=lambda visit: visit.me),
    *posts(f"{_BASE}/settings", change_settings, who=managing, again=manage_again, template=MANAGE),
    *posts(f"{_BASE}/documents", add_documents, who=managing, again=manage_again, template=MANAGE, files=1),
    *posts(f"{_BASE}/copy", copy, who=managing),
    *posts(f"{_BASE}/archive", move, who=managing),
]
