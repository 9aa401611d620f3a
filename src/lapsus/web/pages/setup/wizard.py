"""A new campaign in the browser: one step after the other, with a real unit beside it."""

from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType
from starlette.datastructures import FormData
from starlette.responses import Response

from lapsus.errors import InputError, LapsusError
from lapsus.model import Scheme, in_language
from lapsus.schemes import load_scheme, scheme_names
from lapsus.store import Material, RefusedError, StoreError
from lapsus.store.drafts import Draft
from lapsus.store.known_answers import KnownAnswers
from lapsus.store.plan import is_short_name, short_name
from lapsus.store.plan_file import known_units_in
from lapsus.store.records import Chosen
from lapsus.web.forms import field, fields, given_name, on_disk, posts, told, upload
from lapsus.web.page_routes import for_managers, managing, single, title, twins
from lapsus.web.pages.judging.campaign import begun_drafts
from lapsus.web.pages.setup import forms as wizard_forms
from lapsus.web.pages.setup import known_units, own_guideline, talks
from lapsus.web.pages.setup.columns import MAP, first_rows, keep_upload, read_file
from lapsus.web.pages.setup.preview import (
    BlockResponse,
    DraftUnits,
    PreviewResponse,
    SummaryResponse,
    draft_documents,
    draft_here,
    plan_summary,
    sound_scheme,
)
from lapsus.web.pages.setup.sample import SampleResponse, sampled, with_sample
from lapsus.web.rendering import redirect
from lapsus.web.request_context import RequestContext, number_in
from lapsus.web.schemas import BegunDraftResponse

TEMPLATE: Final = "setup/wizard.html"


class ChoiceResponse(msgspec.Struct, frozen=True):
    """Something that can be chosen."""

    value: str
    title: str
    text: str = ""


class WizardResponse(msgspec.Struct, frozen=True):
    """A step on the way to a campaign."""

    step: str
    steps: list[str]
    draft: str
    """Empty on the first page."""
    drafts: list[BegunDraftResponse]
    """On the first page: one's own that are not finished, the newest first."""
    fields: Mapping[str, str]
    choices: list[ChoiceResponse]
    preview: PreviewResponse | None
    documents: int
    units: int
    targets: Chosen | None = None
    """Where the guideline judges only turns that votes choose, and the documents are the campaign's own."""
    known: list[BlockResponse] = []
    plan: str = ""
    """The plan as a file, where it is complete."""
    summary: list[SummaryResponse] = []
    """The same in words."""
    own: str = ""
    """The name of the guideline, where it is the manager's own."""
    file: str = ""
    """On the first step: the file that is kept with the draft."""
    has_rows: bool = False
    """Whether that file has columns that can be mapped."""
    has_own: bool = False
    """Whether there is one of the manager's own, chosen or not, in order or not."""
    sample: SampleResponse | None = None
    systems: talks.OfferedResponse | None = None
    """On the step about talks: who can be talked to."""
    error: str | UnsetType = UNSET
    hint: str | UnsetType = UNSET


def wizard_page(
    visit: RequestContext,
    step: str,
    draft: Draft | None,
    *,
    fields: wizard_forms.Fields | None = None,
    error: LapsusError | None = None,
) -> WizardResponse:
    """A step of the wizard: what was filled in, and a real unit as it would be judged."""
    tree = draft.plan if draft else {}
    scheme = sound_scheme(tree)
    found = DraftUnits(visit, draft, scheme)
    kept = visit.store.drafts.file(draft.id) if draft is not None and step == "data" else None
    # One step may have several forms; what was not sent is as it was.
    shown = {**wizard_forms.fields_of(step, tree), **(fields or {})}
    return WizardResponse(
        step=step,
        steps=wizard_forms.steps_of(tree),
        draft=draft.id if draft else "",
        drafts=[] if draft else begun_drafts(visit),
        fields=shown,
        choices=_choices(visit, step, tree),
        preview=found.preview(),
        documents=found.documents,
        units=found.units,
        targets=found.targets(),
        known=found.known(tree) if step == "checks" else [],
        plan=_plan(tree) if step == "review" and error is None else "",
        summary=_summary(visit, tree, found) if step == "review" else [],
        own=scheme.id if scheme is not None and "own" in tree and scheme.id not in scheme_names() else "",
        file="" if kept is None else kept[0],
        has_rows=kept is not None and draft is not None and bool(first_rows(visit, draft.id)),
        has_own="own" in tree,
        sample=found.sample() if step == "review" else None,
        systems=talks.offered(visit) if step == "talks" else None,
        **told(error, visit.language),
    )


