"""Group commit: one thread takes all waiting work, commits it together, then answers each caller.

A commit that survives a power cut costs milliseconds, and it costs the same for one save and for a hundred.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from lapsus.errors import UsageError
from lapsus.store.records import StoreError

T = TypeVar("T")
R = TypeVar("R")

MOST = 64
"""How many are committed together at most, so that the first does not wait long for the last."""

PATIENCE = 0.002
"""Seconds to wait at most for others who are expected: about what a commit takes. Whoever is alone never waits."""


class Writer(Generic[T, R]):
    """A thread that works on batches. `work` returns a result or an error for each, once all are on disk."""

    def __init__(self, work: Callable[[list[T]], list[R | Exception]]) -> None:
        self._work = work
        self._waiting: SimpleQueue[tuple[T, Future[R]] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._guard = threading.Lock()
        self._closed = False

    def submit(self, thing: T) -> Future[R]:
        """Queue something. The future is done when it is on disk, or refused."""
        future: Future[R] = Future()
        with self._guard:
            if self._closed:
                raise UsageError("store-closed")
            if self._thread is None or not self._thread.is_alive():
                # A daemon, so that a program that forgets to close does not hang; what it had not
                # committed by then was not acknowledged either.
                self._thread = threading.Thread(target=self._run, name="lapsus-writer", daemon=True)
                self._thread.start()
            self._waiting.put((thing, future))
        return future

    def close(self) -> None:
        """Finish what is in line, then end."""
        with self._guard:
            self._closed = True
            self._waiting.put(None)
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        expected = 1
        while (first := self._waiting.get()) is not None:
            batch, until = [first], time.monotonic() + PATIENCE
            # Those who were told together last time will come back together: a commit that starts with the first
            # of them would leave the others to the next one.
            while len(batch) < MOST and (more := self._next(len(batch) < expected, until)) is not None:
                batch.append(more)
            self._do(batch)
            expected = len(batch)

    def _next(self, is_expected: bool, until: float) -> tuple[T, Future[R]] | None:
        """What is waiting, or what comes before the time is up."""
        try:
            left = until - time.monotonic()
            item = self._waiting.get(is_expected and left > 0, max(left, 0.0))
        except Empty:
            return None
        if item is None:
            self._waiting.put(None)
        return item

    def _do(self, batch: list[tuple[T, Future[R]]]) -> None:
        wanted = [(thing, future) for thing, future in batch if future.set_running_or_notify_cancel()]
        try:
            results = self._work([thing for thing, _ in wanted])
        except Exception as error:
            results = [error] * len(wanted)
        except BaseException as error:
            # The thread ends, but nobody is left waiting; whoever comes next gets a new one.
            for _, future in wanted:
                future.set_exception(StoreError("writer-ended", hint="try-again", error=error))
            raise
        for (_, future), result in zip(wanted, results, strict=True):
            if isinstance(result, Exception):
                future.set_exception(result)
            else:
                future.set_result(result)
