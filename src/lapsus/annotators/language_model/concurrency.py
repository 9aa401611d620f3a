"""Slow work done several things at a time, with no more in hand than that."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from queue import SimpleQueue
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def run_concurrently(
    work: Callable[[T], R], things: Iterable[T], parallel: int, stop: threading.Event
) -> Iterator[R]:
    """The results as they come. Things are taken here, one for each result; once `stop` is set, no more are.

    `work` must not raise. The threads are daemons: a program that is ended does not wait for a slow server.
    """
    waiting: SimpleQueue[T | None] = SimpleQueue()
    done: SimpleQueue[R] = SimpleQueue()

    def run() -> None:
        while (thing := waiting.get()) is not None:
            done.put(work(thing))

    threads = 0
    in_hand = 0
    source = iter(things)
    try:
        while True:
            while in_hand < parallel and not stop.is_set() and (thing := next(source, None)) is not None:
                waiting.put(thing)
                in_hand += 1
                if threads < in_hand:
                    threading.Thread(target=run, daemon=True, name="lapsus-asking").start()
                    threads += 1
            if not in_hand:
                return
            yield done.get()
            in_hand -= 1
    finally:
        for _ in range(threads):
            waiting.put(None)
