"""A whole campaign over HTTP: forty scripted annotators at once, some stop midway, some come back too late.

`python benchmarks/simulate.py` prints what happened, and ends with an error unless every unit has exactly the
judgments that the plan asks for and nothing that was acknowledged is missing. Time runs sixty times as fast as on
the wall, so that time-outs of a minute take a second.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lapsus.client import Client, ServerError
from lapsus.model import Document, Segment, UnitKey
from lapsus.store import Checks, KnownUnit, KnownUnits, Pilot, Plan, Store, open_store
from lapsus.web.server import address, listen, serve

FASTER = 60


def fast_clock() -> Callable[[], datetime]:
    """A clock that runs faster than the wall's."""
    begun, start = time.monotonic(), datetime.now(UTC)
    return lambda: start + timedelta(seconds=(time.monotonic() - begun) * FASTER)


def dialogue(name: str, turns: int) -> Document:
    segments = tuple(
        Segment(str(place), "user" if place % 2 else "system", f"turn {place} of {name}")
        for place in range(2 * turns - 1)
    )
    return Document(name, segments, "en")


class Worker(threading.Thread):
    """Judges over HTTP until nothing is left; leaves now and then, perhaps for good."""

    def __init__(self, number: int, root: str, token: str, over: threading.Event) -> None:
        super().__init__(name=f"worker {number}")
        self.client, self.over = Client(root, token), over
        self.chance = random.Random(number)
        self.is_careless, self.leaves = number % 13 == 5, number % 4 == 0
        self.kept: Counter[int] = Counter()
        self.waits: list[float] = []
        self.outcome = "worked to the end"
        self.late = 0

    def run(self) -> None:
        forgotten: list[int] = []
        while not self.over.is_set():
            given = self.client.next("crowd")
            if given["unit"] is None:
                if given["reason"] in ("stopped", "closed"):
                    self.outcome = given["reason"]
                    return
                time.sleep(self.chance.uniform(0.1, 0.4))
                continue
            units = given["units"]
            stay = len(units) if self.chance.random() < 0.7 else self.chance.randrange(len(units))
            for unit in units[:stay]:
                self.judge(unit)
            if stay < len(units):
                if self.leaves and self.chance.random() < 0.5:
                    self.outcome = "left for good"
                    return
                forgotten = units[stay:]
                time.sleep(self.chance.uniform(0.2, 2.5))
                if forgotten and self.chance.random() < 0.5:
                    self.late += self.judge(forgotten[0])

    def judge(self, unit: int) -> bool:
        label = "X" if self.is_careless else self.chance.choice("OOOTX")
        if unit <= 4 and not self.is_careless:
            label = "O"  # the known units of the practice and the checks
        begun = time.perf_counter()
        try:
            self.client.save("crowd", unit, {"breakdown": label})
        except ServerError as error:
            if error.reason not in ("stopped", "not-yours"):
                raise
            return False
        self.waits.append(time.perf_counter() - begun)
        self.kept[unit] += 1
        return True


def set_up(store: Store, documents: int, per_unit: int) -> None:
    known = tuple(KnownUnit(f"d{n}", {"breakdown": "O"}, "0") for n in range(4))
    plan = Plan(
        "crowd", "breakdown", per_unit=per_unit, minutes=1, batch=2, order="random",
        pilot=Pilot(documents // 5, per_unit + 1),
        training=KnownUnits(known[:2], then="nothing"),
        checks=Checks(known[2:], every=4, then="stop"),
    )  # fmt: skip
    turns = (1, 1, 1, 1, *(3 for _ in range(documents)))
    store.campaigns.set_up(plan, [dialogue(f"d{n}", many) for n, many in enumerate(turns)])


def simulate(store: Store, people: int) -> list[Worker]:
    """Serve, let everybody work, open the main stage when the pilot is through, and wait for the end."""
    over, up = threading.Event(), threading.Event()
    listening = listen("127.0.0.1", 0)
    tokens = [store.access.add_token(store.people.add(f"worker {n}").id, "simulated") for n in range(people)]
    threading.Thread(target=serve, args=(store, listening), kwargs={"ready": up.set}, daemon=True).start()
    up.wait(20)
    workers = [Worker(n, address(listening), token, over) for n, token in enumerate(tokens)]
    for worker in workers:
        worker.start()
    while any(worker.is_alive() for worker in workers):
        time.sleep(0.2)
        progress = store.progress.of_campaign("crowd")
        if progress.complete == progress.units:
            if store.campaigns.get("crowd").stage == "pilot":
                store.campaigns.open_main("crowd")
            else:
                over.set()
    for worker in workers:
        worker.join()
    return workers


def problems(store: Store, workers: list[Worker]) -> list[str]:
    """What is not as it must be."""
    found: list[str] = []
    plan, progress = store.campaigns.get("crowd").plan, store.progress.of_campaign("crowd")
    if (progress.complete, progress.done) != (progress.units, progress.wanted):
        found.append(f"{progress.complete} of {progress.units} units, {progress.done} of {progress.wanted}")
    wanted = {"main": plan.per_unit, "pilot": plan.pilot_per_unit}
    judged = Counter(judgment.unit for entry in store.exports.export("crowd") for judgment in entry.judgments)
    for unit in store.units.places("crowd"):
        part, count = store.units.part_of("crowd", unit.number), judged[UnitKey(unit.document, unit.segment)]
        if count != wanted.get(part, 0):
            found.append(f"unit {unit.number} ({part}) has {count} judgments, not {wanted.get(part, 0)}")
    for worker in workers:
        person = store.people.named(worker.name).id
        kept = {j.unit: j.revision for j in store.judgments.of_person("crowd", person, limit=100_000)}
        if kept != dict(worker.kept):
            found.append(f"{worker.name}: {len(kept)} kept, {len(worker.kept)} acknowledged")
    return found


def report(store: Store, workers: list[Worker], seconds: float) -> None:
    waits = sorted(wait for worker in workers for wait in worker.waits)
    outcomes = Counter(worker.outcome for worker in workers)
    events = Counter(event.what for event in store.audit.events("crowd", limit=100_000))
    progress = store.progress.of_campaign("crowd")
    print(f"{len(workers)} annotators: " + ", ".join(f"{n} {what}" for what, n in outcomes.most_common()))
    print(f"{progress.units} units, {progress.done} of {progress.wanted} judgments, in {seconds:.1f} s")
    print(f"{events['units went back after their time']} times units went back after their time,")
    print(f"{events['stopped after wrong answers']} people failed a check and were stopped,")
    print(f"{sum(worker.late for worker in workers)} answers came late")
    print(
        f"a save took {waits[len(waits) // 2] * 1000:.0f} ms (median), {waits[-len(waits) // 100] * 1000:.0f} ms (99%)"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=40)
    parser.add_argument("--documents", type=int, default=100)
    parser.add_argument("--per-unit", type=int, default=3)
    parser.add_argument("--db", help="database; an SQLite file of its own by default")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        database = given.db or str(Path(folder) / "simulated.sqlite")
        with open_store(database, clock=fast_clock()) as store:
            set_up(store, given.documents, given.per_unit)
            begun = time.perf_counter()
            workers = simulate(store, given.people)
            report(store, workers, time.perf_counter() - begun)
            found = problems(store, workers)
    print("\n".join(found) or "every unit has exactly its judgments; nothing acknowledged is missing")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
