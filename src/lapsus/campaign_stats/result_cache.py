"""Results computed from a campaign's counts: kept until these change, and a little longer where computing costs much.

No page waits long for one: results are computed in threads of their own, and a page takes what is there in time.
"""

import logging
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final, NamedTuple

from lapsus.errors import LapsusError

KEPT: Final = 256
"""How many results stay in memory."""
SLOW: Final = 0.15
"""Seconds of processor time: a figure that took less is recomputed at once, a slower one is shown as found last."""
AGAIN: Final = 60.0
"""Seconds until something is tried again that failed and of which nothing has changed."""
AT_ONCE: Final = 4
"""How many small results are worked out at a time. Of large ones it is one: saves and pages go first."""

Key = tuple[Any, ...]

_log = logging.getLogger("lapsus.campaign_stats")


class CachedResult(NamedTuple):
    """A result, and what it was made from."""

    version: int
    """Of the figures."""
    at: datetime
    seconds: float
    """Time to compute it, with all cached results that it was made from."""
    value: Any


class CacheLookup(NamedTuple):
    """What there is to show just now."""

    found: CachedResult | None
    """None: it is being worked out for the first time."""
    trouble: str | None
    """Why nothing newer could be worked out."""


class _Trouble(NamedTuple):
    version: int
    when: float
    why: str


class _Lent(threading.local):
    """Per thread: the seconds that results already in the cache had cost, where the result being computed uses them."""

    seconds = 0.0


class WorkQueue:
    """Runs work in so many threads at a time; they end when nothing waits, or with the server."""

    def __init__(self, at_once: int) -> None:
        self._at_once, self._running = at_once, 0
        self._waiting: deque[Callable[[], None]] = deque()
        self._guard = threading.Lock()

    def put(self, work: Callable[[], None]) -> None:
        """Queue a function, which must handle its own errors."""
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


class ResultCache:
    """Results by what they are about; those that nobody asked for in a long time go first."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._found: OrderedDict[Key, CachedResult] = OrderedDict()
        self._troubles: dict[Key, _Trouble] = {}
        self._guard = threading.Lock()
        self._lent = _Lent()
        self._under_way: dict[Key, threading.Event] = {}
        self._small, self._large = WorkQueue(AT_ONCE), WorkQueue(1)

    def exact(self, key: Key, version: int, make: Callable[[], Any]) -> CachedResult:
        """What goes with this version of the figures, worked out where it is new."""
        found = self._known(key)
        if found is not None and found.version >= version:
            self._lent.seconds += found.seconds
            return found
        before, self._lent.seconds = self._lent.seconds, 0.0
        at, begun = self._clock(), time.thread_time()
        value = make()
        made = CachedResult(version, at, time.thread_time() - begun + self._lent.seconds, value)
        self._lent.seconds += before
        with self._guard:
            other = self._found.get(key)
            # Somebody else may have been quicker, and with newer figures.
            if other is None or other.version < version:
                self._found[key] = made
            self._found.move_to_end(key)
            while len(self._found) > KEPT:
                self._found.popitem(last=False)
            self._troubles.pop(key, None)
        return made

    def latest(
        self, key: Key, version: int, make: Callable[[], Any], *, wait: float, is_large: bool = False
    ) -> CacheLookup:
        """The same, but only what is there within so many seconds; the rest is worked out beside.

        What is known to take long is not waited for where there is something to show.
        """
        until = time.monotonic() + wait
        found = self._known(key)
        while (found is None or found.version < version) and not self._rests(key, version):
            done = self._start(key, version, make, self._large if is_large else self._small)
            if found is not None and found.seconds >= SLOW:
                break
            if not done.wait(max(0.0, until - time.monotonic())):
                break
            found = self._known(key)
        trouble = self._troubles.get(key)
        return CacheLookup(found, None if trouble is None else trouble.why)

    def _known(self, key: Key) -> CachedResult | None:
        with self._guard:
            if key in self._found:
                self._found.move_to_end(key)
            return self._found.get(key)

    def _rests(self, key: Key, version: int) -> bool:
        """Whether the very same work failed a moment ago."""
        trouble = self._troubles.get(key)
        return trouble is not None and trouble.version >= version and time.monotonic() - trouble.when < AGAIN

    def _start(self, key: Key, version: int, make: Callable[[], Any], lane: WorkQueue) -> threading.Event:
        """Have it worked out, once however many ask; the event tells when that is over."""
        with self._guard:
            if key in self._under_way:
                return self._under_way[key]
            done = threading.Event()
            if self._rests(key, version):
                # It failed between the caller's look and now.
                done.set()
                return done
            self._under_way[key] = done
        lane.put(lambda: self._work(key, version, make, done))
        return done

    def _work(self, key: Key, version: int, make: Callable[[], Any], done: threading.Event) -> None:
        try:
            self.exact(key, version, make)
        except Exception as error:
            _log.exception("figures of %s could not be worked out", " ".join(map(str, key)))
            with self._guard:
                self._troubles[key] = _Trouble(version, time.monotonic(), _told(error))
        finally:
            with self._guard:
                del self._under_way[key]
            done.set()


def _told(error: Exception) -> str:
    """What went wrong, for those who look at the page; the log has the rest."""
    return str(error) if isinstance(error, LapsusError) else f"{type(error).__name__}: {error}"
