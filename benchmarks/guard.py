"""Does the guard help, what does it cost, and what does it bear?

    python benchmarks/guard.py [--contexts 400] [--talks 20] [--rate 50] [--seconds 20] [--only choice bot] [--write]

Run it with LAPSUS_DATA set to the folder that holds dbdc5-en.zip and pool/cand_en_dailydialogpp.jsonl.gz. Of
DailyDialog++ only contexts that the readers have not learned from are asked. The small reader guards; for `bot` the
large one (the package lapsus-large) judges before and after. Under load nothing is asked twice. `--write` puts the
tables into docs/guard.md.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import hashlib
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import httpx

import lapsus
from benchmark import HERE, table, write
from lapsus.collect.systems import Bot, TalkSoFar
from lapsus.guard import Candidate, Guard
from lapsus.measures.scores.breakdown_labels import LABELS
from lapsus.model import TALK
from workbench_process import Server, free_port

WAYS = ("positive", "adversarial", "random")
SMALL_TALK = (
    "I went to the park with my dog today.", "Do you like music?", "What do you do at weekends?", "I am a bit tired.",
    "My sister is getting married in June.", "Can you cook?", "I would like to travel more.", "Why do you ask?",
    "It rained all day here.", "That sounds nice. Tell me more.",
)  # fmt: skip
PAGE = HERE.parent / "docs" / "guard.md"
HEAD = ("measured", "found", "goal")
Message = dict[str, str]
Rows = list[tuple[str, str, str]]


class Context(NamedTuple):
    """What was said, and the replies that people wrote to it."""

    messages: list[Message]
    replies: dict[str, list[str]]


def contexts() -> list[Context]:
    """The contexts of DailyDialog++ that were kept for measuring (two in ten, by the hash that training uses)."""
    found: dict[str, Context] = {}
    path = Path(os.environ["LAPSUS_DATA"], "pool", "cand_en_dailydialogpp.jsonl.gz")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for record in map(json.loads, file):
            before = " ".join(record["context"])
            place = hashlib.blake2b(f"ddpp/{before}".encode(), digest_size=4).digest()[0] / 256
            if place >= 0.8 and record["response"]:
                context = found.setdefault(before, Context(talk(record["context"]), defaultdict(list)))
                context.replies[record["label"]].append(record["response"])
    return [one for one in found.values() if len(one.replies) == len(WAYS)]


def talk(turns: Sequence[str]) -> list[Message]:
    """Turns as messages of which the last is the user's."""
    last = len(turns) - 1
    return [
        {"role": "user" if (last - place) % 2 == 0 else "assistant", "content": text}
        for place, text in enumerate(turns)
    ]


def interval(hits: Sequence[bool]) -> str:
    """A share with its 95% interval by Wilson."""
    n, share, z = len(hits), sum(hits) / len(hits), 1.96
    middle, half = share + z * z / (2 * n), z * ((share * (1 - share) + z * z / (4 * n)) / n) ** 0.5
    low, high = ((middle + sign * half) / (1 + z * z / n) for sign in (-1, 1))
    return f"{share:.3f} [{low:.3f}, {high:.3f}] of {n}"


def choice(asked: argparse.Namespace) -> Rows:
    """Of one good, one adversarial and one random reply, in any order: which is chosen? And what does one cost?"""
    guard, chance, drawn = Guard(), random.Random(asked.seed), contexts()
    chance.shuffle(drawn)
    hits, seconds = [], []
    for context in drawn[: asked.contexts]:
        replies = [(way, chance.choice(context.replies[way])) for way in WAYS]
        chance.shuffle(replies)
        found = guard.check(context.messages, [text for _, text in replies])
        hits.append(replies[found.best][0] == "positive")
    for context in drawn[asked.contexts :][:100]:
        begun = time.process_time()
        guard.check(context.messages, [context.replies["positive"][0]])
        seconds.append(time.process_time() - begun)
    rows = [
        (
            "DailyDialog++: of one good, one adversarial and one random reply the good one is chosen",
            interval(hits),
            "≥ .80",
        )
    ]
    if seconds:
        cost = f"median {1000 * statistics.median(seconds):.1f} ms of a core"
        rows.append(("one reply judged", cost, "≤ 20 ms"))
    return rows


def is_likely(candidate: Candidate) -> bool:
    """Whether a breakdown is more likely than not."""
    shares = candidate.distribution
    return shares["X"] + shares["T"] / 2 > shares["O"] + shares["T"] / 2


def bot(asked: argparse.Namespace) -> Rows:
    """Talks with our bot, and with replies drawn from a pool: likely breakdowns with one and with three.

    Before and after the same is said to the system.
    """
    guard, judge, chance = Guard(), Guard(reader="large"), random.Random(asked.seed)
    pool = [text for one in contexts() for texts in one.replies.values() for text in texts]
    systems = {
        "our bot": lambda said, number: Bot().reply(TalkSoFar(str(number), "en", tuple(said))).text,
        "replies drawn from the pool": lambda said, number: chance.choice(pool),
    }
    rows = []
    for name, reply in systems.items():
        for candidates in (1, 3):
            likely = []
            for number in range(asked.talks):
                said: list[Message] = []
                for turn in random.Random(f"{asked.seed}/{number}").sample(SMALL_TALK, 6):
                    said.append({"role": "user", "content": turn})
                    offered = [reply(said, f"{number}/{place}") for place in range(candidates)]
                    best = guard.check(said, offered).best if candidates > 1 else 0
                    said.append({"role": "assistant", "content": offered[best]})
                    likely.append(is_likely(judge.check(said).candidates[0]))
            label = "before" if candidates == 1 else "after, the best of three"
            goal = "" if candidates == 1 else "fewer than before"
            rows.append((f"{name}, {label}: likely breakdowns by the large reader", interval(likely), goal))
    return rows


