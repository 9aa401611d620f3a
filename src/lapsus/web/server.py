"""Running the workbench: a socket, a server, and a clean end."""

import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import uvicorn
from starlette.applications import Starlette
from uvicorn.supervisors.multiprocess import Multiprocess

from lapsus.errors import UsageError, reason_of
from lapsus.store import Store, open_store
from lapsus.web.app import create_app
from lapsus.web.connection import LimitedProtocol
from lapsus.web.deployment import PLAIN, Deployment
from lapsus.web.judge_sources import JudgeSources
from lapsus.web.observation import log_as_json

PORT = 8642
GRACE = 5
"""Seconds that requests under way have to finish when the server ends."""
STARTING = 180
"""Seconds in which a process has to be up: on a busy machine it takes long to begin."""
ANSWERING = 60
"""Seconds in which it has to answer whether it still is."""


class _Server(uvicorn.Server):
    """Tells when it is up."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, and only then say where."""
        await super().startup(sockets)
        if self.started:
            self._ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """A terminal that closes is a reason to end like any other, with what is under way finished first."""
        hang_up = getattr(signal, "SIGHUP", None)
        is_main = threading.current_thread() is threading.main_thread()
        with super().capture_signals():
            if hang_up is None or not is_main or signal.getsignal(hang_up) is signal.SIG_IGN:
                yield
                return
            before = signal.signal(hang_up, self.handle_exit)
            try:
                yield
            finally:
                signal.signal(hang_up, before)


def listen(host: str, port: int | None) -> socket.socket:
    """A socket to serve on; without a port, ours or else any that is free."""
    try:
        return _bind(host, PORT if port is None else port)
    except (OSError, OverflowError) as error:
        if port is None:
            return _bind(host, 0)
        raise UsageError(
            "cannot-listen",
            where=f"{host}:{port}",
            hint="choose-another-port",
            strerror=reason_of(error) if isinstance(error, OSError) else error,
        ) from error


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named: asyncio sends small answers without delay only on sockets that say they are TCP.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(1024)
    except BaseException:
        listening.close()
        raise
    return listening


def address(listening: socket.socket) -> str:
    """Where a browser finds the server."""
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": "localhost", "::": "localhost"}.get(host, host)  # noqa: S104  only to be shown
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(
    store: Store,
    listening: socket.socket,
    *,
    ready: Callable[[], None] = lambda: None,
    links: Mapping[str, int] | None = None,
    deployment: Deployment = PLAIN,
    judges: JudgeSources | None = None,
) -> None:
    """Serve until told to end; then finish what is under way and close the store."""
    if deployment.request_log:
        log_as_json()
    serve_app(create_app(store, links=links, deployment=deployment, judges=judges), listening, ready)


def serve_app(app: Starlette, listening: socket.socket, ready: Callable[[], None]) -> None:
    """Serve any application until told to end."""
    server = _Server(_config(app), ready)
    try:
        server.run(sockets=[listening])
    except KeyboardInterrupt:
        # Ctrl-C is how one ends it; by now everything is closed.
        return
    finally:
        listening.close()


def serve_workers(
    database: str | None,
    listening: socket.socket,
    workers: int,
    *,
    ready: Callable[[], None] = lambda: None,
    deployment: Deployment = PLAIN,
    judges: JudgeSources | None = None,
) -> None:
    """Serve from several processes, each with its own way to the database. One that dies is started anew."""
    config = _config(partial(_worker_app, database, deployment, judges), factory=True, workers=workers)
    if deployment.request_log:
        log_as_json()
    try:
        _Workers(config, listening, ready).run()
    finally:
        listening.close()


class _Workers(Multiprocess):
    """Processes on one socket. It tells when all of them are up."""

    def __init__(self, config: uvicorn.Config, listening: socket.socket, ready: Callable[[], None]) -> None:
        super().__init__(config, [listening])
        self._ready = ready

    def init_processes(self) -> None:
        """Start them, wait for them, then tell."""
        super().init_processes()
        if all(process.wait_until_ready(STARTING, self.should_exit) for process in self.processes):
            self._ready()


def _worker_app(database: str | None, deployment: Deployment, judges: JudgeSources | None) -> Starlette:
    """The application of one process among several."""
    if deployment.request_log:
        log_as_json()
    return create_app(open_store(database), deployment=deployment, judges=judges)


def _config(app: Any, **more: Any) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        http=LimitedProtocol,
        server_header=False,
        # Whose word counts is decided in the application, which also has to know who really speaks.
        proxy_headers=False,
        timeout_graceful_shutdown=GRACE,
        timeout_worker_healthcheck=ANSWERING,
        lifespan="on",
        **more,
    )
