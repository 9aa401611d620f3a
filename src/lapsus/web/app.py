"""The workbench as one application."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress

import anyio
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from lapsus.campaign_stats.unit_search import precompute_stats
from lapsus.errors import LapsusError
from lapsus.formats import FORMATS
from lapsus.model import Document, Scheme
from lapsus.model.frozen import decoder
from lapsus.store import Plan, Store
from lapsus.web.addresses import SubPath
from lapsus.web.deployment import PLAIN, Deployment, ProxyUser
from lapsus.web.error_responses import on_http_error, on_lapsus_error, on_trouble
from lapsus.web.judge_sources import JudgeSources
from lapsus.web.judge_work import JudgeWork
from lapsus.web.learning import Learner
from lapsus.web.observation import FOLDER, Observed, survived
from lapsus.web.pages.stats.view import TAKEN
from lapsus.web.request_context import Web
from lapsus.web.routes import ROUTES
from lapsus.web.security import BodyLimit, Compressed, SafeHeaders
from lapsus.web.talk_work import Replies


def create_app(
    store: Store,
    *,
    links: Mapping[str, int] | None = None,
    deployment: Deployment = PLAIN,
    judges: JudgeSources | None = None,
) -> Starlette:
    """The application on a store, which it closes when it ends.

    `links`: ways into a demonstration, for all. `judges`: which programs may judge here.
    """
    sources = judges or JudgeSources()
    work, replies = JudgeWork(store, sources), Replies(store)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        keeping = asyncio.create_task(refresh_stats(store))
        work.start()
        await run_in_threadpool(store.talks.release)
        learner = Learner(store)
        learner.start()
        try:
            yield
        finally:
            keeping.cancel()
            await run_in_threadpool(learner.end)
            with suppress(asyncio.CancelledError, Exception):
                await keeping
            await run_in_threadpool(replies.close)
            await run_in_threadpool(work.close)
            store.close()

    app = Starlette(
        routes=ROUTES,
        middleware=[
            *_around(deployment),
            Middleware(SafeHeaders),
            Middleware(Compressed),
            Middleware(BodyLimit),
        ],
        exception_handlers={
            LapsusError: on_lapsus_error,
            HTTPException: on_http_error,
            Exception: on_trouble,
        },
        lifespan=lifespan,
    )
    for kind in (Document, Scheme, Plan):
        # Before the first request: whatever else decodes them, in whichever thread, finds them known.
        decoder(kind)
    app.router.redirect_slashes = False
    app.state.web = Web(store, links or {}, deployment, sources, work, replies)
    return app


def _around(deployment: Deployment) -> list[Middleware]:
    """What a deployment puts around the application: whose word counts on who asks, and what is written of it."""
    found = [Middleware(SubPath, below=deployment.path)]
    if deployment.proxies:
        proxies = list(deployment.proxies)
        found.append(Middleware(ProxyUser, proxies=proxies, header=deployment.user_header))
        found.append(Middleware(ProxyHeadersMiddleware, trusted_hosts=proxies))
    if deployment.request_log or os.environ.get(FOLDER):
        found.append(Middleware(Observed, log=deployment.request_log))
    return found


_log = logging.getLogger("lapsus.web")
REFRESH_EVERY = 5.0
"""Seconds."""


async def refresh_stats(store: Store) -> None:
    """Run until the server ends. Errors are logged; the next round tries again."""
    with survived("figures were not brought up to date"):
        # Left alone where the server ends before: nothing waits for it.
        await anyio.to_thread.run_sync(precompute_stats, store, abandon_on_cancel=True)
        # What downloads are offered in: the first to look would wait for them to be imported.
        await anyio.to_thread.run_sync(lambda: [FORMATS.get(name) for name in TAKEN], abandon_on_cancel=True)
    while True:
        await asyncio.sleep(REFRESH_EVERY)
        with survived("figures were not brought up to date"):
            await run_in_threadpool(store.stats.refresh)