def votes(asked: argparse.Namespace) -> Rows:
    """Replies that a crowd voted on, each against two drawn from other talks: what is kept, and what is turned down?"""
    guard, chance = Guard(), random.Random(asked.seed)
    turns: list[tuple[list[Message], str, str]] = []
    for entry in lapsus.read(Path(os.environ["LAPSUS_DATA"], "dbdc5-en.zip")):
        if entry.document is None:
            continue
        said: list[Message] = []
        for segment in (one for one in entry.document.segments if one.role in TALK):
            given = [one.answers.get("breakdown") for one in entry.judgments if one.segment == segment.id]
            if segment.role == "system" and given and said:
                turns.append((list(said), segment.text, max(LABELS, key=given.count)))
            said.append(
                {"role": "assistant" if segment.role == "system" else "user", "content": segment.text}
            )
    kept: dict[str, list[bool]] = {label: [] for label in LABELS}
    for said, text, label in chance.sample(turns, min(asked.contexts, len(turns))):
        others = [chance.choice(turns)[1] for _ in range(2)]
        kept[label].append(guard.check(said, [text, *others]).best == 0)
    of_all = [label == "X" for label, hits in kept.items() for _ in hits]
    of_sent = [label == "X" for label, hits in kept.items() for hit in hits if hit]
    return [
        *(
            (f"DBDC5, most people say {label}: kept against two replies of other talks", interval(hits), "")
            for label, hits in kept.items()
        ),
        ("DBDC5: X by most people, of all", interval(of_all), ""),
        ("DBDC5: X by most people, of those kept", interval(of_sent), "fewer than of all"),
    ]


async def ask_all(address: str, rate: float, seconds: float) -> list[tuple[int, float]]:
    """Ask at times drawn beforehand, whether or not earlier answers have come: status and seconds of each."""
    chance, found = random.Random(rate), []
    bodies = [
        {"messages": one.messages, "candidates": [reply]}
        for one in contexts()
        for replies in one.replies.values()
        for reply in replies
    ]
    chance.shuffle(bodies)

    async def one(http: httpx.AsyncClient, at: float, body: Any) -> None:
        await asyncio.sleep(max(0.0, at - time.monotonic()))
        try:
            status = (await http.post("/check", json=body)).status_code
        except httpx.HTTPError:
            status = 0
        found.append((status, time.monotonic() - at))

    limits = httpx.Limits(max_connections=200)
    async with httpx.AsyncClient(base_url=address, timeout=60, limits=limits) as http:
        await asyncio.gather(*(http.post("/check", json=bodies.pop()) for _ in range(32)))
        at, work = time.monotonic() + 0.5, []
        end = at + seconds
        while at < end and bodies:
            work.append(one(http, at, bodies.pop()))
            at += chance.expovariate(rate)
        await asyncio.gather(*work)
    return found


def load(asked: argparse.Namespace) -> Rows:
    """A server of its own, and requests that come when they come; then four times as many."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        command = [sys.executable, "-m", "lapsus", "guard", "--port", str(port)]
        with Server(command, port, "/health", Path(folder)) as server:
            for rate in (asked.rate, 4 * asked.rate):
                before = server.processor_seconds
                found = asyncio.run(ask_all(f"http://127.0.0.1:{port}", rate, asked.seconds))
                took = sorted(1000 * each for status, each in found if status == 200)
                busy = sum(status == 503 for status, _ in found)
                p99 = took[min(int(0.99 * len(took)), len(took) - 1)]
                figures = (
                    f"{len(took)} judged, {busy} told to come again, {len(found) - len(took) - busy} others;"
                    f" median {statistics.median(took):.0f} ms, p99 {p99:.0f} ms;"
                    f" {1000 * (server.processor_seconds - before) / len(found):.1f} ms of a core each,"
                    f" {server.megabytes:.0f} MB; load of the machine {os.getloadavg()[0]:.1f}"
                )
                rows.append((f"{rate:g} a second", figures, "p99 ≤ 150 ms" if rate == asked.rate else ""))
    return rows


PARTS: dict[str, Callable[[argparse.Namespace], Rows]] = {
    "choice": choice,
    "bot": bot,
    "votes": votes,
    "load": load,
}


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--contexts", type=int, default=400)
    parser.add_argument("--talks", type=int, default=20)
    parser.add_argument("--rate", type=float, default=50.0)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--write", action="store_true", help="put the tables into docs/guard.md")
    asked = parser.parse_args()
    for name in asked.only:
        made = table(HEAD, list(PARTS[name](asked)), f"Seed {asked.seed}, {os.cpu_count()} cores.")
        print(f"## {name}\n\n{made}\n", flush=True)
        if asked.write:
            write(PAGE, name, made)


if __name__ == "__main__":
    main()
