"""Changing a campaign that exists: its settings, more documents, a copy, the archive."""

from collections.abc import Iterator
from typing import Any

import msgspec
from starlette.datastructures import FormData
from starlette.responses import Response
from starlette.routing import BaseRoute

from lapsus.errors import UsageError
from lapsus.formats import read
from lapsus.model import units
from lapsus.model.targets import Targets, screened
from lapsus.schemes import load_scheme, scheme_names
from lapsus.store import Campaign, Store
from lapsus.store.drafts import DraftLine
from lapsus.store.plan_file import to_yaml
from lapsus.web.forms import field, number, posts, upload
from lapsus.web.page_routes import campaign_here, managing
from lapsus.web.pages.manage.page import MANAGE, manage_again
from lapsus.web.pages.setup.known_units import BLOCKS
from lapsus.web.rendering import redirect
from lapsus.web.request_context import RequestContext
from lapsus.web.uploads import on_disk


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


def routes() -> list[BaseRoute]:
    """Where their forms go."""
    base = "/c/{campaign:slug}"
    return [
        *posts(f"{base}/settings", change_settings, who=managing, again=manage_again, template=MANAGE),
        *posts(
            f"{base}/documents", add_documents, who=managing, again=manage_again, template=MANAGE, files=1
        ),
        *posts(f"{base}/copy", copy, who=managing),
        *posts(f"{base}/archive", move, who=managing),
    ]


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
