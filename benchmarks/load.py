"""Many annotators at once, each with the loop of a browser: the page, the next unit, the answer, and so on.

    python benchmarks/load.py [--people 200 500] [--workers 1 2] [--think 5] [--seconds 30] [--sessions N] [--db URL]

Everybody opens the judging page, then again and again reads a unit for some seconds and answers it; the answer says
which unit is next, and where a document ends one asks. What the clients themselves compute is counted apart, and so is
what else the machine has to do: on a busy one look at the processor's time, which does not depend on it.
The server's memory is printed as it goes. With --sessions, so many browsers with a session
of their own come by afterwards.
Without --db each run has an SQLite file of its own; a PostgreSQL database has to be empty.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from lapsus.model import Document, Segment
from lapsus.store import Plan, open_store
from lapsus.web.sessions import SESSION, Cookies, Sessions, new_session
from workbench_load import Client
from workbench_process import Server, family, free_port, request

CAMPAIGN = "load"
TURNS = 10
DOCUMENTS = 400
SAMPLES = 12
"""How often the server's memory is looked at."""
_keys = count()


def fill(database: str, people: int) -> list[str]:
    """A campaign with room for everybody; a token for each."""
    with open_store(database) as store:
        plan = Plan(name=CAMPAIGN, scheme="breakdown", per_unit=people, batch=1)
        store.campaigns.create(plan)
        store.campaigns.add_documents(CAMPAIGN, _documents())
        made = [store.people.add(f"person {number}").id for number in range(people)]
        return [store.access.add_token(person, "load") for person in made]


def _documents() -> Iterator[Document]:
    for number in range(DOCUMENTS):
        turns = (("system", "user")[place % 2] for place in range(2 * TURNS))
        yield Document(
            f"chat {number}",
            tuple(Segment(str(place), role, f"This is turn {place}.") for place, role in enumerate(turns)),  # type: ignore[arg-type]
            "en",
        )


class Annotator:
    """One browser."""

    def __init__(self, token: str, port: int, seen: dict[str, list[float]], wrong: list[str]) -> None:
        self.port, self.seen, self.wrong = port, seen, wrong
        self.headers = {"Authorization": f"Bearer {token}", "Accept-Encoding": "identity"}
        self.client = Client()

    async def work(self, chance: random.Random, think: float, until: float) -> None:
        """Until the time is over; people do not all begin in the same moment."""
        await asyncio.sleep(chance.uniform(0, think))
        unit = (await self._ask("next", "GET", f"/api/v1/campaigns/{CAMPAIGN}/next"))["unit"]
        await self._ask("page", "GET", f"/c/{CAMPAIGN}/u/{unit}", is_json=False)
        while unit is not None and time.perf_counter() < until:
            await asyncio.sleep(chance.uniform(0.5, 1.5) * think)
            body = {
                "key": f"load-{next(_keys)}",
                "answers": {"breakdown": chance.choice("OTX")},
                "submitted": True,
            }
            path = f"/api/v1/campaigns/{CAMPAIGN}/units/{unit}/judgments"
            unit = (await self._ask("save", "POST", path, json.dumps(body).encode())).get("next")
            if unit is None:
                unit = (await self._ask("next", "GET", f"/api/v1/campaigns/{CAMPAIGN}/next"))["unit"]
            await self._ask("unit", "GET", f"/c/{CAMPAIGN}/u/{unit}.json")

    async def _ask(
        self, what: str, method: str, path: str, body: bytes = b"", *, is_json: bool = True
    ) -> dict[str, int | None]:
        begun = time.perf_counter()
        sent = request(method, path, self.headers, body)
        # A connection that was closed while it rested is opened again, as browsers do; a key is stored once.
        answer = await self.client.send("127.0.0.1", self.port, sent) or await self.client.send(
            "127.0.0.1", self.port, sent
        )
        self.seen[what].append(time.perf_counter() - begun)
        head, _, content = answer.partition(b"\r\n\r\n")
        if head[9:10] != b"2":
            self.wrong.append(f"{what}: {head[:80]!r} {content[:200]!r}")
            return {"unit": None}
        return json.loads(content) if is_json else {}  # type: ignore[no-any-return]


def processor_seconds(pid: int) -> float:
    """What a process and all that came from it have computed."""
    ticks = 0
    for one in family(pid):
        fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


async def crowd(
    tokens: list[str], server: Server, think: float, seconds: float
) -> tuple[dict[str, list[float]], list[str], list[float]]:
    """Everybody at once; how long each request took, what went wrong, and the server's megabytes as it went."""
    seen: dict[str, list[float]] = defaultdict(list)
    wrong: list[str] = []
    memory: list[float] = []

    async def watch() -> None:
        for _ in range(SAMPLES):
            memory.append(server.megabytes)
            await asyncio.sleep(seconds / SAMPLES)

    until = time.perf_counter() + seconds
    people = [Annotator(token, server.port, seen, wrong) for token in tokens]
    work = [one.work(random.Random(n), think, until) for n, one in enumerate(people)]
    await asyncio.gather(watch(), *work)
    return seen, wrong, [*memory, server.megabytes]


