"""`lapsus serve`: the workbench in the browser."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lapsus.cli.database_option import DbOption, open_database
from lapsus.cli.output import remark, say
from lapsus.errors import UsageError

if TYPE_CHECKING:
    from lapsus.web.deployment import Deployment, OidcProvider
    from lapsus.web.judge_sources import JudgeSources

SECRET = "LAPSUS_OIDC_SECRET"  # noqa: S105  the name of a variable
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
    workers: Annotated[
        int, typer.Option("--workers", help="How many processes answer.", metavar="N", min=1, max=256)
    ] = 1,
    path: Annotated[
        str,
        typer.Option(
            "--path", help="Path on the host below which it is, e.g. /tools/lapsus.", metavar="PATH"
        ),
    ] = "",
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            "--proxy", help="Address or network of a proxy whose X-Forwarded-* count.", metavar="ADDRESS"
        ),
    ] = None,
    user_header: Annotated[
        str | None,
        typer.Option(
            "--user-header", help="Header in which that proxy says who is signed in.", metavar="NAME"
        ),
    ] = None,
    oidc: Annotated[
        str | None,
        typer.Option("--oidc", help="Issuer of OpenID Connect at which people sign in.", metavar="URL"),
    ] = None,
    oidc_client: Annotated[
        str,
        typer.Option("--oidc-client", help=f"Our id there; its secret comes from {SECRET}.", metavar="ID"),
    ] = "lapsus",
    oidc_name: Annotated[
        str, typer.Option("--oidc-name", help="What the button calls it.", metavar="NAME")
    ] = "",
    metrics_port: Annotated[
        int | None,
        typer.Option("--metrics-port", help="Port on which Prometheus asks; 0: any free one.", metavar="N"),
    ] = None,
    backup_to: Annotated[
        str | None,
        typer.Option(
            "--backup-to", help="Folder or address (s3://…) that keeps dated backups.", metavar="PLACE"
        ),
    ] = None,
    backup_every: Annotated[
        float, typer.Option("--backup-every", help="Hours between backups.", metavar="HOURS", min=0.01)
    ] = 24.0,
    backup_keep: Annotated[
        int | None,
        typer.Option("--backup-keep", help="How many backups stay; the oldest go.", metavar="N", min=1),
    ] = None,
    request_log: Annotated[
        bool, typer.Option("--request-log", help="Write a line of JSON on standard error for each request.")
    ] = False,
    judges: Annotated[
        Path | None,
        typer.Option("--judges", help="Folder with trained judges that pages may use.", metavar="FOLDER"),
    ] = None,
    endpoints: Annotated[
        list[str] | None,
        typer.Option(
            "--endpoint", help="Where pages may have language models asked; repeatable.", metavar="URL"
        ),
    ] = None,
) -> None:
    """Start the workbench. The first start prints a link that makes the first manager."""
    from lapsus.web.deployment import Deployment, check_deployment
    from lapsus.web.judge_sources import JudgeSources

    deployment = check_deployment(
        Deployment(
            tuple(proxy or ()),
            user_header,
            _provider(oidc, oidc_client, oidc_name),
            path.rstrip("/"),
            request_log,
        )
    )
    with _metrics(host, metrics_port), _backups(db, backup_to, backup_every, backup_keep):
        _serve(db, host, port, workers, deployment, JudgeSources.named(judges, endpoints or ()))


@contextmanager
def _metrics(host: str, port: int | None) -> Iterator[None]:
    """Figures for Prometheus while the server runs, where a port is named."""
    if port is None:
        yield
        return
    from lapsus.web.observation import count_requests, serve_metrics

    folder = count_requests()
    try:
        remark("figures-prometheus-http-metrics", host=host, serve_metrics=serve_metrics(host, port))
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _backups(db: str | None, place: str | None, hours: float, keep: int | None) -> Iterator[None]:
    """Backups while the server runs, where a place is named; it is tried before anybody is let in."""
    if place is None:
        yield
        return
    from lapsus.store.backup_place import BackupPlace, BackupSchedule

    with open_database(db, make=True) as store:
        backups = BackupPlace(place)
        backups.try_out()
        schedule = BackupSchedule(store, backups, timedelta(hours=hours), keep)
        schedule.start()
        try:
            yield
        finally:
            schedule.end()


def _provider(issuer: str | None, client: str, name: str) -> OidcProvider | None:
    from lapsus.web.deployment import OidcProvider

    if issuer is None:
        if client != "lapsus" or name:
            raise UsageError("oidc-client-oidc-name-need-oidc", hint="name-issuer")
        return None
    return OidcProvider(issuer, client, os.environ.get(SECRET, ""), name)


def _serve(
    db: str | None, host: str, port: int, workers: int, deployment: Deployment, judges: JudgeSources
) -> None:
    from lapsus.web.server import address, listen, serve, serve_workers

    with listen(host, port) as listening, open_database(db, make=True) as store:
        root = address(listening) + deployment.path
        invitation = None if store.people.has_manager() else store.access.invite("manager", days=7)

        def ready() -> None:
            say("lapsus", root=root)
            if invitation is not None:
                say("nobody-manages-yet-link", root=root, invitation=invitation)
            remark("ctrl-c-ends")

        if workers == 1:
            serve(store, listening, ready=ready, deployment=deployment, judges=judges)
        else:
            store.close()
            serve_workers(db, listening, workers, ready=ready, deployment=deployment, judges=judges)
