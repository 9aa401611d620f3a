"""The pages on which people judge."""

import base64
import hashlib
from typing import Literal

import msgspec
import regex
from msgspec import UNSET, UnsetType
from starlette.responses import HTMLResponse, Response

from lapsus.schemes.manual import Way, manual
from lapsus.store import Campaign, Nothing
from lapsus.web.addresses import at
from lapsus.web.assets import by_choice
from lapsus.web.page_routes import Page, campaign_here, filled, read_together, signed_in, title, twins
from lapsus.web.page_words import say
from lapsus.web.pages.judging.campaign import campaign_page, own_progress
from lapsus.web.pages.judging.unit import EarlierError, mark_signs, may_see_ahead, unit_view
from lapsus.web.rendering import redirect, theme_of, with_cookies
from lapsus.web.request_context import RequestContext, person_response
from lapsus.web.schemas import CampaignPage, OwnProgressResponse, PersonResponse
from lapsus.web.security import POLICY
from lapsus.word_files import LANGUAGES


class SessionResponse(msgspec.Struct, frozen=True):
    """Who is signed in here, if anybody, and the token that every change needs."""

    person: PersonResponse | None
    language: str
    csrf: str


class CompletionResponse(msgspec.Struct, frozen=True):
    """What shows a platform that somebody is done."""

    code: str
    url: str


class StateResponse(msgspec.Struct, frozen=True):
    """Why there is nothing to judge now."""

    campaign: str
    title: str
    reason: Literal["done", "wait", "draft", "paused", "closed", "begin", "stopped"]
    stage: str
    """`pilot` while there is more to come."""
    progress: OwnProgressResponse
    completion: CompletionResponse | UnsetType = UNSET
    """Where the plan has a completion code and the person is done."""


_STYLE = regex.compile(r"<style>(.*?)</style>", regex.DOTALL)


def session(visit: RequestContext) -> SessionResponse | Response:
    """Who is signed in: for scripts that were open while somebody signed in anew. People see the first page."""
    if not visit.wants_json:
        return redirect(visit, "/")
    person = None if visit.person is None else person_response(visit.person)
    return SessionResponse(person, visit.language, visit.csrf)


def campaign(visit: RequestContext) -> CampaignPage | Response:
    """A campaign; where people talk, those who do not manage it go on to the talk."""
    found = campaign_here(visit)
    if found.plan.collect is not None and not visit.wants_json:
        return redirect(visit, f"/c/{found.name}/{'talks' if visit.manages else 'talk'}")
    return campaign_page(visit)


def judge(visit: RequestContext) -> StateResponse | Response:
    """On to the next unit, or why there is none."""
    found = campaign_here(visit)
    if found.plan.collect is not None:
        return redirect(visit, f"/c/{found.name}/talk")
    ahead = may_see_ahead(visit, found.name)
    given = visit.store.assignment.next_units(visit.me.id, found.name, ahead=ahead)
    if not isinstance(given, Nothing):
        return redirect(visit, f"/c/{found.name}/u/{given.units[0].number}")
    if given.reason == "begin":
        return redirect(visit, f"/c/{found.name}/begin")
    # What somebody was given before a pause may be finished.
    held = visit.store.assignment.own_units(visit.me.id, found.name, held=True)
    if given.reason == "paused" and held:
        return redirect(visit, f"/c/{found.name}/u/{held[0].number}")
    progress = own_progress(visit, found.name)
    code = completion(found) if given.reason == "done" and progress.done else UNSET
    return StateResponse(found.name, title(visit, found), given.reason, found.stage, progress, code)


def completion(found: Campaign) -> CompletionResponse | UnsetType:
    """What shows a platform that somebody is done."""
    code = found.plan.completion
    return UNSET if code is None else filled(CompletionResponse, code)


def unit(visit: RequestContext) -> Page | Response:
    """One unit to judge."""
    name = _name(visit)
    try:
        shape = unit_view(visit, name, visit.request.path_params["number"])
    except EarlierError as error:
        return redirect(visit, f"/c/{name}/u/{error.unit}")
    signs = mark_signs(visit.store.campaigns.scheme(name), visit.language)
    return Page("judging/unit.html", shape, more={"signs_of": signs})


def guideline(visit: RequestContext) -> Response:
    """The guideline of a campaign, for reading and for paper. Its twin is the scheme itself."""
    found = campaign_here(visit)
    scheme = visit.store.campaigns.scheme(found.name)
    if visit.wants_json:
        return redirect(visit, f"/schemes/{scheme.id}/{scheme.version}")
    language = visit.language if visit.language in scheme.languages else scheme.languages[0]
    others = [other for other in scheme.languages if other != language and other in LANGUAGES]
    ways = [
        Way(say("pages.nav.back", visit.language, title=title(visit, found)), at(f"/c/{found.name}")),
        *(Way(say(f"common.languages.{other}", other), f"?lang={other}", other) for other in others),
    ]
    html = by_choice(manual(scheme, language, ways))
    if theme := theme_of(visit):
        html = html.replace("<html ", f'<html data-theme="{theme}" ', 1)
    response = HTMLResponse(html)
    # The manual carries its style in itself; it is let in by its hash, and nothing else is.
    digests = (hashlib.sha256(style.encode()).digest() for style in _STYLE.findall(html))
    hashes = "".join(f" 'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    response.headers["Content-Security-Policy"] = POLICY.format(styles=hashes)
    return with_cookies(visit, response)


def _name(visit: RequestContext) -> str:
    return str(visit.request.path_params["campaign"])


ROUTES = [
    *twins("/session", session),
    *twins("/c/{campaign:slug}", signed_in(campaign), "judging/campaign.html"),
    *twins("/c/{campaign:slug}/judge", signed_in(judge), "judging/state.html"),
    *twins("/c/{campaign:slug}/u/{number:number}", read_together(signed_in(unit))),
    *twins("/c/{campaign:slug}/guideline", signed_in(guideline)),
]
