"""Observability: a log line for each request, and metrics for Prometheus.

Neither holds anything secret: of an address only the pattern is written (`/join/{token}`), and of people the number.
"""

import json
import logging
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lapsus.errors import LapsusError, UsageError, reason_of
from lapsus.web.addresses import own_path

FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"
"""The variable by which the processes of one server know the folder in which they count together."""
_BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_log = logging.getLogger("lapsus.request")
_work_log = logging.getLogger("lapsus.web")


class Observed:
    """Writes and counts each request once it is answered."""

    def __init__(self, app: ASGIApp, *, log: bool) -> None:
        self.app = app
        self.log = log
        self.counters = _Counters() if os.environ.get(FOLDER) else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on; then say how it went."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun, status = time.perf_counter(), 500

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, noted)
        finally:
            self._note(scope, status, time.perf_counter() - begun)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = pattern(scope)
        if self.counters is not None:
            self.counters.note(scope["method"], route, status, seconds)
        if self.log:
            visit = scope.get("state", {}).get("visit")
            client = scope.get("client")
            _log.info(
                "%s %s %d",
                scope["method"],
                route,
                status,
                extra={
                    "fields": {
                        "method": scope["method"],
                        "route": route,
                        "status": status,
                        "ms": round(seconds * 1000, 1),
                        "client": client[0] if client else None,
                        "person": None if visit is None else visit.session.person,
                    }
                },
            )


def pattern(scope: Scope) -> str:
    """The route's pattern, not the path: no secrets, and a bounded number of labels."""
    if "endpoint" not in scope:
        return "unknown"
    path = own_path(scope)
    if path.startswith("/static/"):
        return "/static"
    names = {str(value): name for name, value in scope.get("path_params", {}).items()}

    def shown(part: str) -> str:
        known = [value for value in names if part == value or part.startswith(f"{value}.")]
        value = max(known, key=len, default="")
        return f"{{{names[value]}}}{part.removeprefix(value)}" if value else part

    return "/".join(shown(part) for part in path.split("/"))


class _Counters:
    """The figures of one process; the folder brings those of all together."""

    def __init__(self) -> None:
        from prometheus_client import Counter, Histogram

        self._requests = Counter("lapsus_requests", "Requests answered.", ("method", "route", "status"))
        self._seconds = Histogram(
            "lapsus_request_seconds", "How long answers took.", ("route",), buckets=_BUCKETS
        )

    def note(self, method: str, route: str, status: int, seconds: float) -> None:
        """One request."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)


class JsonLines(logging.Formatter):
    """A record of the log as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        said: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "process": record.process,
        }
        said |= getattr(record, "fields", None) or {"logger": record.name, "message": record.getMessage()}
        if record.exc_info:
            said["trace"] = self.formatException(record.exc_info)
        return json.dumps(said, ensure_ascii=False)


def log_as_json() -> None:
    """Log JSON lines to standard error in this process."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in ("", "uvicorn", "uvicorn.error", "lapsus"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler] if not name else []
        logger.propagate = True
    _log.setLevel(logging.INFO)


@contextmanager
def survived(what: str) -> Iterator[None]:
    """Log any error and go on: a worker that ended would leave its work undone until the server ends."""
    try:
        yield
    except LapsusError as error:
        _work_log.warning("%s: %s", what, error)
    except Exception:
        _work_log.exception("%s", what)


def count_requests() -> Path:
    """Make the folder in which this process and its children collect metrics."""
    folder = Path(tempfile.mkdtemp(prefix="lapsus-metrics-"))
    os.environ[FOLDER] = str(folder)
    return folder


def serve_metrics(host: str, port: int) -> int:
    """Serve metrics on a separate port; returns the port."""
    try:
        from prometheus_client import CollectorRegistry, start_http_server
        from prometheus_client.multiprocess import MultiProcessCollector
    except ModuleNotFoundError as error:
        raise UsageError(
            "figures-prometheus-need-prometheus-client", hint="pip install 'lapsus-eval[metrics]'"
        ) from error

    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    try:
        server, _ = start_http_server(port, host, registry)
    except OSError as error:
        where = f"{host}:{port}"
        raise UsageError("cannot-listen", where=where, strerror=reason_of(error)) from error
    return int(server.server_port)
