"""A new campaign in the browser: one step after the other, with a real unit beside it."""

from __future__ import annotations

from collections.abc import Iterator

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from lapsus.errors import InputError, LapsusError
from lapsus.formats import read
from lapsus.model import Document
from lapsus.schemes import load_scheme
from lapsus.store import Material, RefusedError, StoreError
from lapsus.store.drafts import Draft
from lapsus.store.known import KnownAnswers
from lapsus.store.setting_up import known_units_in
from lapsus.web import known_units, wizard
from lapsus.web.rendering import redirect
from lapsus.web.routes.forms import field, fields, posts, upload
from lapsus.web.routes.pages import signed_in
from lapsus.web.routes.twins import Page, respond, twins
from lapsus.web.routes.uploads import on_disk
from lapsus.web.setup_view import draft_documents, managing, wizard_page
from lapsus.web.visit import Visit


def routes() -> list[BaseRoute]:
    """All of them, each with its twin."""
    step = "/new/{draft:secret}/{step:slug}"
    return [
        *twins("/new", signed_in(first)),
        *posts("/new", begin, who=managing, files=1),
        Route("/new/{draft:secret}/plan.yaml", _download),
        *twins(step, signed_in(show)),
        *posts(step, fill_in, who=managing, files=1),
    ]


def first(visit: Visit) -> Page:
    """What is to be judged?"""
    return Page("setup/wizard.html", wizard_page(managing(visit), "data", None))


def begin(visit: Visit, form: FormData) -> Page | Response:
    """Read the documents and keep them with the draft. The file itself is gone when this is through."""
    given = fields(form)
    try:
        tree = wizard.with_fields("data", {}, given)
        wizard.complete_plan({**tree, "scheme": "breakdown"})
        _check_free(visit, str(tree["name"]))
        source = given.get("chain", "")
        if source:
            tree["chain"] = {"campaign": visit.store.campaign(source).name}
            documents: list[Document] = []
        else:
            documents = list(_documents(upload(form, "file"), given.get("language") or None))
        draft = visit.store.new_draft(visit.me.id, tree, documents)
    except StoreError:
        raise
    except LapsusError as error:
        shape = wizard_page(visit, "data", None, fields=given, error=error)
        return Page("setup/wizard.html", shape, 422)
    return redirect(visit, f"/new/{draft}/guideline")


def _check_free(visit: Visit, name: str) -> None:
    if any(campaign.name == name for campaign in visit.store.campaigns()):
        raise InputError(f"there is a campaign {name!r} already", hint="choose another name")


def _documents(file: UploadFile | None, language: str | None) -> Iterator[Document]:
    with on_disk(file) as path:
        for entry in read(path, language=language):
            if entry.document is not None:
                yield entry.document


def _draft(visit: Visit) -> Draft:
    return managing(visit).store.draft(str(visit.request.path_params["draft"]), visit.me.id)


def _step(visit: Visit) -> str:
    step = str(visit.request.path_params["step"])
    if step not in wizard.STEPS[1:]:
        raise RefusedError("not-found", "there is no such step")
    return step


def show(visit: Visit) -> Page:
    """A step, as far as it is filled in."""
    return Page("setup/wizard.html", wizard_page(visit, _step(visit), _draft(visit)))


def fill_in(visit: Visit, form: FormData) -> Page | Response:
    """Keep what a step says and go where the button leads; at the end, make the campaign."""
    draft, step, given = _draft(visit), _step(visit), fields(form)
    go = field(form, "go")
    try:
        tree = _changed(draft, step, go, form)
        plan = wizard.complete_plan(tree)
        if plan.has_known:
            known = KnownAnswers(plan, load_scheme(plan.scheme))
            known.check_against(draft_documents(visit, draft))
        if step == "review" and go == "make":
            return _make(visit, draft)
    except StoreError:
        raise
    except LapsusError as error:
        shape = wizard_page(visit, step, draft, fields=given, error=error)
        return Page("setup/wizard.html", shape, 422)
    visit.store.change_draft(draft.id, visit.me.id, tree)
    if go in ("add", "remove", "import"):
        return redirect(visit, f"/new/{draft.id}/{step}{_next_unit(visit) if go == 'add' else ''}")
    place = wizard.STEPS.index(step) + {"next": 1, "back": -1}.get(go, 0)
    following = wizard.STEPS[max(1, min(place, len(wizard.STEPS) - 1))]
    return redirect(visit, f"/new/{draft.id}/{following}")


def _changed(draft: Draft, step: str, go: str, form: FormData) -> wizard.Tree:
    """The plan after a form was sent; known units come and go one by one, and many by a file."""
    given = fields(form)
    if step != "checks" or go not in ("add", "remove", "import"):
        return wizard.with_fields(step, draft.plan, given)
    document, segment = given.get("document", ""), given.get("segment", "")
    block = known_units.block_named(given.get("block", ""))
    if go == "remove":
        return known_units.without_unit(draft.plan, block, document, segment)
    if go == "add":
        feedback = wizard.words_in(given, "feedback")
        unit = known_units.given_unit(document, segment, given.get("answers", ""), feedback)
        return known_units.with_units(draft.plan, block, [unit])
    with on_disk(upload(form, "file")) as path:
        units, _ = known_units_in(path, load_scheme(draft.plan["scheme"]))
        return known_units.with_units(draft.plan, block, units)


def _next_unit(visit: Visit) -> str:
    shown = visit.request.query_params.get("unit", "")
    return f"?unit={int(shown) + 1}" if shown.isascii() and shown.isdigit() and len(shown) < 6 else ""


def _make(visit: Visit, draft: Draft) -> Response:
    plan = wizard.complete_plan(draft.plan)
    material = Material(load_scheme(plan.scheme), {}, ())
    made, _ = visit.store.set_up(plan, draft.documents(), material=material, by=visit.me.id)
    visit.store.drop_draft(draft.id, visit.me.id)
    return redirect(visit, f"/c/{made.name}/manage")


async def _download(request: Request) -> Response:
    return await run_in_threadpool(respond, Visit(request), signed_in(_plan_file))


def _plan_file(visit: Visit) -> Response:
    """The plan so far, as a file."""
    text = wizard.plan_text(_draft(visit).plan)
    headers = {"Content-Disposition": 'attachment; filename="plan.yaml"'}
    return Response(text, headers=headers, media_type="text/yaml")
