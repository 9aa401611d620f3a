"""The server is killed in the middle of a stream of saves, again and again: nothing acknowledged is missing.

`make kill` does two hundred kills in all, half of them with two processes that answer, and says what it found.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections import Counter

import pytest

from lapsus.client import Client, ServerError
from lapsus.store import Plan, Store, open_store
from tests.web.helpers import chat
from tests.web.server_process import Running

pytestmark = pytest.mark.kill
CASES = [(1, 50), (2, 25)]
"""How many processes answer, and in how many rounds; of several one is killed first, then all."""
CLIENTS = 4
NAME = "chat"
LABELS = "OTX"


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

    def work(self, address: str, gone: threading.Event) -> None:
        """Go on until nobody answers any more, whoever of several dies meanwhile."""
        client = Client(address, self.token, timeout=60)
        while not gone.is_set():
            try:
                if not self.waiting and not self._ask(client):
                    return
                self._send(client, self.waiting[0])
                self.waiting.pop(0)
            except ServerError as error:
                if error.reason != "unreachable":
                    self.wrong.append(f"{error.status} {error}")
                    return

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


def kill_midway(url: str, annotators: list[Annotator], chance: random.Random, workers: int) -> int:
    """One round: of several processes one goes first, then all do. How many saves were acknowledged in it."""
    gone = threading.Event()

    def acknowledged() -> int:
        return sum(len(one.acknowledged) for one in annotators)

    def some_more() -> None:
        before, patience = acknowledged(), time.monotonic() + 60
        while acknowledged() == before and time.monotonic() < patience:
            time.sleep(0.005)
        time.sleep(chance.uniform(0.0, 0.6))

    before = acknowledged()
    with Running("serve", "--db", url, "--port", "0", "--workers", str(workers)) as server:
        threads = [threading.Thread(target=one.work, args=(server.address, gone)) for one in annotators]
        for thread in threads:
            thread.start()
        some_more()
        if workers > 1:
            os.kill(chance.choice(server.workers()), signal.SIGKILL)
            some_more()
        gone.set()
        server.kill()
        for thread in threads:
            thread.join(60)
    return acknowledged() - before


def check(store: Store, annotators: list[Annotator]) -> int:
    """Every acknowledged save is there, under its revision, once. How many saves there are in all."""
    units = {unit for one in annotators for unit in one.sent.values()}
    stored: Counter[str] = Counter()
    for unit in units:
        for judgment in store.judgments.history(NAME, unit):
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


@pytest.mark.parametrize(("workers", "rounds"), CASES)
def test_killed_again_and_again_nothing_is_lost_and_nothing_is_doubled(
    either: str, workers: int, rounds: int
) -> None:
    chance = random.Random(7)
    with open_store(either) as store:
        store.people.add("Mori", "manager")
        plan = Plan(name=NAME, scheme="breakdown", per_unit=CLIENTS, batch=5)
        store.campaigns.create(plan)
        store.campaigns.add_documents(NAME, [chat(f"d{n}", turns=20) for n in range(40 + 20 * rounds)])
        people = [store.people.add(f"p{n}") for n in range(CLIENTS)]
        annotators = [Annotator(person.id, store.access.add_token(person.id, "test")) for person in people]
    saved = [kill_midway(either, annotators, chance, workers) for _ in range(rounds)]
    assert min(saved) > 0
    with open_store(either) as store:
        stored = check(store, annotators)
    acknowledged = sum(len(one.acknowledged) for one in annotators)
    print(
        f"\n{either.partition(':')[0]}, {workers} at once: killed {rounds * workers} times,"
        f" {acknowledged:,} saves acknowledged, {stored:,} stored, 0 missing, 0 doubled"
    )
