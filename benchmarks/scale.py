"""Bulk judging on Ray with 1, 2 and 4 workers of this machine, and what a hundred million turns would take.

    pip install 'lapsus-eval[ray]'; python benchmarks/scale.py [--turns 1000] [--language en] [--plan 100000000]

The dialogues are made up (see detect.py). A round judges the same turns on a cluster of so many workers, each with the
model loaded before the clock starts, and its judgments must be those of this process. More workers than cores only
show what sharing a core costs, and so does a machine that others use: hence the load. The plan is arithmetic on
processor time measured in this run, which is what an idle core would take: cores add up as far as the driver, which
reads, sends, takes back and writes, keeps up; that is measured without any judging.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import Future
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import ray
from rich.console import Console
from rich.table import Table

from detect import dialogues
from lapsus.annotators import Annotator, default_model, load_model
from lapsus.annotators.bulk import Engine, Here, KeptChunks, Run, Work
from lapsus.annotators.bulk.ray_engine import OnRay
from lapsus.annotators.bulk.run import UNITS
from lapsus.formats import read
from lapsus.formats.jsonl import Jsonl
from lapsus.model import Document, Entry
from lapsus.model.frozen import decoder

WORKERS = (1, 2, 4)
CHUNK = 50
"""Units of a chunk here: few enough that the last ones do not leave a worker idle for long."""
CLUSTERS = (8, 64, 512)
"""Cores for which the plan is worked out."""
DRIVER = 20_000
"""Turns on which the driver is measured."""


class Round(NamedTuple):
    """One run: where, how fast, and how busy the machine was."""

    where: str
    workers: int
    rate: float
    load: float


class Driver(NamedTuple):
    """What the driver manages, and what it moves."""

    rate: float
    sent: float
    back: float
    """Bytes a turn."""


class Instant:
    """An engine that has every answer ready: whatever time passes is the driver's."""

    at_once = 4

    def __init__(self, sample: Entry) -> None:
        self._name = msgspec.json.encode(sample.id)
        self._answer = msgspec.json.encode(sample.judgments)
        self.sent = self.back = 0

    def begin(self, work: Work[Any, Any], things: Sequence[Any]) -> Future[list[Any]]:
        found: Future[list[Any]] = Future()
        self.sent += len(msgspec.json.encode(things))
        each = (self._answer.replace(self._name, msgspec.json.encode(thing.id)) for thing in things)
        reply = b"[" + b",".join(each) + b"]"
        self.back += len(reply)
        found.set_result(decoder(work.gives).decode(reply))
        return found


def judged(
    engine: Engine, model: Annotator, documents: Sequence[Document], units: int = CHUNK
) -> list[Entry]:
    return list(Run(engine, units=units).entries((model, document) for document in documents))


def timed(engine: Engine, model: Annotator, documents: Sequence[Document]) -> tuple[float, list[Entry]]:
    start = time.perf_counter()
    found = judged(engine, model, documents)
    return time.perf_counter() - start, found


def on_ray(workers: int, model: Annotator, documents: Sequence[Document], known: list[Entry]) -> Round:
    """A cluster of so many workers."""
    ray.init(
        address="local",
        num_cpus=workers,
        include_dashboard=False,
        log_to_driver=False,
        logging_level=logging.ERROR,
    )
    try:
        with OnRay() as engine:
            judged(engine, model, documents[: 4 * workers], units=1)  # every worker loads the model
            seconds, found = timed(engine, model, documents)
    finally:
        ray.shutdown()
    if found != known:
        raise SystemExit("the cluster judges otherwise than this process")
    turns = sum(len(entry.judgments) for entry in found)
    return Round("Ray", workers, turns / seconds, os.getloadavg()[0])


def driver(model: Annotator, sample: Entry, language: str) -> Driver:
    """From a file to a file, with chunks of the usual size kept, and nothing judged."""
    with tempfile.TemporaryDirectory() as room:
        data, out = Path(room) / "data.jsonl", Path(room) / "out.jsonl"
        made = dialogues(language, DRIVER, seed=7)
        Jsonl().write((Entry(document.id, document) for document in made), data)
        engine = Instant(sample)
        start = time.process_time()
        documents = (entry.document for entry in read(data) if entry.document is not None)
        bulk = Run(engine, KeptChunks.beside(out))
        Jsonl().write(bulk.entries((model, document) for document in documents), out)
        seconds = time.process_time() - start
    return Driver(DRIVER / seconds, engine.sent / DRIVER, engine.back / DRIVER)


def show(rounds: Sequence[Round], core: float, measured: Driver, plan: int, console: Console) -> None:
    table = Table(title="Turns a second on this machine")
    for heading in ("where", "workers", "turns/s", "a worker", "load"):
        table.add_column(heading, justify="left" if heading == "where" else "right")
    for one in rounds:
        each = one.rate / one.workers
        table.add_row(one.where, str(one.workers), f"{one.rate:,.0f}", f"{each:,.0f}", f"{one.load:.1f}")
    console.print(table)
    console.print(
        f"by processor time: a core judges {core:,.0f} turns/s; the driver alone manages {measured.rate:,.0f},"
        f" {measured.sent:,.0f} bytes a turn out, {measured.back:,.0f} back"
    )
    table = Table(title=f"A plan for {plan:,} turns")
    for heading in ("cores", "turns/s", "hours", "network, MB/s", "held up by"):
        table.add_column(heading, justify="left" if heading == "held up by" else "right")
    for many in CLUSTERS:
        rate = min(many * core, measured.rate)
        network = rate * (measured.sent + measured.back) / 1e6
        held = (
            "cores"
            if many * core <= measured.rate
            else "the driver: several runs, each with a part of the data"
        )
        table.add_row(f"{many:,}", f"{rate:,.0f}", f"{plan / rate / 3600:,.1f}", f"{network:,.1f}", held)
    console.print(table)
    console.print(
        f"{plan / core / 3600:,.0f} core hours at {core:,.0f} turns/s a core; {-(-plan // UNITS):,} chunks,"
        f" {plan * measured.back / 1e9:,.0f} GB kept until the end;"
        f" one driver keeps {measured.rate / core:,.0f} cores busy"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--turns", type=int, default=1_000, help="how many turns a round judges")
    parser.add_argument("--language", default="en", help="which shipped model: en or ja")
    parser.add_argument("--plan", type=int, default=100_000_000, help="turns that the plan is for")
    asked = parser.parse_args()
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    model = load_model(default_model(asked.language))
    documents = list(dialogues(asked.language, asked.turns, seed=5))
    judged(Here(), model, documents[:2])
    processor = time.process_time()
    seconds, known = timed(Here(), model, documents)
    core = asked.turns / (time.process_time() - processor)
    rounds = [Round("this process", 1, asked.turns / seconds, os.getloadavg()[0])]
    rounds += [on_ray(workers, model, documents, known) for workers in WORKERS]
    console = Console(soft_wrap=True)
    show(rounds, core, driver(model, known[0], asked.language), asked.plan, console)
    console.print(
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, {asked.language}, {asked.turns:,} turns a round"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
