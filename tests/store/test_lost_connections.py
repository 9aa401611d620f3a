"""A PostgreSQL server that drops connections: work goes on, and nothing is stored twice."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from sqlalchemy import text

from lapsus.store import Saved, Store, open_store
from lapsus.store.database import MOST
from lapsus.store.save_batch import Ready, SaveBatch
from tests.store.conftest import new_postgres
from tests.store.helpers import campaign, people, reserve, save
from tests.store.test_concurrency import check_counts


@pytest.fixture
def address(request: pytest.FixtureRequest) -> Iterator[str]:
    with new_postgres(request) as found:
        yield f"{found}&application_name=dropped"


@pytest.fixture
def on_postgres(address: str) -> Iterator[Store]:
    with open_store(address) as store:
        yield store


def drop_connections(server: str) -> int:
    query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'dropped'"
    with psycopg.connect(server) as conn:
        return len(conn.execute(query).fetchall())


def test_many_at_once_share_as_many_connections_as_a_server_has_for_each_process(on_postgres: Store) -> None:
    query = text("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'dropped'")

    def look(_: int) -> int:
        with on_postgres.database.reading() as conn:
            conn.execute(text("SELECT pg_sleep(0.05)"))
            return conn.scalar(query) or 0

    with ThreadPoolExecutor(2 * MOST) as many:
        assert 1 < max(many.map(look, range(3 * MOST))) <= MOST


def test_work_goes_on_after_the_server_dropped_everybody(on_postgres: Store, postgres: str) -> None:
    campaign(on_postgres)
    (me,) = people(on_postgres, "avery")
    units = reserve(on_postgres, me)
    assert save(on_postgres, units[0], me).revision == 1
    assert drop_connections(postgres) > 0
    assert save(on_postgres, units[1], me).revision == 1
    drop_connections(postgres)
    assert reserve(on_postgres, me) == units[2:]


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_connection_lost_within_a_save_is_no_loss(
    on_postgres: Store, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """Nobody can tell whether a commit that got no answer was done, so it is tried again by its key."""
    campaign(on_postgres)
    (me,) = people(on_postgres, "avery")
    unit = reserve(on_postgres, me)[0]
    run, lost = SaveBatch.run, []

    def interrupted(self: SaveBatch, saves: list[Ready]) -> list[Saved | Exception]:
        outcomes = run(self, saves) if when == "after" else []
        if not lost:
            lost.append(True)
            self.conn.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))
        return outcomes or run(self, saves)

    monkeypatch.setattr(SaveBatch, "run", interrupted)
    assert save(on_postgres, unit, me).revision == 1
    assert lost
    assert len(on_postgres.judgments.history("chat", unit)) == 1
    check_counts(on_postgres)
