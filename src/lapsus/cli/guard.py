"""`lapsus guard`: a server that judges replies before they are sent."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from lapsus.cli.database_option import DbOption, open_database
from lapsus.cli.output import remark, say
from lapsus.cli.serve import HostOption
from lapsus.errors import UsageError, reason_of


def guard_command(
    upstream: Annotated[
        str,
        typer.Option("--upstream", help="OpenAI-compatible system behind it, up to /v1.", metavar="URL"),
    ] = "",
    candidates: Annotated[
        int, typer.Option("--candidates", help="Replies to ask for at most.", min=1, max=16, metavar="N")
    ] = 3,
    most_risk: Annotated[
        float, typer.Option("--most-risk", help="Risk above which a reply is flagged.", metavar="RISK")
    ] = 0.6,
    then: Annotated[
        str,
        typer.Option("--then", help="choose, regenerate, flag or pass.", metavar="WHAT"),
    ] = "choose",
    stream: Annotated[
        str, typer.Option("--stream", help="Streams: hold until judged, or pass.", metavar="HOW")
    ] = "hold",
    fail: Annotated[
        str,
        typer.Option("--fail", help="Unjudged replies are sent (open) or refused (closed).", metavar="HOW"),
    ] = "open",
    flagged: Annotated[
        Path | None,
        typer.Option("--flagged", help="Add flagged replies to this file.", metavar="CHATS.jsonl"),
    ] = None,
    campaign: Annotated[
        str | None, typer.Option("--campaign", help="Add flagged replies to this campaign.", metavar="NAME")
    ] = None,
    db: DbOption = None,
    reader: Annotated[
        str, typer.Option("--reader", help="small, or large as for `lapsus check`.", metavar="READER")
    ] = "small",
    host: HostOption = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", help="Port to listen on; 0: any free one.", metavar="N")
    ] = 8643,
    at_once: Annotated[
        int, typer.Option("--at-once", help="Requests under way at most.", min=1, metavar="N")
    ] = 64,
    threads: Annotated[
        int, typer.Option("--threads", help="Replies judged side by side.", min=1, max=256, metavar="N")
    ] = 2,
    timeout: Annotated[
        float, typer.Option("--timeout", help="Seconds the system behind it has.", min=0.1, metavar="SECONDS")
    ] = 60.0,
) -> None:
    """Judge replies before they are sent: a server to ask, or a proxy before your system."""
    from lapsus.guard.app import GuardServer
    from lapsus.guard.guard import Guard
    from lapsus.guard.metrics import Metrics
    from lapsus.guard.recording import Recorder, to_campaign, to_file
    from lapsus.guard.settings import FAIL, STREAM, THEN, Settings
    from lapsus.web.server import address, listen, serve_app

    for name, value, known in (("then", then, THEN), ("stream", stream, STREAM), ("fail", fail, FAIL)):
        if value not in known:
            raise UsageError("option-not-one-of", name=f"--{name}", value=value, known=", ".join(known))
    if upstream and not upstream.startswith(("http://", "https://")):
        raise UsageError("upstream-no-address", hint="upstream-write-http", upstream=upstream)
    guard = Guard(most_risk=most_risk, reader=reader)
    settings = Settings(
        upstream, cast(Any, then), candidates, cast(Any, stream), cast(Any, fail), at_once, threads, timeout
    )
    with ExitStack() as stack:
        writes = []
        if flagged is not None:
            try:
                writes.append(to_file(flagged))
            except OSError as error:
                raise UsageError("guard-cannot-write", where=str(flagged), reason=reason_of(error)) from None
        if campaign is not None:
            writes.append(to_campaign(stack.enter_context(open_database(db)), campaign))
        metrics = Metrics()
        server = GuardServer(guard, settings, metrics, Recorder(writes, metrics))
        listening = stack.enter_context(listen(host, port))

        def ready() -> None:
            say("guard-at", root=address(listening))
            remark("ctrl-c-ends")

        serve_app(server.app, listening, ready)
