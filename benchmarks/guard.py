"""Does the guard help, what does it cost, and what does it bear?

    python benchmarks/guard.py [--contexts 400] [--talks 20] [--rate 50] [--seconds 20] [--only choice bot votes load]

Run it with LAPSUS_DATA set to the folder that holds dbdc5-en.zip and pool/cand_en_dailydialogpp.jsonl.gz. Of
DailyDialog++ only contexts that the readers have not learned from are asked. The small reader guards; the large one,
where it is installed, judges before and after. Under load nothing is asked twice.
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
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import httpx

import lapsus
from lapsus.annotators.encoder.large_reader import is_installed
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
Message = dict[str, str]


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


def choice(guard: Guard, many: int, chance: random.Random) -> None:
    """Of one good, one adversarial and one random reply, in any order: which is chosen? And what does one cost?"""
    drawn = contexts()
    chance.shuffle(drawn)
    hits, chosen, seconds = [], defaultdict(int), []
    for context in drawn[:many]:
        replies = [(way, chance.choice(context.replies[way])) for way in WAYS]
        chance.shuffle(replies)
        found = guard.check(context.messages, [text for _, text in replies])
        way = replies[found.best or 0][0]
        chosen[way] += 1
        hits.append(way == "positive")
    for context in drawn[many : many + 100]:
        begun = time.process_time()
        guard.check(context.messages, [context.replies["positive"][0]])
        seconds.append(time.process_time() - begun)
    print(
        f"DailyDialog++: the good reply is chosen in {interval(hits)} (chance .333; goal .80); {dict(chosen)}"
    )
    if seconds:
        print(f"one candidate: median {1000 * statistics.median(seconds):.1f} ms of a core (goal 20)")


def is_likely(candidate: Candidate) -> bool:
    """Whether a breakdown is more likely than not."""
    shares = candidate.distribution
    return shares["X"] + shares["T"] / 2 > shares["O"] + shares["T"] / 2


def bot(guard: Guard, judge: Guard, talks: int, chance: random.Random) -> None:
    """Talks with our bot, and with replies drawn from a pool: likely breakdowns with one and with three."""
    pool = [text for one in contexts() for texts in one.replies.values() for text in texts]
    systems = {
        "our bot": lambda said, number: Bot().reply(TalkSoFar(str(number), "en", tuple(said))).text,
        "replies drawn from the pool": lambda said, number: chance.choice(pool),
    }
    for name, reply in systems.items():
        for candidates in (1, 3):
            likely = []
            for number in range(talks):
                said: list[Message] = []
                for turn in chance.sample(SMALL_TALK, 6):
                    said.append({"role": "user", "content": turn})
                    offered = [reply(said, f"{number}/{place}") for place in range(candidates)]
                    best = guard.check(said, offered).best if candidates > 1 else 0
                    said.append({"role": "assistant", "content": offered[best or 0]})
                    likely.append(is_likely(judge.check(said).candidates[0]))
            label = "before" if candidates == 1 else "after (best of three)"
            print(f"{name}, {label}: likely breakdowns {interval(likely)}")


def votes(guard: Guard, many: int, chance: random.Random) -> None:
    """Replies that a crowd voted on, each against two drawn from other talks: what is kept, and what is turned down?"""
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
    for said, text, label in chance.sample(turns, min(many, len(turns))):
        others = [chance.choice(turns)[1] for _ in range(2)]
        kept[label].append(guard.check(said, [text, *others]).best == 0)
    for label, hits in kept.items():
        print(f"DBDC5, most people say {label}: kept against two replies of other talks {interval(hits)}")
    total = [label for label, hits in kept.items() for _ in hits]
    sent = [label for label, hits in kept.items() for hit in hits if hit]
    before, after = (labels.count("X") / len(labels) for labels in (total, sent))
    print(f"DBDC5, X by most people: of all {before:.3f}, of those kept {after:.3f}")


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


def load(rate: float, seconds: float) -> None:
    """A server of its own, and requests that come when they come; then four times as many."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        command = [sys.executable, "-m", "lapsus", "guard", "--port", str(port)]
        with Server(command, port, "/health", Path(folder)) as server:
            for asked in (rate, 4 * rate):
                before = server.processor_seconds
                found = asyncio.run(ask_all(f"http://127.0.0.1:{port}", asked, seconds))
                took = sorted(1000 * each for status, each in found if status == 200)
                busy = sum(status == 503 for status, _ in found)
                p99 = took[min(int(0.99 * len(took)), len(took) - 1)]
                print(
                    f"{asked:g} a second: {len(took)} judged, {busy} told to come again,"
                    f" {len(found) - len(took) - busy} others;"
                    f" median {statistics.median(took):.0f} ms, p99 {p99:.0f} ms;"
                    f" {1000 * (server.processor_seconds - before) / len(found):.1f} ms of a core each,"
                    f" {server.megabytes:.0f} MB; load of the machine {os.getloadavg()[0]:.1f}"
                )


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--contexts", type=int, default=400)
    parser.add_argument("--talks", type=int, default=20)
    parser.add_argument("--rate", type=float, default=50.0)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument(
        "--only",
        nargs="+",
        choices=["choice", "bot", "votes", "load"],
        default=["choice", "bot", "votes", "load"],
    )
    given = parser.parse_args()
    guard, chance = Guard(), random.Random(given.seed)
    if "choice" in given.only:
        choice(guard, given.contexts, chance)
    if "bot" in given.only:
        judge = Guard(reader="large") if is_installed() else guard
        print(f"judged by the {'large' if is_installed() else 'small'} reader:")
        bot(guard, judge, given.talks, chance)
    if "votes" in given.only:
        votes(guard, given.contexts, chance)
    if "load" in given.only:
        load(given.rate, given.seconds)


if __name__ == "__main__":
    main()
