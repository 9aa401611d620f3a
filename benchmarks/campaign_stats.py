"""A campaign with a million judgments: how long its pages take, and what keeping its figures costs a save.

    python benchmarks/campaign_stats.py [--scheme breakdown] [--judgments 1000000] [--annotators 30] [--per-unit 30]
        [--db FILE] > table.md

Makes the campaign (minutes; `--db` keeps it for the next time), then looks at every page of it, before and after a
save. The table goes to standard output, progress to standard error. Every figure is measured in this run.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import regex
from starlette.testclient import TestClient

from lapsus.model import Document, Entry, Judgment, Segment, Span
from lapsus.store import Plan, SaveRequest, Store, open_store
from lapsus.store import tables as t
from lapsus.web.app import create_app

TURNS = 10
PASSWORD = "correct horse"  # noqa: S105
SAID: dict[str, list[dict[str, Any]]] = {
    "breakdown": [{"breakdown": label} for label in "OTX"],
    "error-types": [
        {"types": ("ignore-proposal",)}, {"types": ("repetition",)}, {"types": ("ignore-proposal", "repetition")},
    ],
    "semantic-errors": [{"errors": ()}],
}  # fmt: skip
GOAL = 500
"""Milliseconds."""
PAGES = ("", "/disputed", "/time", "/answers", "/annotators", "/pairs")


def entries(scheme: str, judgments: int, annotators: int, per_unit: int) -> Iterator[Entry]:
    """Invented dialogues, judged by a crowd that half agrees."""
    random = np.random.default_rng(0)
    if scheme == "semantic-errors":
        yield from marked(random, judgments, annotators, per_unit)
        return
    for number in range(judgments // per_unit // TURNS):
        roles = ("system", "user")
        segments = tuple(
            Segment(str(n), roles[n % 2], f"turn {n} of {number}")  # type: ignore[arg-type]
            for n in range(2 * TURNS - 1)
        )
        document = Document(f"d{number}", segments, "en", {"system": f"system {number % 5}"})
        said = []
        for turn in range(TURNS):
            shares = random.dirichlet([1.0, 0.7, 0.7])
            people = random.permutation(annotators)[:per_unit]
            for person, code in zip(people, random.choice(3, per_unit, p=shares), strict=True):
                said.append(
                    Judgment(
                        document.id, str(2 * turn), f"annotator {person:03d}", scheme, "1.0",
                        SAID[scheme][code], seconds=5.0,
                    )
                )  # fmt: skip
        yield Entry(document.id, document, tuple(said))


def marked(random: np.random.Generator, judgments: int, annotators: int, per_unit: int) -> Iterator[Entry]:
    """Invented texts about a fact, in which a crowd marks words."""
    text = "the tall old tower of the town was built in nineteen hundred and four by nobody"
    words = [(match.start(), match.end()) for match in regex.finditer(r"\S+", text)]
    for number in range(judgments // per_unit):
        segments = (Segment.triple("t1", "Tower", "built", "1904"), Segment("text", "text", text))
        document = Document(f"p{number}", segments, "en", {"system": f"system {number % 5}"})
        said = []
        for person in random.permutation(annotators)[:per_unit]:
            first = random.integers(0, 3)
            span = Span("text", words[first][0], words[first + random.integers(1, 3)][1], "addition")
            answer = (span,) if random.random() < 0.6 else ()
            said.append(
                Judgment(
                    document.id, None, f"annotator {person:03d}", "semantic-errors", "1.0",
                    {"errors": answer}, seconds=5.0,
                )
            )  # fmt: skip
        yield Entry(document.id, document, tuple(said))


class Taken(NamedTuple):
    """Seconds by the clock, and of a processor: on a busy machine they differ."""

    wall: float
    cpu: float

    def __str__(self) -> str:
        return f"{self.wall * 1000:.0f} | {self.cpu * 1000:.0f}"


def timed(work: Callable[[], Any]) -> Taken:
    begun, used = time.perf_counter(), time.process_time()
    work()
    return Taken(time.perf_counter() - begun, time.process_time() - used)


def made(store: Store, given: argparse.Namespace) -> None:
    store.campaigns.create(Plan("big", given.scheme, per_unit=given.per_unit + 1, batch=1))
    every = entries(given.scheme, given.judgments, given.annotators, given.per_unit)
    taken = timed(lambda: store.imports.add_judgments("big", every, check=False))
    print(f"made in {taken.wall:.0f} s", file=sys.stderr)
    store.people.add("mori", "manager", password=PASSWORD)


def signed_in(store: Store) -> TestClient:
    client = TestClient(create_app(store))
    token = client.get("/session.json").json()["csrf"]
    client.post("/sign-in.json", data={"name": "mori", "password": PASSWORD, "csrf": token})
    return client


def save_one(store: Store, person: int, number: int, scheme: str) -> Taken:
    given: Any = store.assignment.next_units(person, "big")
    unit = given.units[0].number
    request = SaveRequest(f"key-{number}-{time.time_ns()}", "big", unit, person, SAID[scheme][0])
    return timed(lambda: store.saves.save(request))


def version(store: Store) -> int:
    """Of the kept figures, as they are: asking for them would bring them up to date."""
    with store.database.reading() as conn:
        return int(conn.execute(t.figure_state.select()).one().version)


def up_to_date(client: TestClient, address: str) -> None:
    """Look until what is shown is there and of now."""
    while (seen := client.get(f"{address}.json").json())["pending"] or seen["as_of"] is not None:
        if seen["trouble"]:
            sys.exit(f"{address} could not be worked out: {seen['trouble']}")
        time.sleep(0.05)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scheme", choices=tuple(SAID), default="breakdown")
    parser.add_argument("--judgments", type=int, default=1_000_000)
    parser.add_argument("--annotators", type=int, default=30)
    parser.add_argument("--per-unit", type=int, default=30)
    parser.add_argument("--db", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = given.db or Path(folder) / "big.sqlite"
        is_new = not path.exists()
        with open_store(path) as store:
            if is_new:
                made(store, given)
            report(store, given)


def report(store: Store, given: argparse.Namespace) -> None:
    client = signed_in(store)
    person = store.people.add(f"late {time.time_ns()}").id
    print(
        f"| {given.judgments:,} judgments, {given.scheme} | ms | of a processor | goal |\n| --- | ---: | ---: | ---: |"
    )
    for page in PAGES:
        address = f"/c/big/insight{page}"
        first = timed(lambda address=address: client.get(address))
        print(f"| `{address}`, first look after a start | {first} | {GOAL} |")
        waited = timed(lambda address=address: up_to_date(client, address))
        print(f"| `{address}`, until it is there | {waited} | |")
    for number, page in enumerate(PAGES):
        address = f"/c/big/insight{page}"
        before = version(store)
        save_one(store, person, number, given.scheme)
        after = timed(lambda address=address: client.get(address))
        if version(store) == before:
            sys.exit("a save changed no figure: this would only measure what is kept in memory")
        print(f"| `{address}`, first look after a save | {after} | {GOAL} |")
        waited = timed(lambda address=address: up_to_date(client, address))
        print(f"| `{address}`, until it is of now | {waited} | |")
        again = timed(lambda address=address: client.get(address))
        print(f"| `{address}`, again | {again} | {GOAL} |")
    for what, pages in (("a save", ()), ("a save while figures are worked out", PAGES)):
        for page in pages:
            client.get(f"/c/big/insight{page}")
        saves = [save_one(store, person, 100 + number, given.scheme).wall for number in range(50)]
        middle, worst = statistics.median(saves), max(saves)
        print(f"| {what}, median and worst of 50 | {middle * 1000:.1f}, {worst * 1000:.1f} | | |")


if __name__ == "__main__":
    main()
