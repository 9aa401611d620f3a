"""The page on which a manager writes a guideline of their own, and sample files to try the wizard with."""

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType
from starlette.datastructures import FormData
from starlette.responses import FileResponse, Response

from lapsus.errors import InputError, LapsusError
from lapsus.model import Scheme
from lapsus.notices import localized
from lapsus.samples import sample_path
from lapsus.schemes import scheme_names
from lapsus.schemes.scheme_check import SchemeProblem
from lapsus.store import RefusedError
from lapsus.store.drafts import Draft
from lapsus.web.forms import field, fields, posts, told, upload
from lapsus.web.page_routes import for_managers, managing, single, twins
from lapsus.web.page_words import say
from lapsus.web.pages.setup import own_guideline as own
from lapsus.web.pages.setup.guideline_edit import (
    PARTS,
    moved_part,
    with_form,
    with_language,
    with_part,
    without_part,
)
from lapsus.web.pages.setup.guideline_form import GuidelinePart, guideline_form, inputs_by_line, mapping
from lapsus.web.pages.setup.preview import DraftUnits, PreviewResponse, draft_here
from lapsus.web.pages.setup.wizard import TEMPLATE, WizardResponse, wizard_page
from lapsus.web.rendering import redirect
from lapsus.web.request_context import RequestContext


class GuidelineProblemResponse(msgspec.Struct, frozen=True):
    """Something wrong with a guideline, or something it would be better with."""

    line: int
    message: str
    severe: bool
    input: str
    """The input of the form that stands there; empty where none does."""
    where: str
    """That input in words, or else the line."""


class OwnGuidelineResponse(msgspec.Struct, frozen=True):
    """A guideline of one's own, as it is being written."""

    draft: str
    parts: list[GuidelinePart]
    """The form; nothing where the file is no guideline at all."""
    written_in: list[str]
    problems: list[GuidelineProblemResponse]
    text: str
    """The whole file."""
    scheme: Scheme | None
    """The guideline as questions are made from it, with dots for missing words; None where more is missing."""
    preview: PreviewResponse | None
    """One of the draft's units."""
    error: str | UnsetType = UNSET


SAMPLES: Final = ("dialogues-en", "dialogues-ja", "pairs-en", "pairs-ja")
"""Files to try the first step with."""
_PAGE: Final = "setup/own.html"
FIELDS: Final = 5000
"""A guideline has many words."""


def _text(draft: Draft) -> str:
    if "own" not in draft.plan:
        raise RefusedError("not-found", "there is no guideline of your own in this draft")
    return str(draft.plan["own"])


def _keep(visit: RequestContext, draft: Draft, text: str) -> None:
    """Keep a text as the draft's own guideline; it is the one to judge by as soon as it holds together."""
    scheme, problems = own.checked(text)
    is_sound = scheme is not None and not any(problem.severe for problem in problems)
    chosen = {"scheme": scheme.id} if scheme is not None and is_sound else {}
    rest = {key: value for key, value in draft.plan.items() if key != "scheme" or value in scheme_names()}
    visit.store.drafts.change(draft.id, visit.me.id, {**rest, "own": text, **chosen})


def take(visit: RequestContext, form: FormData) -> Response:
    """Begin one's own guideline: with a file, or with one that is here."""
    draft = draft_here(visit)
    file = upload(form, "guideline")
    if file is not None:
        text = _read(file.file.read(own.LONGEST * 4 + 1))
    elif base := field(form, "base"):
        text = own.edited_from(base, str(draft.plan.get("name", "own")))
    elif "blank" in form:
        text = own.blank(str(draft.plan.get("name", "own")), visit.language)
    else:
        raise InputError("choose-file", where=own.FILE)
    _keep(visit, draft, text)
    return redirect(visit, f"/new/{draft.id}/own")


def _step_again(visit: RequestContext, form: FormData, error: LapsusError) -> WizardResponse:
    return wizard_page(visit, "guideline", draft_here(visit), error=error)


def _read(content: bytes) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("no-text-utf-8", where=own.FILE) from error
    if len(text) > own.LONGEST:
        raise InputError("too-long-guideline", where=own.FILE)
    return text


def show(visit: RequestContext) -> OwnGuidelineResponse:
    """The guideline, to be changed."""
    draft = draft_here(visit)
    return _record(visit, draft, _text(draft))


