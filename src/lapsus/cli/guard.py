"""`lapsus guard`: a server that judges replies before they are sent."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lapsus.cli.output import remark, say
from lapsus.cli.shared_options import open_database
from lapsus.errors import UsageError, reason_of

if TYPE_CHECKING:
    from lapsus.guard.recording import Write


def guard_command(
    upstream: str = "",
    candidates: int = 3,
    most_risk: float = 0.6,
    then: str = "choose",
    stream: str = "hold",
    fail: str = "open",
    flagged: Path | None = None,
    judged: Path | None = None,
    campaign: str | None = None,
    db: str | None = None,
    reader: str = "small",
    recovery: Path | None = None,
    host: str = "127.0.0.1",
    port: int = 8643,
    at_once: int = 64,
    threads: int = 2,
    timeout: float = 60.0,
) -> None:
    """Judge replies before they are sent: a server to ask, or a proxy before your system."""
    from lapsus.guard.app import GuardServer
    from lapsus.guard.guard import Guard
    from lapsus.guard.metrics import Metrics
    from lapsus.guard.recording import Recorder, to_campaign, to_file, to_judgments
    from lapsus.guard.settings import FAIL, STREAM, THEN, Settings
    from lapsus.web.server import address, listen, serve_app

    for name, value, known in (("then", then, THEN), ("stream", stream, STREAM), ("fail", fail, FAIL)):
        if value not in known:
            raise UsageError("option-not-one-of", name=f"--{name}", value=value, known=", ".join(known))
    if upstream and not upstream.startswith(("http://", "https://")):
        raise UsageError("upstream-no-address", hint="upstream-write-http", upstream=upstream)
    guard = Guard(most_risk=most_risk, reader=reader, recovery=recovery)
    guard.load()
    settings = Settings(
        upstream, cast(Any, then), candidates, cast(Any, stream), cast(Any, fail), at_once, threads, timeout
    )
    with ExitStack() as stack:
        writes, all_judged = [
            [] if path is None else [_writing(path, to)]
            for path, to in ((flagged, to_file), (judged, to_judgments))
        ]
        if campaign is not None:
            writes.append(to_campaign(stack.enter_context(open_database(db)), campaign))
        metrics = Metrics()
        server = GuardServer(guard, settings, metrics, Recorder(writes, metrics, all_judged))
        listening = stack.enter_context(listen(host, port))

        def ready() -> None:
            say("guard-at", root=address(listening))
            remark("ctrl-c-ends")

        serve_app(server.app, listening, ready)


def _writing(path: Path, to: Callable[[Path], Write]) -> Write:
    try:
        return to(path)
    except OSError as error:
        raise UsageError("guard-cannot-write", where=str(path), reason=reason_of(error)) from None
