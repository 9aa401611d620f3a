"""What pages fetch besides: scripts and styles, guidelines as data, and words."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from lapsus.schemes import load_scheme, scheme_names
from lapsus.store import RefusedError
from lapsus.web.language import LANGUAGES
from lapsus.web.rendering import json_response
from lapsus.web.visit import Visit
from lapsus.web.words import words_json, words_url

FOREVER = "max-age=31536000, immutable"


def routes() -> list[BaseRoute]:
    """All of them."""
    return [
        Route("/static/{digest}/{name:path}", static),
        Route("/schemes/{id}/{version}.json", scheme),
        Route("/words/{language}.json", words),
        Route("/healthy.json", healthy),
    ]


async def static(request: Request) -> Response:
    """A script, a style or a picture of ours. Kept for good only under the address that its content has now."""
    visit = Visit(request)
    asset = visit.web.assets.get(request.path_params["name"])
    if asset is None:
        raise RefusedError("not-found", "there is no such file")
    is_current = request.path_params["digest"] == visit.web.assets.digest
    headers = {"Cache-Control": f"public, {FOREVER}" if is_current else "no-cache"}
    return Response(asset.content, headers=headers, media_type=asset.media_type)


async def scheme(request: Request) -> Response:
    """A guideline as data. A version never changes, so browsers may keep it."""

    def find() -> Response:
        visit, wanted = Visit(request), (request.path_params["id"], request.path_params["version"])
        mine = visit.store.campaigns() if visit.manages else visit.store.campaigns_of(visit.me.id)
        for campaign in mine:
            if (campaign.scheme, campaign.version) == wanted:
                found = visit.store.scheme(campaign.name)
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


async def healthy(request: Request) -> Response:
    """Whether the server and its database answer."""
    await run_in_threadpool(request.app.state.web.store.has_manager)
    return json_response({"healthy": True})
