"""The wizard's planner: where its form goes."""

from __future__ import annotations

from starlette.datastructures import FormData
from starlette.responses import Response
from starlette.routing import BaseRoute

from lapsus.errors import InputError
from lapsus.web.forms import field, posts
from lapsus.web.page_routes import Page, managing
from lapsus.web.pages.setup.sample import with_sample
from lapsus.web.pages.setup.wizard import wizard_page
from lapsus.web.rendering import redirect
from lapsus.web.request_context import RequestContext


def routes() -> list[BaseRoute]:
    """All of them."""
    return posts("/new/{draft:secret}/sample", choose, who=managing)


def choose(visit: RequestContext, form: FormData) -> Page | Response:
    """Draw so many units that shares are known to ± x, or have all judged."""
    draft = visit.store.drafts.get(str(visit.request.path_params["draft"]), visit.me.id)
    try:
        within = field(form, "within") if field(form, "go") == "draw" else None
        plan = with_sample(draft.plan, within)
    except InputError as error:
        return Page("setup/wizard.html", wizard_page(visit, "review", draft, error=error), 422)
    visit.store.drafts.change(draft.id, visit.me.id, plan)
    return redirect(visit, f"/new/{draft.id}/review")
