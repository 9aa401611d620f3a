"""Background replies of systems in talks: asked once, retried, stored before they are shown.

Whoever takes a person's turn in holds the talk until the reply is there. Should a server end before that, whichever
server is asked next goes on.
"""

import asyncio
import logging
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Final

from starlette.concurrency import run_in_threadpool

from lapsus.collect.asking import Systems
from lapsus.errors import LapsusError
from lapsus.http_client import StoppedError
from lapsus.store import Store
from lapsus.store.people import new_secret

_log = logging.getLogger("lapsus.web")
AT_ONCE: Final = 32
"""Systems that are asked at a time."""
TRIES: Final = 2
"""How often a system is asked before the person is told that it does not answer. It is asked again then, too."""
PAUSE: Final = 0.5
LOOK: Final = 1.0
"""Seconds between two looks for what another server, or a person elsewhere, has said."""


class Replies:
    """The reply workers of one server."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.holder = new_secret()
        """By which talks are held here."""
        self._pool = ThreadPoolExecutor(AT_ONCE, "lapsus-replies")
        self._stop = threading.Event()
        self._guard = threading.Lock()
        self._systems = Systems(self._stop)
        self._under_way: dict[int, Future[None]] = {}
        self._waiting: dict[int, list[asyncio.Event]] = {}

    def close(self) -> None:
        """End. What is under way is asked for again by whoever waits for it at the next server."""
        self._stop.set()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def begin(self, talk: int) -> None:
        """Make the reply in a talk that is held here."""
        with self._guard:
            if talk not in self._under_way and not self._stop.is_set():
                self._under_way[talk] = self._pool.submit(self._reply, talk)
                self._under_way[talk].add_done_callback(lambda _: self._under_way.pop(talk, None))

    def said(self, talk: int) -> None:
        """A person said something: tell whoever waits here."""
        for event in self._waiting.get(talk, ()):
            event.set()

    async def wait(self, talk: int, turns: int, seconds: float) -> None:
        """Wait until there are more turns than that, a system has failed, or the time is up."""
        until = time.monotonic() + seconds
        event = asyncio.Event()
        self._waiting.setdefault(talk, []).append(event)
        try:
            while (left := until - time.monotonic()) > 0:
                if (under_way := self._under_way.get(talk)) is not None:
                    with suppress(TimeoutError, asyncio.CancelledError):
                        await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(under_way)), left)
                    return
                found = await run_in_threadpool(self._store.talks.get, talk)
                if len(found.turns) > turns or found.state == "done":
                    return
                if found.awaits_program:
                    if await run_in_threadpool(self._store.talks.claim, talk, self.holder) is not None:
                        self.begin(talk)
                        continue
                    if found.failures:
                        left = min(left, 2 * LOOK)
                with suppress(TimeoutError):
                    await asyncio.wait_for(event.wait(), min(left, LOOK))
                event.clear()
        finally:
            self._waiting[talk].remove(event)
            if not self._waiting[talk]:
                del self._waiting[talk]

    def _reply(self, talk: int) -> None:
        found = self._store.talks.get(talk)
        if not found.awaits_program:
            return
        position = len(found.turns)
        for left in reversed(range(TRIES)):
            try:
                self._store.talks.replied(talk, position, self._systems.reply(found)).result()
            except (LapsusError, StoppedError) as error:
                _log.warning("talk %s: %s", talk, error)
                if left and not self._stop.wait(PAUSE):
                    continue
                self._store.talks.failed(talk, position)
                return
            except Exception:
                _log.exception("talk %s could not go on", talk)
                self._store.talks.failed(talk, position)
                return
            return
