"""Running the workbench: a socket, a server, and a clean end."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping

import uvicorn

from lapsus.errors import UsageError
from lapsus.store import Store
from lapsus.web.app import create_app

PORT = 8642
GRACE = 5
"""Seconds that requests under way have to finish when the server ends."""


class _Server(uvicorn.Server):
    """Tells when it is up."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then tell."""
        await super().startup(sockets)
        if self.started:
            self._ready()


def listen(host: str, port: int | None) -> socket.socket:
    """A socket to serve on; without a port, ours or else any that is free."""
    try:
        return _bind(host, PORT if port is None else port)
    except (OSError, OverflowError) as error:
        if port is None:
            return _bind(host, 0)
        raise UsageError(
            f"cannot listen there: {getattr(error, 'strerror', None) or error}",
            where=f"{host}:{port}",
            hint="choose another --port",
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
) -> None:
    """Serve until told to end; then finish what is under way and close the store."""
    app = create_app(store, links=links)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        http="httptools",
        server_header=False,
        timeout_graceful_shutdown=GRACE,
        lifespan="on",
    )
    server = _Server(config, ready)
    try:
        server.run(sockets=[listening])
    except KeyboardInterrupt:
        # Ctrl-C is how one ends it; by now everything is closed.
        return
    finally:
        listening.close()
