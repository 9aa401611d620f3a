"""Background refresh of statistics, so that they are ready before anybody asks."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager

import anyio
from starlette.concurrency import run_in_threadpool

from lapsus.campaign_stats import precompute_stats
from lapsus.campaign_stats.unit_search import warm_units
from lapsus.errors import LapsusError
from lapsus.formats import FORMATS
from lapsus.store import Store
from lapsus.web.pages.stats.view import TAKEN

_log = logging.getLogger("lapsus.web")
EVERY = 5.0
"""Seconds."""


async def refresh_stats(store: Store) -> None:
    """Run until the server ends. Errors are logged; the next round tries again."""
    with _logged():
        # Left alone where the server ends before: nothing waits for it.
        for work in (precompute_stats, warm_units):
            await anyio.to_thread.run_sync(work, store, abandon_on_cancel=True)
        # What downloads are offered in: the first to look would wait for them to be imported.
        await anyio.to_thread.run_sync(lambda: [FORMATS.get(name) for name in TAKEN], abandon_on_cancel=True)
    while True:
        await asyncio.sleep(EVERY)
        with _logged():
            await run_in_threadpool(store.stats.refresh)


@contextmanager
def _logged() -> Iterator[None]:
    try:
        yield
    except LapsusError as error:
        _log.warning("figures were not brought up to date: %s", error)
    except Exception:
        _log.exception("figures were not brought up to date")
