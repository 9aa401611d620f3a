"""The workbench as one application."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress

from starlette.applications import Starlette
from starlette.convertors import CONVERTOR_TYPES, Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware

from lapsus.errors import LapsusError
from lapsus.model import Document, Scheme
from lapsus.model.decoding import decoder
from lapsus.store import Plan, Store
from lapsus.web.keeping import keep_figures
from lapsus.web.refusing import on_http_error, on_lapsus_error, on_trouble
from lapsus.web.security import BodyLimit, Compressed, SafeHeaders
from lapsus.web.visit import Web


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


def create_app(store: Store, *, links: Mapping[str, int] | None = None) -> Starlette:
    """The application on a store, which it closes when it ends. `links`: sign-in links of a demonstration."""
    _register()
    # Only now: routes are made from paths whose kinds of parameters have to be known.
    from lapsus.web.routes.every import every_route

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        keeping = asyncio.create_task(keep_figures(store))
        yield
        keeping.cancel()
        with suppress(asyncio.CancelledError):
            await keeping
        store.close()

    app = Starlette(
        routes=every_route(),
        middleware=[
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
    app.state.web = Web(store, links or {})
    return app
