"""What was worked out of a campaign's figures: kept until they change, and a little longer where it costs much."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any, Final, NamedTuple

KEPT: Final = 256
"""How many results stay in memory."""
SLOW: Final = 0.15
"""Seconds of a processor. What took less is worked out anew while somebody waits, so that it is always of now."""
AT_ONCE: Final = 1
"""How many results are worked out beside the answers at a time: saves and pages go first."""

Key = tuple[Any, ...]


class Result(NamedTuple):
    """A result, and what it was made from."""

    version: int
    """Of the figures."""
    at: datetime
    seconds: float
    """What it costs, with all that it is made from, whoever paid for that."""
    value: Any


class _Lent(threading.local):
    """What the results cost that one in the making takes ready made."""

    seconds = 0.0


class Results:
    """Results by what they are about; those that nobody asked for in a long time go first."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._found: OrderedDict[Key, Result] = OrderedDict()
        self._guard = threading.Lock()
        self._lent = _Lent()
        self._under_way: set[Key] = set()
        self._workers = ThreadPoolExecutor(AT_ONCE, "lapsus-figures")

    def exact(self, key: Key, version: int, make: Callable[[], Any]) -> Result:
        """What goes with this version of the figures, worked out where it is new."""
        found = self._known(key)
        if found is not None and found.version >= version:
            self._lent.seconds += found.seconds
            return found
        before, self._lent.seconds = self._lent.seconds, 0.0
        at, begun = self._clock(), time.thread_time()
        value = make()
        made = Result(version, at, time.thread_time() - begun + self._lent.seconds, value)
        self._lent.seconds += before
        with self._guard:
            other = self._found.get(key)
            # Somebody else may have been quicker, and with newer figures.
            if other is None or other.version < version:
                self._found[key] = made
            self._found.move_to_end(key)
            while len(self._found) > KEPT:
                self._found.popitem(last=False)
        return made

    def latest(self, key: Key, version: int, make: Callable[[], Any]) -> Result:
        """The same; but where it takes long, what was found last, while what is new is worked out beside."""
        found = self._known(key)
        if found is None or found.version >= version or found.seconds < SLOW:
            return self.exact(key, version, make)
        with self._guard:
            is_new = key not in self._under_way
            self._under_way.add(key)
        if is_new:
            self._workers.submit(self._work, key, version, make)
        return found

    def _known(self, key: Key) -> Result | None:
        with self._guard:
            if key in self._found:
                self._found.move_to_end(key)
            return self._found.get(key)

    def _work(self, key: Key, version: int, make: Callable[[], Any]) -> None:
        # Nobody waits for this: where it fails, the next look starts it again, and shows of when its figures are.
        try:
            self.exact(key, version, make)
        finally:
            with self._guard:
                self._under_way.discard(key)
