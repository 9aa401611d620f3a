"""Many people who talk at once: how long an acknowledgement takes, and a reply of a system that answers at once.

    python benchmarks/talks.py [--people 100] [--think 2] [--seconds 30] [--db URL]

Everybody has the loop of a browser: a turn is sent and acknowledged once it is on disk, then the other side is waited
for, then one thinks for about so many seconds. Server and people share this machine. Without --db the talks are kept in
an SQLite file of their own; a PostgreSQL database has to be empty.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from pathlib import Path

import httpx

from lapsus.store import Plan, open_store
from lapsus.store.collect_plan import Collect
from workbench_process import Server, free_port

API = "/api/v1/campaigns/talk/talks"


class Measured:
    """What was seen, in seconds."""

    def __init__(self) -> None:
        self.acknowledged: list[float] = []
        self.replied: list[float] = []
        self.wrong: list[str] = []


async def person(address: str, token: str, think: float, until: float, seen: Measured, seed: int) -> None:
    """Talk until the time is up."""
    chance = random.Random(seed)
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=address, headers=headers, timeout=60) as http:
        await asyncio.sleep(chance.uniform(0, think))
        while time.monotonic() < until:
            talk = (await http.post(API, json={})).json()
            where = f"{API}/{talk['talk']}"
            while talk["awaits"] == "other":
                talk = (await http.get(where, params={"after": len(talk["turns"])})).json()
            while talk["state"] == "open" and time.monotonic() < until:
                await asyncio.sleep(chance.uniform(0.5, 1.5) * think)
                position = len(talk["turns"])
                body = {
                    "key": f"{talk['talk']}-{position}",
                    "position": position,
                    "text": "I like music, and you?",
                }
                begun = time.monotonic()
                answer = await http.post(f"{where}/turns", json=body)
                told = time.monotonic()
                if answer.status_code != 201:
                    seen.wrong.append(answer.text)
                    return
                seen.acknowledged.append(told - begun)
                while talk["state"] == "open" and len(talk["turns"]) <= position + 1:
                    talk = (await http.get(where, params={"after": position + 1})).json()
                seen.replied.append(time.monotonic() - told)


async def talk_all(address: str, tokens: list[str], think: float, seconds: float) -> Measured:
    """Everybody at once."""
    seen, until = Measured(), time.monotonic() + seconds
    await asyncio.gather(*(person(address, token, think, until, seen, n) for n, token in enumerate(tokens)))
    return seen


def line(name: str, found: list[float]) -> str:
    """Median, 99 of 100, and the worst, in milliseconds."""
    ordered = sorted(found)
    half, late = (ordered[min(int(share * len(ordered)), len(ordered) - 1)] for share in (0.5, 0.99))
    shown = f"median {1000 * half:.0f} ms, p99 {1000 * late:.0f} ms, worst {1000 * ordered[-1]:.0f} ms"
    return f"{name}: {len(ordered):,}; {shown}"


def main() -> None:
    """Fill a database, start a server, let people talk."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--people", type=int, default=100)
    parser.add_argument("--think", type=float, default=2.0)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--db")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        database = given.db or f"sqlite:///{Path(folder) / 'talks.sqlite'}"
        with open_store(database) as store:
            store.people.add("Mori", "manager")
            store.campaigns.set_up(Plan(name="talk", scheme="breakdown", collect=Collect(("bot",))))
            ids = [store.people.add(f"person {number}").id for number in range(given.people)]
            tokens = [store.access.add_token(id, "load") for id in ids]
        port = free_port()
        command = [sys.executable, "-m", "lapsus", "serve", "--db", database, "--port", str(port)]
        with Server(command, port, "/healthy.json", Path(folder)) as server:
            seen = asyncio.run(talk_all(f"http://127.0.0.1:{port}", tokens, given.think, given.seconds))
            computed, memory = server.processor_seconds, server.megabytes
    print(
        f"{given.people} people, {given.think:g} s to think, {given.seconds:g} s: {len(seen.wrong)} refused"
    )
    print(line("acknowledgements", seen.acknowledged))
    print(line("replies", seen.replied))
    print(f"the server computed for {computed:.1f} s and has {memory:.0f} MB")


if __name__ == "__main__":
    main()
