"""Work that a server does beside its answers: figures are brought up to date before anybody asks for them."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import anyio
from starlette.concurrency import run_in_threadpool

from lapsus.errors import LapsusError
from lapsus.insight import warm
from lapsus.store import Store

EVERY = 5.0
"""Seconds."""


async def keep_figures(store: Store) -> None:
    """Until the server ends. Trouble of the database is no trouble here: the next look makes up for it."""
    with suppress(LapsusError):
        # Left alone where the server ends before: nothing waits for it.
        await anyio.to_thread.run_sync(warm, store, abandon_on_cancel=True)
    while True:
        await asyncio.sleep(EVERY)
        with suppress(LapsusError):
            await run_in_threadpool(store.keep_figures)
