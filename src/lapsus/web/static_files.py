"""What pages fetch besides: scripts and styles, guidelines as data, and words."""

import hashlib
import time

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lapsus.schemes import load_scheme, scheme_names
from lapsus.store import RefusedError
from lapsus.web.addresses import at
from lapsus.web.page_words import words_json, words_url
from lapsus.web.rendering import json_response, page_response
from lapsus.web.request_context import RequestContext, Web
from lapsus.web.security import RateLimit
from lapsus.word_files import LANGUAGES

FOREVER = "max-age=31536000, immutable"
WRITES_EVERY = 5.0
"""Seconds between two writes by which a server tells whether its database takes something in."""
_WRITTEN = RateLimit("health", 1 << 30, 3600)


async def static(request: Request) -> Response:
    """A script, a style or a picture. Browsers may cache it for good only at the address of its current content."""
    visit = RequestContext(request)
    asset = visit.web.assets.get(request.path_params["name"])
    if asset is None:
        raise RefusedError("not-found", "there is no such file")
    is_current = request.path_params["digest"] == visit.web.assets.digest
    headers = {"Cache-Control": f"public, {FOREVER}" if is_current else "no-cache"}
    return Response(asset.content, headers=headers, media_type=asset.media_type)


async def service_worker(request: Request) -> Response:
    """What keeps the judging page there without a network. It is at the root, for it speaks for the whole site."""
    assets = RequestContext(request).web.assets
    script = assets.get("js/service_worker.js")
    assert script is not None  # noqa: S101  our own
    made_of = [assets.digest, *(words_url(language) for language in LANGUAGES)]
    version = hashlib.sha256("\0".join(made_of).encode()).hexdigest()[:12]
    head = f'self.VERSION = "{version}";\nself.STATIC = "{assets.url("")}";\nself.BELOW = "{at("")}";\n'
    headers = {"Cache-Control": "no-cache"}
    return Response(head.encode() + script.content, headers=headers, media_type=script.media_type)


async def offline(request: Request) -> Response:
    """What browsers show without a network in place of pages that need one. It says the same to everybody."""
    visit = RequestContext(request).as_stranger()
    return page_response(visit, "offline.html", {})


async def scheme(request: Request) -> Response:
    """A guideline as data. A version never changes, so browsers may keep it."""

    def find() -> Response:
        visit, wanted = RequestContext(request), (request.path_params["id"], request.path_params["version"])
        mine = visit.store.campaigns.all() if visit.manages else visit.store.campaigns.of_person(visit.me.id)
        for campaign in mine:
            if (campaign.scheme, campaign.version) == wanted:
                found = visit.store.campaigns.scheme(campaign.name)
                return json_response(found, headers={"Cache-Control": f"private, {FOREVER}"})
        if (
            visit.manages
            and wanted[0] in scheme_names()
            and (known := load_scheme(wanted[0])).version == wanted[1]
        ):
            # Those who set up a campaign see its guideline before there is one.
            return json_response(known, headers={"Cache-Control": f"private, {FOREVER}"})
        raise RefusedError("no-scheme", "there is no such guideline")

    return await run_in_threadpool(find)


async def words(request: Request) -> Response:
    """The words that scripts say."""
    language = request.path_params["language"]
    if language not in LANGUAGES:
        raise RefusedError("not-found", "there are no words in this language")
    is_current = str(request.url.query) and words_url(language).endswith(f"?{request.url.query}")
    headers = {"Cache-Control": f"public, {FOREVER}" if is_current else "no-cache"}
    return Response(words_json(language), headers=headers, media_type="application/json")


async def alive(request: Request) -> Response:
    """Whether the server runs at all: whoever watches it starts it anew where this does not answer."""
    return json_response({"alive": True})


async def healthy(request: Request) -> Response:
    """Whether the server and its database answer and take something in, so that people may be sent here."""
    web: Web = request.app.state.web
    await run_in_threadpool(web.store.people.has_manager)
    if time.monotonic() - web.written_at > WRITES_EVERY:
        # A full disk still lets one read: only a write that reaches it tells.
        await run_in_threadpool(_WRITTEN.take, web.store, "")
        web.written_at = time.monotonic()
    return json_response({"healthy": True})


ROUTES = [
    Route("/static/{digest}/{name:path}", static),
    Route("/schemes/{id}/{version}.json", scheme),
    Route("/words/{language}.json", words),
    Route("/alive.json", alive),
    Route("/healthy.json", healthy),
    Route("/service-worker.js", service_worker),
    Route("/offline", offline),
]