def _summary(visit: RequestContext, tree: wizard_forms.Tree, found: DraftUnits) -> list[SummaryResponse]:
    try:
        plan = wizard_forms.complete_plan(tree)
    except LapsusError:
        return []
    drawn = found.sample()
    units = found.units if drawn is None or drawn.drawn is None else drawn.drawn
    return plan_summary(visit, plan, found.scheme, found.documents, units)


def _plan(tree: wizard_forms.Tree) -> str:
    try:
        return wizard_forms.plan_text(tree)
    except LapsusError:
        return ""


def _choices(visit: RequestContext, step: str, tree: wizard_forms.Tree) -> list[ChoiceResponse]:
    if step == "data":
        there = [campaign for campaign in visit.store.campaigns.all() if campaign.archived is None]
        return [ChoiceResponse(campaign.name, title(visit, campaign)) for campaign in there]
    if step != "guideline":
        return []
    own = sound_scheme({"own": tree["own"]}) if "own" in tree else None
    found = [_offered(visit, load_scheme(name)) for name in scheme_names()]
    return found if own is None else [*found, _offered(visit, own, f" ({own.id})")]


def _offered(visit: RequestContext, scheme: Scheme, behind: str = "") -> ChoiceResponse:
    title, summary = (in_language(words, visit.language) for words in (scheme.title, scheme.summary))
    return ChoiceResponse(scheme.id, title + behind, summary)


def _first(visit: RequestContext) -> WizardResponse:
    # Whoever comes from talks wants a campaign in which they are judged.
    return wizard_page(visit, "data", None, fields={"chain": visit.request.query_params.get("chain", "")})


def begin(visit: RequestContext, form: FormData) -> Response:
    """Make a draft. A file that came is kept with it before anything can be wrong, so that nobody sends it twice."""
    given, file = fields(form), upload(form, "file")
    if file is not None:
        made = visit.store.drafts.new(visit.me.id, wizard_forms.with_fields("data", {}, given), ())
        keep_upload(visit, made, file)
        visit.request.state.draft = made
    tree = _named(visit, {}, given, "" if file is None else Path(given_name(file)).stem)
    if file is None and not _needs_no_file(tree):
        raise InputError("choose-file", where="file")
    draft = made if file is not None else visit.store.drafts.new(visit.me.id, tree, ())
    return _documents(visit, visit.store.drafts.get(draft, visit.me.id), tree, is_new=True)


def _documents(visit: RequestContext, draft: Draft, tree: wizard_forms.Tree, *, is_new: bool) -> Response:
    """Read the documents of a draft and go on; where the columns are in doubt, to the page that maps them."""
    kept, me = visit.store.drafts, visit.me.id
    if _needs_no_file(tree) or not is_new:
        kept.change(draft.id, me, tree, () if _needs_no_file(tree) else None)
        return redirect(visit, f"/new/{draft.id}/{wizard_forms.steps_of(tree)[1]}")
    tree.pop(MAP, None)
    try:
        found = read_file(visit, draft.id, None)
        kept.change(draft.id, me, tree, found.entries)
    except StoreError:
        raise
    except LapsusError:
        if not first_rows(visit, draft.id):
            raise
        kept.change(draft.id, me, tree, ())
        return redirect(visit, f"/new/{draft.id}/columns")
    return redirect(visit, f"/new/{draft.id}/{'guideline' if found.map is None else 'columns'}")


