"""Work beside the answers of a server, in the order in which it came."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable


class WorkQueue:
    """Does what is put into it, so many things at a time. Its threads end with the work, or with the server."""

    def __init__(self, at_once: int) -> None:
        self._at_once, self._running = at_once, 0
        self._waiting: deque[Callable[[], None]] = deque()
        self._guard = threading.Lock()

    def put(self, work: Callable[[], None]) -> None:
        """Have something done, which must see to its own errors."""
        with self._guard:
            self._waiting.append(work)
            if self._running == self._at_once:
                return
            self._running += 1
        threading.Thread(target=self._run, name="lapsus-figures", daemon=True).start()

    def _run(self) -> None:
        while True:
            with self._guard:
                if not self._waiting:
                    self._running -= 1
                    return
                work = self._waiting.popleft()
            work()
