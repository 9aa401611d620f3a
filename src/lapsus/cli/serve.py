"""`lapsus serve`: the workbench in the browser."""

from __future__ import annotations

from typing import Annotated

import typer

from lapsus.cli.output import remark
from lapsus.cli.serve_store import DbOption, opened

HostOption = Annotated[
    str,
    typer.Option("--host", help="Address to listen on; 0.0.0.0 lets other machines in.", metavar="HOST"),
]


def serve_command(
    db: DbOption = None,
    host: HostOption = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", help="Port to listen on; 0: any free one.", metavar="N")
    ] = 8642,
) -> None:
    """Start the workbench. The first start prints a link that makes the first manager."""
    from lapsus.web.server import address, listen, serve

    with listen(host, port) as listening, opened(db) as store:
        root = address(listening)
        invitation = None if store.has_manager() else store.invite("manager", days=7)

        def ready() -> None:
            typer.echo(f"Lapsus is at {root}")
            if invitation is not None:
                typer.echo(
                    f"Nobody manages it yet. This link makes the first manager: {root}/join/{invitation}"
                )
            remark("Ctrl-C ends it.")

        serve(store, listening, ready=ready)
