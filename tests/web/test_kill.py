"""The server is killed in the middle of a stream of saves, again and again: nothing acknowledged is missing.

Three rounds on each database in `make test`; `make kill` does a hundred in all and says what it found.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from lapsus.client import Client, ServerError
from lapsus.store import Plan, Store, open_store
from tests.store.conftest import new_postgres
from tests.store.conftest import postgres as postgres  # the server, for new_postgres
from tests.store.test_concurrency import check_counts
from tests.web.helpers import chat
from tests.web.running import Running

ROUNDS = int(os.environ.get("LAPSUS_KILL_ROUNDS", "3"))
CLIENTS = 4
NAME = "chat"
LABELS = "OTX"


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'killed.sqlite'}"
    else:
        with new_postgres(request) as address:
            yield address


class Annotator:
    """Saves without a pause, each unit first as a draft, and after a restart sends again what was not acknowledged."""

    def __init__(self, person: int, token: str) -> None:
        self.person, self.token = person, token
        self.acknowledged: dict[str, int] = {}
        """The keys that were acknowledged, and under which revision."""
        self.sent: dict[str, int] = {}
        """Every key that was ever sent, and for which unit."""
        self.waiting: list[str] = []
        self.wrong: list[str] = []

    def work(self, address: str) -> None:
        client = Client(address, self.token, timeout=20)
        try:
            while True:
                if not self.waiting and not self._ask(client):
                    return
                self._send(client, self.waiting[0])
                self.waiting.pop(0)
        except ServerError as error:
            if error.reason != "unreachable":
                self.wrong.append(f"{error.status} {error}")

    def _ask(self, client: Client) -> bool:
        unit = client.next(NAME)["unit"]
        if unit is None:
            self.wrong.append("there were too few units for so many saves")
            return False
        for kind in ("draft", "final"):
            key = f"{self.person}-{unit}-{kind}"
            self.sent[key] = unit
            self.waiting.append(key)
        return True

    def _send(self, client: Client, key: str) -> None:
        unit, is_final = self.sent[key], key.endswith("final")
        answers = {"breakdown": LABELS[(self.person + unit) % 3], "comment": key}
        saved = client.save(NAME, unit, answers, key=key, submitted=is_final)
        if saved["revision"] != 1 + is_final or saved["key"] != key:
            self.wrong.append(f"{key} was answered with {saved}")
        self.acknowledged[key] = saved["revision"]


def kill_midway(url: str, annotators: list[Annotator], seconds: float) -> int:
    """One round. How many saves were acknowledged in it."""
    before = sum(len(one.acknowledged) for one in annotators)
    with Running("serve", "--db", url, "--port", "0") as server:
        threads = [threading.Thread(target=one.work, args=(server.address,)) for one in annotators]
        for thread in threads:
            thread.start()
        patience = time.monotonic() + 60
        while sum(len(one.acknowledged) for one in annotators) == before and time.monotonic() < patience:
            time.sleep(0.005)
        time.sleep(seconds)
        server.process.kill()
        for thread in threads:
            thread.join(60)
    return sum(len(one.acknowledged) for one in annotators) - before


def check(store: Store, annotators: list[Annotator]) -> int:
    """Every acknowledged save is there, under its revision, once. How many saves there are in all."""
    units = {unit for one in annotators for unit in one.sent.values()}
    stored: Counter[str] = Counter()
    for unit in units:
        for judgment in store.history(NAME, unit):
            key = str(judgment.answers["comment"])
            stored[key] += 1
            assert key.startswith(f"{judgment.person}-{unit}-")
            assert judgment.revision == 1 + key.endswith("final")
            assert judgment.submitted == key.endswith("final")
    assert set(stored.values()) == {1}
    for one in annotators:
        assert one.wrong == []
        assert one.acknowledged.keys() <= stored.keys()
        # At most the one answer that was under way was kept without an acknowledgement.
        mine = {key for key in stored if key.startswith(f"{one.person}-")}
        assert len(mine - one.acknowledged.keys()) <= 1
    return stored.total()


def test_killed_again_and_again_nothing_is_lost_and_nothing_is_doubled(url: str) -> None:
    chance = random.Random(7)
    with open_store(url) as store:
        store.add_person("Mori", "manager")
        plan = Plan(name=NAME, scheme="breakdown", per_unit=CLIENTS, batch=5)
        store.create_campaign(plan)
        store.add_documents(NAME, [chat(f"d{n}", turns=20) for n in range(40 + 10 * ROUNDS)])
        people = [store.add_person(f"p{n}") for n in range(CLIENTS)]
        annotators = [Annotator(person.id, store.add_token(person.id, "test")) for person in people]
    rounds = [kill_midway(url, annotators, chance.uniform(0.0, 0.6)) for _ in range(ROUNDS)]
    assert min(rounds) > 0
    with open_store(url) as store:
        stored = check(store, annotators)
        if ROUNDS <= 3:
            check_counts(store)
    acknowledged = sum(len(one.acknowledged) for one in annotators)
    print(
        f"\n{url.partition(':')[0]}: killed {ROUNDS} times, {acknowledged:,} saves acknowledged,"
        f" {stored:,} stored, 0 missing, 0 doubled"
    )
