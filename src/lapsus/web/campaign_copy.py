"""A campaign made anew: the same plan, guideline and documents, as a draft that can still be changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from lapsus.model import units
from lapsus.model.targets import Targets
from lapsus.schemes import load_scheme, scheme_names
from lapsus.store import Campaign, Store
from lapsus.store.drafts import DraftLine
from lapsus.store.plan_file import to_yaml
from lapsus.web.known_units import BLOCKS
from lapsus.web.request_context import RequestContext


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
