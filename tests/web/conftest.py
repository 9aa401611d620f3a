"""A workbench in this process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lapsus.campaign_stats import campaign, result_cache
from lapsus.store import Store, open_store
from tests.store.conftest import new_postgres
from tests.store.conftest import postgres as postgres  # the server, for new_postgres
from tests.web.helpers import Bench

_PROVIDER = """
import oidc_provider_mock
from wsgiref.simple_server import make_server
server = make_server("127.0.0.1", 0, oidc_provider_mock.app())
print(server.server_port, flush=True)
server.serve_forever()
"""


@pytest.fixture(scope="session")
def issuer() -> Iterator[str]:
    """A real provider of OpenID Connect on this machine; apart, since it uses what its libraries warn of."""
    command = [sys.executable, "-W", "ignore", "-c", _PROVIDER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        process.kill()


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine is, small campaigns have their figures at the first look."""
    monkeypatch.setattr(campaign, "PATIENCE", 60.0)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], None]]:
    """Figures take for ever here, until a test does this work itself."""
    waiting: list[Callable[[], None]] = []
    monkeypatch.setattr(campaign, "PATIENCE", 0.0)
    monkeypatch.setattr(result_cache.WorkQueue, "put", lambda lane, work: waiting.append(work))
    return waiting


@pytest.fixture
def url(tmp_path: Path) -> str:
    """The address of a database that is not there yet."""
    return f"sqlite:///{tmp_path / 'store.sqlite'}"


@pytest.fixture(params=["sqlite", "postgresql"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of an empty database, of each kind."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'either.sqlite'}"
    else:
        with new_postgres(request) as address:
            yield address


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with open_store(url) as opened:
        yield opened


@pytest.fixture
def bench(store: Store) -> Iterator[Bench]:
    with Bench(store) as made:
        yield made