async def come_by(database: str, server: Server, count: int) -> str:
    """So many browsers, each with a session of its own, look at the first page; what that does to the memory."""
    with open_store(database) as store:
        person = store.people.add("somebody with many browsers")
        stamp, secret = store.access.session_stamp(person.id), store.access.secret("sessions")
    sessions, name = Sessions(secret), Cookies(secret).name(SESSION)
    browser, before = Annotator("", server.port, defaultdict(list), []), server.megabytes
    for _ in range(count):
        browser.headers = {"Cookie": f"{name}={sessions.write(new_session(person.id, stamp))}"}
        await browser._ask("home", "GET", "/account", is_json=False)
    memory = f"{before:.0f} → {server.megabytes:.0f} MB"
    return f"| {count:,} sessions after that | {memory} | {len(browser.wrong)} refused |"


async def costs(tokens: list[str], server: Server, rounds: int = 200) -> str:
    """What each request costs the server's processor, asked for one by one; whatever else the machine does.

    Those of the first are asked for again and again; the others each get their first document.
    """
    one, *others = (Annotator(token, server.port, defaultdict(list), []) for token in tokens)
    following = f"/api/v1/campaigns/{CAMPAIGN}/next"
    unit = (await one._ask("next", "GET", following))["unit"]
    body = {"answers": {"breakdown": "O"}, "submitted": False}
    saving = f"/api/v1/campaigns/{CAMPAIGN}/units/{unit}/judgments"
    asked = {
        "next": ("GET", following),
        "page": ("GET", f"/c/{CAMPAIGN}/u/{unit}"),
        "unit": ("GET", f"/c/{CAMPAIGN}/u/{unit}.json"),
        "save": ("POST", saving),
    }
    found, before = [], processor_seconds(server.process.pid)
    for other in others:
        await other._ask("next", "GET", following)
    spent = processor_seconds(server.process.pid) - before
    found.append(f"document {1000 * spent / len(others):.1f}")
    for what, (method, path) in asked.items():
        before = 0.0
        # The first of each kind is not counted: statements and templates are put together in it.
        for number in range(rounds + 5):
            if number == 5:
                before = processor_seconds(server.process.pid)
            sent = b"" if method == "GET" else json.dumps({**body, "key": f"cost-{number}"}).encode()
            await one._ask(what, method, path, sent, is_json=False)
        spent = processor_seconds(server.process.pid) - before
        found.append(f"{what} {1000 * spent / rounds:.1f}")
    return ", ".join(found)


def measure(
    database: str, people: int, workers: int, think: float, seconds: float, sessions: int, folder: Path
) -> bool:
    """One run, printed; whether nothing was refused."""
    tokens, port = fill(database, people), free_port()
    command = [sys.executable, "-m", "lapsus", "serve", "--db", database, "--port", str(port)]
    with Server([*command, "--workers", str(workers)], port, "/healthy.json", folder) as server:
        alone = asyncio.run(costs(tokens[:51], server))
        before, mine, begun = processor_seconds(server.process.pid), time.process_time(), time.perf_counter()
        seen, wrong, memory = asyncio.run(crowd(tokens, server, think, seconds))
        taken = time.perf_counter() - begun
        spent, own = processor_seconds(server.process.pid) - before, time.process_time() - mine
        many = asyncio.run(come_by(database, server, sessions)) if sessions else ""
    loops = len(seen["save"])
    print(
        f"\n{people} people, {workers} process{'es' if workers > 1 else ''}, {taken:.0f} s: {loops / taken:.0f} saves"
        f" a second, {len(wrong)} errors; server {spent:.1f} s of processor ({1000 * spent / max(loops, 1):.1f} ms"
        f" a loop), clients {own:.1f} s; load of the machine {os.getloadavg()[0]:.1f}"
    )
    print(f"  memory as it went: {', '.join(f'{one:.0f}' for one in memory)} MB")
    later = memory[-1] - memory[SAMPLES // 2]
    print(
        f"  | {people} annotators for {seconds:.0f} seconds, {loops:,} saves | {memory[0]:.0f} → {memory[-1]:.0f} MB,"
        f" of which {later:.0f} MB in the second half | {len(wrong)} errors |"
    )
    if many:
        print(f"  {many}")
    print(f"  milliseconds of processor for each, asked for one by one: {alone}")
    for what, times in sorted(seen.items()):
        times.sort()
        p50, p95, p99 = (
            1000 * times[min(len(times) - 1, int(len(times) * share))] for share in (0.5, 0.95, 0.99)
        )
        print(f"  {what:5} {len(times):6,}   p50 {p50:7.0f} ms   p95 {p95:7.0f} ms   p99 {p99:7.0f} ms")
    for one in wrong[:3]:
        print(f"  {one}")
    return not wrong


def main() -> int:
    """All runs, one after the other."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--people", type=int, nargs="+", default=[200, 500])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--think", type=float, default=5.0, help="seconds that a unit takes to read")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--sessions", type=int, default=0, help="browsers that come by afterwards")
    parser.add_argument("--db", help="an empty PostgreSQL database, for a single run")
    wanted = parser.parse_args()
    is_right = True
    for people in wanted.people:
        for workers in wanted.workers:
            with tempfile.TemporaryDirectory(prefix="lapsus-load-") as folder:
                database = wanted.db or f"sqlite:///{folder}/load.sqlite"
                is_right &= measure(
                    database, people, workers, wanted.think, wanted.seconds, wanted.sessions, Path(folder)
                )
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
