"""Awaiting results of other threads without a thread for each."""

import asyncio
from collections import deque
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


class _Landing:
    """Where results come in for one event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._ready: deque[tuple[asyncio.Future[Any], Future[Any]]] = deque()
        self._is_called = False

    def arrive(self, waiter: asyncio.Future[Any], done: Future[Any]) -> None:
        """In the thread of whoever made the result."""
        self._ready.append((waiter, done))
        if not self._is_called:
            self._is_called = True
            # A loop that has ended has nobody left who waits.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._hand_out)

    def _hand_out(self) -> None:
        # First of all: whatever arrives from here on calls again.
        self._is_called = False
        while self._ready:
            waiter, done = self._ready.popleft()
            if waiter.done():
                continue
            if (error := done.exception()) is not None:
                waiter.set_exception(error)
            else:
                waiter.set_result(done.result())


_LANDINGS: WeakKeyDictionary[asyncio.AbstractEventLoop, _Landing] = WeakKeyDictionary()


async def awaited_result(future: Future[T]) -> T:
    """The result of a future of another thread. Who stops waiting does not stop the work."""
    loop = asyncio.get_running_loop()
    landing = _LANDINGS.get(loop)
    if landing is None:
        landing = _LANDINGS[loop] = _Landing(loop)
    waiter: asyncio.Future[T] = loop.create_future()
    future.add_done_callback(lambda done: landing.arrive(waiter, done))
    return await waiter
