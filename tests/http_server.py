"""HTTP servers on this machine, for tests that need somebody to talk to."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Handler(BaseHTTPRequestHandler):
    """Says nothing on the terminal."""

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def listening(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Serve on a free port while the block runs; the address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        # Ending waits for the next look, so it looks often.
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
