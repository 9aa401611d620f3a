"""The workbench as one application."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.convertors import CONVERTOR_TYPES, Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from lapsus.errors import LapsusError
from lapsus.model import Document, Scheme
from lapsus.model.decoders import decoder
from lapsus.store import Plan, Store
from lapsus.web.addresses import SubPath
from lapsus.web.deployment import PLAIN, Deployment
from lapsus.web.error_responses import on_http_error, on_lapsus_error, on_trouble
from lapsus.web.judge_sources import JudgeSources
from lapsus.web.judge_work import JudgeWork
from lapsus.web.learning import Learner
from lapsus.web.observation import FOLDER, Observed
from lapsus.web.proxy_user import ProxyUser
from lapsus.web.request_context import Web
from lapsus.web.security import BodyLimit, Compressed, SafeHeaders
from lapsus.web.stats_refresh import refresh_stats
from lapsus.web.talk_work import Replies


class _Slug(Convertor[str]):
    regex = "[a-z0-9-]{1,60}"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


class _Secret(_Slug):
    regex = "[A-Za-z0-9_-]{10,100}"


class _Number(Convertor[int]):
    """A number that every database can hold."""

    regex = "[0-9]{1,9}"

    def convert(self, value: str) -> int:
        return int(value)

    def to_string(self, value: int) -> str:
        return str(value)


def _register() -> None:
    known: dict[str, Convertor[str] | Convertor[int]] = {
        "slug": _Slug(),
        "secret": _Secret(),
        "number": _Number(),
    }
    for name, convertor in known.items():
        if name not in CONVERTOR_TYPES:
            register_url_convertor(name, convertor)


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
    _register()
    # Only now: routes are made from paths whose kinds of parameters have to be known.
    from lapsus.web.routes import every_route

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
        routes=every_route(),
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
    app.state.web = Web(store, links or {}, bool(links), deployment, sources, work, replies)
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
