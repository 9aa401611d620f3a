"""A campaign with 100,000 units: how long it takes to look through them.

    python benchmarks/units.py [--units 100000] [--db URL] > table.md

Makes the campaign (a minute or two; `--db` keeps it for the next time), starts anew, and asks for each kind of page
twice: the first look, and again. The table goes to standard output, progress to standard error.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from starlette.testclient import TestClient

from lapsus.model import Document, Entry, Judgment, Segment
from lapsus.store import Plan, Store, open_store
from lapsus.web.app import create_app

TURNS, PER_UNIT, PEOPLE = 10, 3, 30
PASSWORD = "correct horse"  # noqa: S105
GOAL = 300
"""Milliseconds."""
WORDS = [
    "the",
    "train",
    "was",
    "late",
    "again",
    "so",
    "we",
    "walked",
    "along",
    "the",
    "river",
    "and",
    "had",
    "toast",
    "with",
    "somebody",
    "from",
    "work",
]
PHRASES = [
    "今日は",
    "雨が",
    "降って",
    "いたので",
    "電車で",
    "海まで",
    "行って",
    "パンを",
    "食べました",
    "楽しかった",
]
BEGIN = datetime(2026, 3, 2, 8, tzinfo=UTC)
UNITS = {
    "all units": "",
    "the last page": "?page=2000",
    "a rare word": "?text=river+123",
    "a word of every second text": "?text=" + "雨が",
    "an answer": "?answer=X",
    "somebody's answer on a system": "?answer=X&person={person}&system=system+3",
    "most disputed first": "?agreement=differ&sort=disputed",
    "not complete": "?judged=open",
    "decided": "?decided=yes",
    "not decided, newest first": "?decided=no&sort=newest",
    "open flags": "?flag=open",
    "with a comment": "?comment=yes",
    "two people": "?person={person}&other={other}",
    "a day": "?day=2026-03-05",
    "a program is unsure": "?doubt=unsure",
    "programs least sure first": "?sort=doubt",
}
SECTIONS = ("answers", "time", "annotators", "pairs", "disputed", "programs")
LOOKS = {
    **{f"units: {name}": f"/c/big/units{query}" for name, query in UNITS.items()},
    "dashboard": "/c/big/insight",
    **{f"dashboard: {name}": f"/c/big/insight/{name}" for name in SECTIONS},
    "judges": "/c/big/judges",
    "a disputed unit, to decide": "/c/big/decide/77",
    "the campaign": "/c/big",
    "running it": "/c/big/manage",
    "log": "/c/big/log",
    "home": "/",
}


def entries(units: int) -> Iterator[Entry]:
    """Invented dialogues, half of them Japanese, judged by a crowd that half agrees."""
    random = np.random.default_rng(0)
    for number in range(units // TURNS):
        words = (PHRASES, WORDS)[number % 2]
        segments = tuple(
            Segment(str(n), ("system", "user")[n % 2], _text(random, words, number))  # type: ignore[arg-type]
            for n in range(2 * TURNS - 1)
        )
        document = Document(
            f"d{number}", segments, ("ja", "en")[number % 2], {"system": f"system {number % 5}"}
        )
        said = []
        for turn in range(TURNS):
            shares = random.dirichlet([1.0, 0.7, 0.7])
            people = random.permutation(PEOPLE)[:PER_UNIT]
            for person, code in zip(people, random.choice(3, PER_UNIT, p=shares), strict=True):
                answers = {"breakdown": "OTX"[code]} | ({"comment": "odd"} if random.random() < 0.02 else {})
                at = BEGIN + timedelta(minutes=number * 4 + turn)
                said.append(
                    Judgment(
                        document.id, str(2 * turn), f"annotator {person:03d}", "breakdown", "1.0", answers,
                        seconds=5.0, at=at,
                    )
                )  # fmt: skip
        yield Entry(document.id, document, tuple(said))


def guesses(units: int) -> Iterator[Entry]:
    """What an invented program says of them, and how sure it is."""
    random = np.random.default_rng(1)
    for number in range(units // TURNS):
        said = []
        for turn in range(TURNS):
            shares = dict(zip("OTX", random.dirichlet([1.0, 0.7, 0.7]).round(4).tolist(), strict=True))
            best = max(shares, key=lambda label: shares[label])
            said.append(
                Judgment(
                    f"d{number}", str(2 * turn), "judge", "breakdown", "1.0", {"breakdown": best},
                    {"breakdown": shares},
                )
            )  # fmt: skip
        yield Entry(f"d{number}", None, tuple(said))


def _text(random: np.random.Generator, words: list[str], number: int) -> str:
    return " ".join([*random.choice(words, 8), str(number)])


def make(store: Store, units: int) -> None:
    store.campaigns.create(Plan("big", "breakdown", per_unit=PER_UNIT))
    store.imports.add_judgments("big", entries(units), check=False)
    for _ in store.programs.add_judgments("big", store.programs.add("judge"), guesses(units)):
        pass
    mori = store.people.add("mori", "manager", password=PASSWORD)
    for unit in range(1, units, units // 200):
        store.flags.add(f"f{unit}", "big", unit, mori.id, "is this so?")
        store.decisions.decide(f"d{unit}", "big", unit + 1, mori.id, "own", {"breakdown": "T"})
    store.stats.refresh()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--units", type=int, default=100_000)
    parser.add_argument("--db")
    given = parser.parse_args()
    database = given.db or f"sqlite:///{Path(tempfile.mkdtemp()) / 'units.sqlite'}"
    with open_store(database) as store:
        if not store.campaigns.all():
            begun = time.perf_counter()
            make(store, given.units)
            print(f"made in {time.perf_counter() - begun:.0f} s", file=sys.stderr)
    with open_store(database) as store:
        client = TestClient(create_app(store))
        token = client.get("/session.json").json()["csrf"]
        client.post("/sign-in.json", data={"name": "mori", "password": PASSWORD, "csrf": token})
        # Whoever looks through units came by the first page.
        client.get("/").raise_for_status()
        one, other = [person.person for person in store.progress.of_campaign("big").people][:2]
        print(
            f"| {given.units:,} units | found | first look, ms | of a processor | again, ms | of a processor | goal |"
        )
        print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
        for name, path in LOOKS.items():
            path = path.format(person=one, other=other)
            twin = "/.json" if path == "/" else path.replace("?", ".json?") if "?" in path else f"{path}.json"
            times: list[str] = []
            for _ in range(2):
                begun, used = time.perf_counter(), time.process_time()
                client.get(path).raise_for_status()
                wall, cpu = time.perf_counter() - begun, time.process_time() - used
                times.append(f"{wall * 1000:.0f} | {cpu * 1000:.0f}")
                while client.get(twin).json().get("pending"):
                    time.sleep(0.1)
            total = client.get(twin).json().get("total")
            found = "" if total is None else f"{total:,}"
            print(f"| {name} | {found} | {times[0]} | {times[1]} | {GOAL} |", flush=True)


if __name__ == "__main__":
    main()
