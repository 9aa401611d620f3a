"""Work that a server does beside its answers: figures are brought up to date before anybody asks for them."""

from __future__ import annotations

import asyncio

from starlette.concurrency import run_in_threadpool

from lapsus.errors import LapsusError
from lapsus.store import Store

EVERY = 5.0
"""Seconds."""


async def keep_figures(store: Store) -> None:
    """Until the server ends. Trouble of the database is no trouble here: the next look makes up for it."""
    while True:
        await asyncio.sleep(EVERY)
        try:
            await run_in_threadpool(store.keep_figures)
        except LapsusError:
            continue