def _first_again(visit: RequestContext, form: FormData, error: LapsusError) -> WizardResponse:
    made = getattr(visit.request.state, "draft", None)
    draft = None if made is None else visit.store.drafts.get(made, visit.me.id)
    return wizard_page(visit, "data", draft, fields=fields(form), error=error)


def _named(
    visit: RequestContext, before: wizard_forms.Tree, given: Mapping[str, str], file: str
) -> wizard_forms.Tree:
    """The plan with what the first step says; a campaign of that name is not there yet.

    What is no short name becomes one; where there is none, it is made from the titles or else from the file's name.
    """
    tree = wizard_forms.with_fields("data", before, given)
    if not is_short_name(str(tree.get("name", ""))):
        titles = tree.get("title", {})
        tree["name"] = _free_name(visit, tree.get("name", ""), titles.get("en", ""), *titles.values(), file)
    collect = tree.pop("collect", talks.USUAL)
    if given.get("collect") == "yes":
        if given.get("chain"):
            raise InputError("collect-alone")
        tree["collect"] = collect
        for block in wizard_forms.NOT_COLLECTED:
            tree.pop(block, None)
    wizard_forms.complete_plan({"scheme": scheme_names()[0], **tree})
    if tree["name"] in _names(visit):
        raise InputError("campaign-already", hint="choose-another-name", name=tree["name"])
    chain, source = tree.pop("chain", None) or {}, given.get("chain", "")
    if source:
        name = visit.store.campaigns.get(source).name
        tree["chain"] = chain if chain.get("campaign") == name else {"campaign": name}
    return tree


def _needs_no_file(tree: wizard_forms.Tree) -> bool:
    return "chain" in tree or "collect" in tree


def _free_name(visit: RequestContext, *texts: str) -> str:
    wanted, taken = short_name(*texts), _names(visit)
    return next(name for n in count(1) if (name := wanted if n == 1 else f"{wanted[:56]}-{n}") not in taken)


def _names(visit: RequestContext) -> frozenset[str]:
    return frozenset(campaign.name for campaign in visit.store.campaigns.all())


def draw(visit: RequestContext, form: FormData) -> Response:
    """Draw so many units that shares are known to ± x, or have all judged."""
    draft, within = draft_here(visit), field(form, "within") if field(form, "go") == "draw" else None
    visit.store.drafts.change(draft.id, visit.me.id, with_sample(draft.plan, within))
    return redirect(visit, f"/new/{draft.id}/review")


def _step(visit: RequestContext) -> str:
    step = str(visit.request.path_params["step"])
    if step not in wizard_forms.steps_of(draft_here(visit).plan):
        raise RefusedError("not-found", "there is no such step")
    return step


def show(visit: RequestContext) -> WizardResponse:
    """A step, as far as it is filled in."""
    return wizard_page(visit, _step(visit), draft_here(visit))


def fill_in(visit: RequestContext, form: FormData) -> Response:
    """Keep what a step says and go where the button leads; at the end, make the campaign."""
    draft, step, go = draft_here(visit), _step(visit), field(form, "go")
    if step == "data":
        if (file := upload(form, "file")) is not None:
            keep_upload(visit, draft.id, file)
        kept = visit.store.drafts.file(draft.id)
        has_file = kept is not None
        tree = _named(visit, draft.plan, fields(form), "" if kept is None else Path(kept[0]).stem)
        if not (_needs_no_file(tree) or draft.lines or has_file):
            raise InputError("choose-file", where="file")
        return _documents(visit, draft, tree, is_new=file is not None or (has_file and not draft.lines))
    tree = _changed(draft, step, go, form)
    # Talks come before the guideline is chosen.
    plan = wizard_forms.complete_plan({"scheme": scheme_names()[0], **tree} if step == "talks" else tree)
    if plan.collect is not None:
        talks.check(visit, plan.collect)
    if plan.has_known and (scheme := own_guideline.draft_scheme(tree)) is not None:
        KnownAnswers(plan, scheme).check_against(draft_documents(visit, draft))
    if step == "review" and go == "make":
        return _make(visit, draft)
    visit.store.drafts.change(draft.id, visit.me.id, tree)
    if go in ("add", "remove", "import"):
        return redirect(visit, f"/new/{draft.id}/{step}{_next_unit(visit) if go == 'add' else ''}")
    steps = wizard_forms.steps_of(tree)
    place = steps.index(step) + {"next": 1, "back": -1}.get(go, 0)
    following = steps[max(0, min(place, len(steps) - 1))]
    return redirect(visit, f"/new/{draft.id}/{following}")


