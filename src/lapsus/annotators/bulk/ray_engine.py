"""Runs pieces of work on a Ray cluster; a piece of a node that is lost runs on another."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from importlib import import_module
from typing import Any, Self, TypeVar

import msgspec

from lapsus.annotators.bulk.run import Packed, Work
from lapsus.annotators.optional_libraries import require
from lapsus.errors import InputError, LapsusError, UsageError
from lapsus.model.frozen import decoder
from lapsus.notices import Notice, as_text
from lapsus.version import __version__

T = TypeVar("T")
R = TypeVar("R")

KINDS = {
    "judge": "lapsus.annotators.bulk.run:JudgeDocuments",
    "ask": "lapsus.annotators.language_model.asking:AskUnits",
}
"""Where the kinds of work are defined."""
ADDRESS = "RAY_ADDRESS"
"""The environment variable with the cluster's address: Ray's own."""
LOCAL = "local"
"""The address that stands for a cluster of this machine alone, which begins and ends with us."""
RETRIES = 20
"""How often a piece is begun anew when the process or the node that does it is lost."""
BEGUN = 2
"""Pieces a core: one in work, and one that lies ready."""
_LOOK_AGAIN = 10.0
"""Seconds after which the cluster's size is asked for again: nodes come and go."""
_KNOCK = 10.0
"""Seconds in which somebody must answer at the cluster's address."""
_SAME = Notice("install-same-lapsus-same")
_KNOWN = 2
"""Works that a process of the cluster has at hand: a log may be in two languages."""


class OnRay:
    """A Ray cluster: connected to, or started, when the first piece of work comes, and left at the end of `with`."""

    def __init__(
        self, address: str | None = None, tell: Callable[[OnRay], None] = lambda cluster: None
    ) -> None:
        """`address`: as Ray has it; else what RAY_ADDRESS says; else a cluster of this machine alone.

        `tell` hears of it once it is there.
        """
        self.address = address or os.environ.get(ADDRESS) or LOCAL
        self._ray: Any = require("ray", "ray", "purpose-cluster")
        self._tell = tell
        self._is_there = self._began = False
        self._sent: dict[str, Any] = {}
        self._cores, self._looked = 0.0, 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._began:
            self._ray.shutdown()
        self._is_there = self._began = False
        self._sent.clear()

    def _connect(self) -> None:
        if not self._ray.is_initialized():
            self._start()
        self._is_there = True
        self._tell(self)

    def _start(self) -> None:
        # Ray would report to its makers; what is done here is nobody else's affair.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        alone = {"include_dashboard": False} if self.address == LOCAL else {}
        try:
            _knock(self.address)
            self._ray.init(address=self.address, log_to_driver=False, logging_level="ERROR", **alone)
        except Exception as error:  # Ray's own have no base in common: a bare one says that it took too long
            raise UsageError(
                "no-ray-cluster-can",
                where=self.address,
                hint="look-ray-ray-status",
                line=_line(error),
                address=ADDRESS,
            ) from None
        self._began = True

    @property
    def cores(self) -> int:
        """How many cores the cluster has now."""
        if not self._is_there:
            self._connect()
        if not self._cores or time.monotonic() - self._looked > _LOOK_AGAIN:
            self._cores = self._ray.cluster_resources().get("CPU", 1.0)
            self._looked = time.monotonic()
        return max(1, int(self._cores))

    def room_for(self, work: Work[Any, Any]) -> int:
        """As many pieces as keep every core busy."""
        return self.cores * (work.at_once if work.by_unit else BEGUN)

    def begin(self, work: Work[T, R], things: Sequence[T]) -> Future[list[R]]:
        """Send a piece of work. The work itself travels once."""
        if not self._is_there:
            self._connect()
        if work.digest not in self._sent:
            self._sent[work.digest] = self._ray.put(work.pack())
        piece = self._ray.remote(_reply).options(
            num_cpus=1 / work.at_once, max_retries=RETRIES, name=f"lapsus {work.kind}"
        )
        reply = piece.remote([self._sent[work.digest]], work.digest, msgspec.json.encode(things))
        found: Future[list[R]] = Future()
        reply.future().add_done_callback(lambda done: self._settle(found, done, work))
        return found

    def _settle(self, found: Future[list[R]], reply: Future[bytes], work: Work[Any, R]) -> None:
        try:
            found.set_result(_taken(reply.result(), work))
        except LapsusError as error:
            found.set_exception(error)
        except Exception as error:  # of Ray, and whatever the work raised elsewhere
            cause = getattr(error, "cause", None) or error
            found.set_exception(
                LapsusError("cluster-could-not-do", where=self.address, hint=_SAME, line=_line(cause))
            )


class _Failure(msgspec.Struct, frozen=True):
    """An error that a user can mend, on its way back."""

    kind: str
    what: str
    where: str | None
    hint: str | None


class _Reply(msgspec.Struct, frozen=True):
    """What came out, or why nothing did."""

    results: msgspec.Raw = msgspec.Raw(b"[]")
    failure: _Failure | None = None


_ERRORS: dict[str, type[LapsusError]] = {kind.__name__: kind for kind in (InputError, UsageError)}
_WORKS: dict[str, Work[Any, Any]] = {}
"""In a process of the cluster: the works that it has unpacked."""


def _reply(sent: Sequence[Any], digest: str, content: bytes) -> bytes:
    """Runs in a process of the cluster: do a piece of work."""
    try:
        if digest not in _WORKS:
            (packed,) = require("ray", "ray", "purpose-cluster").get(list(sent))
            while len(_WORKS) >= _KNOWN:
                del _WORKS[next(iter(_WORKS))]
            _WORKS[digest] = unpack(packed)
        work = _WORKS[digest]
        results = work.do(decoder(work.takes).decode(content))
    except LapsusError as error:
        failure = _Failure(type(error).__name__, error.what, error.where, error.hint)
        return msgspec.json.encode(_Reply(failure=failure), enc_hook=as_text)
    return msgspec.json.encode(_Reply(msgspec.Raw(msgspec.json.encode(results, enc_hook=as_text))))


def unpack(packed: bytes) -> Work[Any, Any]:
    """The work that another process sent."""
    found = msgspec.msgpack.decode(packed, type=Packed)
    if found.version != __version__:
        raise UsageError(
            "node-cluster-lapsus",
            hint="install-same-lapsus-every",
            version=__version__,
            version2=found.version,
        )
    module, _, name = KINDS[found.kind].partition(":")
    kind: type[Work[Any, Any]] = getattr(import_module(module), name)
    return kind.restore(found.settings)


def _taken(reply: bytes, work: Work[Any, R]) -> list[R]:
    found = decoder(_Reply).decode(reply)
    if found.failure is not None:
        kind, what, where, hint = msgspec.structs.astuple(found.failure)
        raise _ERRORS.get(kind, LapsusError)(what, where=where, hint=hint)
    results: list[R] = decoder(work.gives).decode(found.results)
    return results


def _knock(address: str) -> None:
    """Complain at once where nobody is at an address: Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=_KNOCK).close()


def _line(error: BaseException) -> str:
    """An error of Ray in one line: the last one of its many says what was wrong."""
    said = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (said[-1] if said else type(error).__name__)[:300]
