"""Background runs of programs that judge: started, leased, stopped, and resumed after a restart."""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import msgspec

from lapsus.annotators.language_model import LanguageModel
from lapsus.campaign_stats.program_work import judge_campaign
from lapsus.errors import LapsusError
from lapsus.notices import listed, packed
from lapsus.store import Store, StoreError
from lapsus.store.people import new_secret
from lapsus.store.program_runs import ProgramRun, RunState
from lapsus.web.judge_sources import JudgeSources, JudgeSpec
from lapsus.web.observation import survived

_log = logging.getLogger("lapsus.web")
AT_ONCE: Final = 2
"""Programs that judge at a time in one server."""
EVERY: Final = 5.0
"""Seconds between two looks for something to do."""
BEAT: Final = 3.0
"""Seconds after which the lease on a run is renewed."""
PATIENCE: Final = 5.0
"""Seconds that programs at work have to finish what is under way when the server ends."""


def _in_words(error: LapsusError) -> str:
    return listed((text for text in (error.where, error.what, error.hint) if text), "then")


class JudgeWork:
    """The threads of one server in which programs judge."""

    def __init__(self, store: Store, sources: JudgeSources) -> None:
        self._store, self.sources = store, sources
        self._end, self._wake = threading.Event(), threading.Event()
        self._stops: dict[int, threading.Event] = {}
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Look for work until `close`."""
        for place in range(AT_ONCE):
            name = f"{new_secret()}-{place}"
            thread = threading.Thread(target=self._loop, args=(name,), name="lapsus-judges", daemon=True)
            self._threads.append(thread)
            thread.start()

    def look(self) -> None:
        """Stop runs that were stopped, and look for new ones at once."""
        for run, stop in list(self._stops.items()):
            if self._store.program_runs.get(run).state != "running":
                stop.set()
        self._wake.set()

    def close(self) -> None:
        """End. What is under way goes on with the next server that opens this database."""
        self._end.set()
        self._wake.set()
        for stop in list(self._stops.values()):
            stop.set()
        until = time.monotonic() + PATIENCE
        for thread in self._threads:
            while thread.is_alive() and time.monotonic() < until:
                # Again and again: another thread may have put the signal down before this one saw it.
                self._wake.set()
                thread.join(0.1)

    def _loop(self, worker: str) -> None:
        while not self._end.is_set():
            run = None
            with survived("judges at work could not be looked up"):
                run = self._store.program_runs.claim(worker, self.sources.may)
            if run is None:
                self._wake.wait(EVERY)
                self._wake.clear()
            else:
                self._work(run, worker)

    def _work(self, run: ProgramRun, worker: str) -> None:
        stop = threading.Event()
        state: RunState = "running"
        note, refused = "", 0
        try:
            with self._holding(run, worker, stop):
                refused = self._judge(run, stop)
                state = "running" if stop.is_set() else "done"
        except StoreError as error:
            # The database has a bad moment, not the program: it is tried again.
            _log.warning("%s waits: %s", run.name, error)
            self._end.wait(EVERY)
        except LapsusError as error:
            state, note = "failed", packed(_in_words(error))
        except Exception as error:
            _log.exception("%s could not go on in %s", run.name, run.campaign)
            state, note = "failed", packed(f"{type(error).__name__}: {error}")
        # Where that fails, its lease runs out by itself.
        with survived(f"{run.name} could not be released"):
            self._store.program_runs.release(run.id, worker, state, note, refused)

    @contextmanager
    def _holding(self, run: ProgramRun, worker: str, stop: threading.Event) -> Iterator[None]:
        """Renew the lease every few seconds; set `stop` if it is lost."""
        over = threading.Event()

        def beat() -> None:
            while not over.wait(BEAT):
                with survived(f"the lease on {run.name} could not be renewed"):
                    if not self._store.program_runs.hold(run.id, worker):
                        stop.set()

        self._stops[run.id] = stop
        if self._end.is_set():
            stop.set()
        beating = threading.Thread(target=beat, name="lapsus-judges-beat", daemon=True)
        beating.start()
        try:
            yield
        finally:
            over.set()
            beating.join()
            del self._stops[run.id]

    def _judge(self, run: ProgramRun, stop: threading.Event) -> int:
        """Judge until all is judged or one should stop; how many units could not be judged."""
        store = self._store
        scheme = store.campaigns.scheme(run.campaign)
        annotator = self.sources.make(msgspec.convert(run.spec, JudgeSpec), scheme, stop)
        program, by = store.people.get(run.program), store.program_runs.started_by(run)
        judge_campaign(store, run.campaign, program, annotator, stop=stop, by=by)
        if annotator.ended is not None:
            raise annotator.ended
        return len(annotator.refused) if isinstance(annotator, LanguageModel) else 0
