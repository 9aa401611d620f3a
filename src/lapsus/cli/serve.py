"""Servers: `lapsus serve`, the workbench in the browser; `demo`, with samples; `guard`, before replies go out."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import typer

from lapsus.cli.output import remark, say, word
from lapsus.cli.shared_options import open_database
from lapsus.errors import UsageError, reason_of

if TYPE_CHECKING:
    from lapsus.guard.recording import Write
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


def demo_command(host: str = "127.0.0.1", port: int | None = None) -> None:
    """Try the workbench: sample campaigns for every guideline, gone when it ends. Prints links to sign in."""
    from lapsus.store import open_store
    from lapsus.web.demo import make_demo
    from lapsus.web.server import address, listen, serve

    with (
        listen(host, port) as listening,
        tempfile.TemporaryDirectory(prefix="lapsus-demo-") as folder,
        open_store(Path(folder) / "demo.sqlite") as store,
    ):
        people = make_demo(store)
        root = address(listening)

        def ready() -> None:
            say("lapsus-sign-one-click", root=root)
            for token, person in people.items():
                typer.echo(f"  {word(person.role):<10} {person.name}  {root}/enter/{token}")
            remark("nothing-kept-ctrl-c-ends")

        links = {token: person.id for token, person in people.items()}
        serve(store, listening, ready=ready, links=links)


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
