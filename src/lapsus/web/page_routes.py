"""Pages and their JSON twins: one function makes the record, the address says how it is shown; and who may see it."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.convertors import IntegerConvertor, StringConvertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from lapsus.errors import UsageError
from lapsus.model import in_language
from lapsus.notices import Notice
from lapsus.store import Campaign, RefusedError
from lapsus.web.rendering import json_response, page_response, redirect, with_cookies
from lapsus.web.request_context import RequestContext

T = TypeVar("T", bound=msgspec.Struct)


class _Slug(StringConvertor):
    regex = "[a-z0-9-]{1,60}"


class _Secret(StringConvertor):
    regex = "[A-Za-z0-9_-]{10,100}"


class _Number(IntegerConvertor):
    """A number that every database can hold."""

    regex = "[0-9]{1,9}"


# Before any route is made: what stands in the paths of pages.
register_url_convertor("slug", _Slug())
register_url_convertor("secret", _Secret())
register_url_convertor("number", _Number())


class Page(NamedTuple):
    """A record, and the template that shows it; None: there is only the record, as JSON."""

    template: str | None
    shape: Any
    status: int = 200
    more: Mapping[str, Any] = {}
    """What only the page shows: drawings, and commands for the terminal."""


Show = Callable[[RequestContext], Any]
"""Makes what is shown: a record, a record with a template of its own (`Page`), or a whole response."""


def twins(path: str, show: Show, template: str | None = None) -> list[BaseRoute]:
    """A page at a path and its twin at the path with `.json` behind."""
    return [single(f"{path}.json", show, template), single(path, show, template)]


def single(path: str, show: Show, template: str | None = None) -> Route:
    """What is at one path only: a file to download, or a record without a page."""

    async def page(request: Request) -> Response:
        return await run_in_threadpool(respond, RequestContext(request), show, template)

    return Route(path, page)


def respond(visit: RequestContext, show: Show, template: str | None = None) -> Response:
    """Make the record and show it; in a worker thread, since it asks the database."""
    result = show(visit)
    if isinstance(result, Response):
        return result
    if not isinstance(result, Page):
        result = Page(template, result)
    if visit.wants_json or result.template is None:
        return with_cookies(visit, json_response(result.shape, result.status))
    return page_response(visit, result.template, result.shape, result.status, result.more)


def for_known(show: Show) -> Show:
    """Redirect strangers whom `show` refuses to sign in and back afterwards; programs get an error."""

    def checked(visit: RequestContext) -> Any:
        try:
            return show(visit)
        except RefusedError as error:
            if error.reason != "sign-in" or visit.wants_json:
                raise
            return redirect(visit, f"/sign-in?next={quote(visit.request.url.path)}")

    return checked


def signed_in(show: Show) -> Show:
    """The same, for people with an account alone."""

    def checked(visit: RequestContext) -> Any:
        visit.me  # noqa: B018  raises for strangers
        return show(visit)

    return for_known(checked)


def for_managers(show: Show) -> Show:
    """The same, for managers alone."""
    return signed_in(lambda visit: show(managing(visit)))


def read_together(show: Show) -> Show:
    """Read everything in one transaction: for frequent pages that write nothing."""

    def together(visit: RequestContext) -> Any:
        with visit.store.database.reading_together():
            return show(visit)

    return together


def managing(visit: RequestContext) -> RequestContext:
    """Only managers set up and run campaigns."""
    if visit.me.role != "manager":
        raise RefusedError("managers-only", "only managers may do this")
    return visit


def campaign_here(visit: RequestContext) -> Campaign:
    """The campaign that the address names, as far as the person may know of it."""
    return find_campaign(visit, str(visit.request.path_params["campaign"]))


def find_campaign(visit: RequestContext, name: str) -> Campaign:
    """The campaign of that name, as far as the person may know of it."""
    me = visit.me  # First of all: strangers learn nothing but that they are.
    try:
        campaign = visit.store.campaigns.get(name)
    except UsageError as error:
        raise RefusedError("no-campaign", error.what) from error
    known = (
        visit.manages
        or (campaign.plan.who == "everybody" and campaign.state != "draft")
        or visit.store.progress.of_person(name, me.id) is not None
    )
    if not known:
        raise RefusedError("no-campaign", Notice("no-campaign-called", name=name))
    return campaign


def title(visit: RequestContext, campaign: Campaign) -> str:
    """A campaign's title in the reader's language."""
    return in_language(campaign.plan.titles, visit.language)


def filled(kind: type[T], *sources: object, **more: Any) -> T:
    """A record filled by name: with `more`, else from the first source that has an attribute so called.

    Fields that nothing has keep their default.
    """
    for name in kind.__struct_fields__:
        source = next((one for one in sources if name not in more and hasattr(one, name)), None)
        if source is not None:
            more[name] = getattr(source, name)
    return kind(**more)
