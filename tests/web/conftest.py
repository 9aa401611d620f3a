"""A workbench in this process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lapsus.store import Store, open_store
from tests.web.helpers import Bench


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
