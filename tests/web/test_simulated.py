"""A campaign as it goes: forty people over HTTP, some stop midway and never come back, some come back late."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from lapsus.store import Plan, Store, open_store
from tests.store.helpers import Clock
from tests.web.helpers import Bench, chat, new_key

PEOPLE, DOCUMENTS, TURNS, PER_UNIT, MINUTES = 40, 16, 3, 3, 30


class Worker:
    """Somebody who judges a little, then perhaps leaves; perhaps for good, perhaps to come back too late."""

    def __init__(self, bench: Bench, number: int, chance: random.Random) -> None:
        self.id = bench.store.people.add(f"worker {number}").id
        token = bench.store.access.add_token(self.id, "test")
        self.http = TestClient(bench.app, headers={"Authorization": f"Bearer {token}"})
        self.chance = chance
        self.leaves_for_good = number % 4 == 0
        self.held: list[int] = []
        self.answers: Counter[int] = Counter()
        self.is_gone = False

    def work(self) -> str:
        """Ask, judge some of it, and say how it went."""
        given: Any = self.http.get("/api/v1/campaigns/crowd/next").json()
        if given["unit"] is None:
            return str(given["reason"])
        stay = self.chance.randrange(1, len(given["units"]) + 1)
        for unit in given["units"][:stay]:
            self.judge(unit)
        self.held = given["units"][stay:]
        self.is_gone = bool(self.held) and self.leaves_for_good
        return "worked"

    def judge(self, unit: int) -> int:
        body = {"key": new_key(), "answers": {"breakdown": self.chance.choice("OTX")}}
        path = f"/api/v1/campaigns/crowd/units/{unit}/judgments"
        status = self.http.post(path, json=body).status_code
        self.answers[unit] += status == 201
        return status


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    with open_store(tmp_path / "store.sqlite", clock=clock) as opened:
        yield opened


def test_every_unit_ends_with_exactly_its_judgments(bench: Bench, clock: Clock) -> None:
    chance = random.Random(7)
    bench.campaign(
        documents=[chat(f"d{n}", TURNS) for n in range(DOCUMENTS)],
        name="crowd", per_unit=PER_UNIT, minutes=MINUTES, batch=2,
    )  # fmt: skip
    workers = [Worker(bench, number, chance) for number in range(PEOPLE)]
    late = 0
    for _ in range(2000):
        here = [worker for worker in workers if not worker.is_gone]
        worker = chance.choice(here)
        if worker.held and chance.random() < 0.2:
            # Opened hours ago: by now the unit may have gone to others.
            late += worker.judge(worker.held.pop()) == 201
        elif worker.work() == "done" and _is_complete(bench):
            break
        clock.forward(minutes=chance.choice((1, 5, 40)))
    assert _is_complete(bench)
    progress = bench.store.progress.of_campaign("crowd")
    assert progress.done == progress.wanted == DOCUMENTS * TURNS * PER_UNIT
    judged: Counter[tuple[str, str | None]] = Counter()
    for entry in bench.store.exports.export("crowd"):
        judged.update(judgment.unit for judgment in entry.judgments)
    assert len(judged) == DOCUMENTS * TURNS
    assert set(judged.values()) == {PER_UNIT}
    # It really was as bad as it should be, and nothing that was acknowledged is missing.
    assert sum(worker.is_gone for worker in workers) >= 3
    assert late > 0
    assert "units went back after their time" in {
        event.what for event in bench.store.audit.events("crowd", limit=9999)
    }
    for worker in workers:
        kept = {j.unit: j.revision for j in bench.store.judgments.of_person("crowd", worker.id, limit=9999)}
        assert kept == dict(worker.answers)


def _is_complete(bench: Bench) -> bool:
    progress = bench.store.progress.of_campaign("crowd")
    return progress.complete == progress.units


def test_every_pair_of_annotators_overlaps(bench: Bench) -> None:
    """Eight people at once, batches of two, five judgments a unit: all 28 pairs meet."""
    bench.store.campaigns.create(Plan("crowd", "breakdown", per_unit=5, batch=2))
    bench.store.campaigns.add_documents("crowd", [chat(f"d{n}", 1) for n in range(24)])
    chance = random.Random(3)
    workers = [Worker(bench, 4 * number + 1, chance) for number in range(8)]
    left = list(workers)
    while left:
        worker = chance.choice(left)
        if worker.work() == "done":
            left.remove(worker)
    together: Counter[tuple[int, int]] = Counter()
    for number in range(1, 25):
        people = sorted(judgment.person for judgment in bench.store.judgments.of_unit("crowd", number))
        assert len(people) == 5
        together.update(combinations(people, 2))
    # 24 units by 5 of 8: 8.6 units a pair on average.
    assert len(together) == 28
    assert min(together.values()) >= 2
