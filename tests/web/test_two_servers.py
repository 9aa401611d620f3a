"""Two servers on one database, one with two processes, and forty people: every unit gets exactly its judgments.

Midway a process of the first dies, then the whole second server; its people go on at the first.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter

from lapsus.client import Client, ServerError
from lapsus.store import Plan, open_store
from tests.patience import until
from tests.web.helpers import chat
from tests.web.server_process import Running

PEOPLE, UNITS, PER_UNIT = 40, 40, 5
PATIENCE = 240.0


class Annotator(threading.Thread):
    """Judges until everything is done, and tries again what nobody answered, at whichever server answers."""

    def __init__(self, number: int, token: str, addresses: list[str], done: Counter[str]) -> None:
        super().__init__(daemon=True)
        self.number, self.done = number, done
        self.clients = [Client(address, token, timeout=30) for address in addresses]
        self.unit: int | None = None
        """What was judged and is not acknowledged yet."""
        self.wrong = ""

    def run(self) -> None:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            try:
                if self._one():
                    return
            except ServerError as error:
                if error.reason != "unreachable":
                    self.wrong = str(error)
                    return
                self.clients.reverse()
        self.wrong = "there was no end"

    def _one(self) -> bool:
        """Judge a unit; whether there is nothing left to judge."""
        if self.unit is None:
            given = self.clients[0].next("both")
            if given["reason"] == "done":
                return True
            self.unit = given["unit"]
        if self.unit is None:
            time.sleep(0.1)
            return False
        key = f"{self.number}-{self.unit}"
        saved = self.clients[0].save("both", self.unit, {"breakdown": "OTX"[self.number % 3]}, key=key)
        assert not saved["extra"]
        self.done[key] += 1
        self.unit = None
        return False


def test_every_unit_gets_exactly_its_judgments_while_servers_die(either: str) -> None:
    with open_store(either) as store:
        store.people.add("Mori", "manager")
        store.campaigns.create(Plan(name="both", scheme="breakdown", per_unit=PER_UNIT, batch=1))
        store.campaigns.add_documents("both", [chat(f"d{n}", turns=4) for n in range(UNITS // 4)])
        people = [store.people.add(f"p{n}").id for n in range(PEOPLE)]
        tokens = [store.access.add_token(person, "test") for person in people]
    done: Counter[str] = Counter()

    def judged(many: int) -> None:
        def enough() -> bool:
            assert not [one.wrong for one in annotators if one.wrong]
            return done.total() >= many

        until(enough)

    options = ("serve", "--db", either, "--port", "0")
    with Running(*options, "--workers", "2") as first, Running(*options) as second:
        addresses = [first.address, second.address]
        annotators = [
            Annotator(person, token, addresses[:: 1 if place % 2 else -1], done)
            for place, (person, token) in enumerate(zip(people, tokens, strict=True))
        ]
        for one in annotators:
            one.start()
        judged(UNITS)
        os.kill(first.workers()[0], signal.SIGKILL)
        judged(2 * UNITS)
        second.kill()
        for one in annotators:
            one.join(PATIENCE)
        assert [one.wrong for one in annotators if one.wrong] == []
    with open_store(either) as store:
        for unit in range(1, UNITS + 1):
            judgments = store.judgments.history("both", unit)
            assert len(judgments) == len({judgment.person for judgment in judgments}) == PER_UNIT
            assert {f"{judgment.person}-{unit}" for judgment in judgments} <= done.keys()
    assert done.total() == UNITS * PER_UNIT