def _record(
    visit: RequestContext, draft: Draft, text: str, error: str | UnsetType = UNSET
) -> OwnGuidelineResponse:
    tree = own.tree_of(text) or {}
    scheme, problems = own.checked(text)
    if any(one.severe for one in problems):
        scheme = own.sketched(tree)
    return OwnGuidelineResponse(
        draft=draft.id,
        parts=guideline_form(tree, visit.language) if tree else [],
        written_in=[str(one) for one in mapping(tree, "title")],
        problems=_told(problems, text, tree, visit.language),
        text=text,
        scheme=scheme,
        preview=None if scheme is None else DraftUnits(visit, draft, scheme, is_whole=False).preview(),
        error=error,
    )


def _told(
    problems: Sequence[SchemeProblem], text: str, tree: own.Tree, language: str
) -> list[GuidelineProblemResponse]:
    """What is wrong, each with the field of the form that it is about."""
    named = inputs_by_line(text, tree, language) if tree and problems else {}
    return [
        GuidelineProblemResponse(
            one.line,
            localized(one.message, language),
            one.severe,
            *named.get(one.line, ("", say("setup.own.line", language, line=one.line))),
        )
        for one in problems
    ]


def change(visit: RequestContext, form: FormData) -> OwnGuidelineResponse | Response:
    """Keep what was written, or only say what is wrong with it; then stay, or go on to the next step."""
    draft, go, given = draft_here(visit), field(form, "go"), fields(form)
    text, action = _text(draft), go.partition(":")[0]
    text = given["text"].replace("\r\n", "\n") if "text" in given else with_form(text, given, visit.language)
    if action == "check":
        return _record(visit, draft, text)
    text, place = _worked_on(text, go, visit.language)
    _keep(visit, draft, text)
    if action == "done":
        _, problems = own.checked(text)
        severe = [one for one in problems if one.severe]
        for one in _told(severe, text, own.tree_of(text) or {}, visit.language):
            raise InputError(one.message, where=one.where)
        return redirect(visit, f"/new/{draft.id}/guideline")
    return redirect(visit, f"/new/{draft.id}/own{place and '#' + place}")


def _worked_on(text: str, go: str, language: str) -> tuple[str, str]:
    """What a button of the form does, and where one looks then."""
    action, _, place = go.partition(":")
    if action == "remove":
        return without_part(text, place), place.rpartition(".")[0].removesuffix(".labels")
    if action in ("up", "down"):
        return moved_part(text, place, 1 if action == "down" else -1)
    if action in ("with", "without"):
        return with_language(text, place, is_there=action == "with"), ""
    if action in PARTS:
        return with_part(text, action, place, language)
    return text, place


def _guideline_again(visit: RequestContext, form: FormData, error: LapsusError) -> OwnGuidelineResponse:
    draft = draft_here(visit)
    return _record(visit, draft, _text(draft), told(error, visit.language)["error"])


def _file(visit: RequestContext) -> Response:
    """The guideline so far, as a file."""
    headers = {"Content-Disposition": 'attachment; filename="guideline.yaml"'}
    return Response(_text(draft_here(visit)), headers=headers, media_type="text/yaml")


def _as_data(visit: RequestContext) -> Scheme:
    """The guideline so far, as the form of its questions needs it."""
    return own.read_own(_text(draft_here(visit)))


def _sample_file(visit: RequestContext) -> Response:
    """An invented file as the first step takes it."""
    name = str(visit.request.path_params["sample"])
    if name not in SAMPLES:
        raise RefusedError("not-found", "there is no such sample")
    return FileResponse(sample_path(name), filename=f"{name}.jsonl")


_DRAFT = "/new/{draft:secret}"
ROUTES = [
    single("/new/samples/{sample:slug}.jsonl", for_managers(_sample_file)),
    single("/new/{draft:secret}/guideline.yaml", for_managers(_file)),
    single("/new/{draft:secret}/scheme.json", for_managers(_as_data)),
    *posts(f"{_DRAFT}/guideline-file", take, who=managing, again=_step_again, template=TEMPLATE, files=1),
    *twins(f"{_DRAFT}/own", for_managers(show), _PAGE),
    *posts(f"{_DRAFT}/own", change, who=managing, again=_guideline_again, template=_PAGE, fields=FIELDS),
]
