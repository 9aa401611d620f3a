"""Libraries: those that not every install has are asked for when they are needed; matrix products on one thread."""

import importlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from threading import Lock
from typing import Any, Final

from lapsus.errors import UsageError
from lapsus.notices import Notice


def require(module: str, extra: str | None, purpose: str) -> Any:
    """A module of an extra, or of every install. Typed as anything: types are checked alike with and without it.

    `purpose` is the id of a notice that says what needs it.
    """
    if module.partition(".")[0] == "onnxruntime":
        # From 1.31 on, if not earlier, it tells its makers of each process, unless this is said before it is loaded.
        os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        command = f"pip install 'lapsus-eval[{extra}]'" if extra else "pip install lapsus-eval"
        raise UsageError("needs", hint=command, purpose=Notice(purpose), package=package) from error


class _OneThread:
    """A limit that all who need it share, since the library has one for the whole process.

    Whoever comes first sets it and whoever leaves last lifts it: if each put back what it had found, the limit would
    stay for good where two overlap.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._limit: Any = None

    @cached_property
    def _controller(self) -> Any:
        return _threadpoolctl().ThreadpoolController()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            if not self._inside:
                self._limit = self._by_this_thread(lambda: self._controller.limit(limits=1, user_api="blas"))
            self._inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if not self._inside:
                    self._by_this_thread(self._limit.restore_original_limits)

    def _by_this_thread(self, change: Callable[[], Any]) -> Any:
        # The library lets the first thread that set a limit set others, and silently does nothing for the rest.
        set_free = _threadpoolctl().OpenBLASController.clear_controlling_thread
        set_free(force=True)
        try:
            return change()
        finally:
            set_free(force=True)


def _threadpoolctl() -> Any:
    return require("threadpoolctl", None, "purpose-sentences")


one_thread: Final = _OneThread()
"""Matrix products on one thread each: on small matrices more threads wait for each other most of the time."""
