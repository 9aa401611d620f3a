"""`lapsus serve`: the workbench in the browser."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from lapsus.cli.output import remark, say
from lapsus.cli.shared_options import open_database
from lapsus.errors import UsageError

if TYPE_CHECKING:
    from lapsus.web.deployment import Deployment, OidcProvider
    from lapsus.web.judge_sources import JudgeSources

SECRET = "LAPSUS_OIDC_SECRET"  # noqa: S105  the name of a variable


def serve_command(
    db: str | None = None,
    host: str = "127.0.0.1",
    port: int = 8642,
    workers: int = 1,
    path: str = "",
    proxy: list[str] | None = None,
    user_header: str | None = None,
    oidc: str | None = None,
    oidc_client: str = "lapsus",
    oidc_name: str = "",
    metrics_port: int | None = None,
    backup_to: str | None = None,
    backup_every: float = 24.0,
    backup_keep: int | None = None,
    request_log: bool = False,
    judges: Path | None = None,
    endpoints: list[str] | None = None,
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
