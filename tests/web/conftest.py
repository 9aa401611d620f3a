"""A workbench in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lapsus.insight import desk, lanes
from lapsus.store import Store, open_store
from tests.web.helpers import Bench


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine is, small campaigns have their figures at the first look."""
    monkeypatch.setattr(desk, "PATIENCE", 20.0)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], None]]:
    """Figures take for ever here, until a test does this work itself."""
    waiting: list[Callable[[], None]] = []
    monkeypatch.setattr(desk, "PATIENCE", 0.0)
    monkeypatch.setattr(lanes.Lane, "put", lambda lane, work: waiting.append(work))
    return waiting


@pytest.fixture
def url(tmp_path: Path) -> str:
    """The address of a database that is not there yet."""
    return f"sqlite:///{tmp_path / 'store.sqlite'}"


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with open_store(url) as opened:
        yield opened


@pytest.fixture
def bench(store: Store) -> Iterator[Bench]:
    with Bench(store) as made:
        yield made