def _step_again(visit: RequestContext, form: FormData, error: LapsusError) -> WizardResponse:
    return wizard_page(visit, _step(visit), draft_here(visit), fields=fields(form), error=error)


def _changed(draft: Draft, step: str, go: str, form: FormData) -> wizard_forms.Tree:
    """The plan after a form was sent; known units come and go one by one, and many by a file."""
    given = fields(form)
    if step != "checks" or go not in ("add", "remove", "import"):
        return wizard_forms.with_fields(step, draft.plan, given)
    document, segment = given.get("document", ""), given.get("segment", "")
    if (block := given.get("block", "")) not in known_units.BLOCKS:
        raise InputError("choose-unit", where="checks")
    if go == "remove":
        return known_units.without_unit(draft.plan, block, document, segment)
    if go == "add":
        feedback = wizard_forms.words_in(given, "feedback")
        unit = known_units.given_unit(document, segment, given.get("answers", ""), feedback)
        return known_units.with_units(draft.plan, block, [unit])
    with on_disk(upload(form, "file")) as path:
        units, _ = known_units_in(path, _chosen_scheme(draft.plan))
        return known_units.with_units(draft.plan, block, units)


def _next_unit(visit: RequestContext) -> str:
    shown = number_in(visit.request.query_params.get("unit", ""), 5)
    return "" if shown is None else f"?unit={shown + 1}"


def _make(visit: RequestContext, draft: Draft) -> Response:
    plan = wizard_forms.complete_plan(draft.plan)
    material = Material(_chosen_scheme(draft.plan), {}, ())
    documents = sampled(draft, draft.screened(material.scheme), material.scheme)
    made, _ = visit.store.campaigns.set_up(plan, documents, material=material, draft=True, by=visit.me.id)
    visit.store.drafts.drop(draft.id, visit.me.id)
    return redirect(visit, f"/c/{made.name}/manage")


def _chosen_scheme(plan: wizard_forms.Tree) -> Scheme:
    found = own_guideline.draft_scheme(plan)
    if found is None:
        raise InputError("choose-guideline-first", where="guideline")
    return found


def _plan_file(visit: RequestContext) -> Response:
    """The plan so far, as a file."""
    text = wizard_forms.plan_text(draft_here(visit).plan)
    headers = {"Content-Disposition": 'attachment; filename="plan.yaml"'}
    return Response(text, headers=headers, media_type="text/yaml")


_STEP = "/new/{draft:secret}/{step:slug}"
ROUTES = [
    *twins("/new", for_managers(_first), TEMPLATE),
    *posts("/new", begin, who=managing, again=_first_again, template=TEMPLATE, files=1),
    single("/new/{draft:secret}/plan.yaml", for_managers(_plan_file)),
    *posts(
        "/new/{draft:secret}/sample",
        draw,
        who=managing,
        again=lambda visit, form, error: wizard_page(visit, "review", draft_here(visit), error=error),
        template=TEMPLATE,
    ),
    *twins(_STEP, for_managers(show), TEMPLATE),
    *posts(_STEP, fill_in, who=managing, again=_step_again, template=TEMPLATE, files=1),
]
