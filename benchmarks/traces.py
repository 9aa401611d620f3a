"""How fast chats of WildChat's shape are read, and in what memory, beside bare `json.loads` of the same lines.

The records are invented, with the fields and the nesting of the published ones. Each figure is measured in a process
of its own: its processor time, so that a busy machine does not matter, and its peak of memory.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

SIZES = (10_000, 100_000, 1_000_000)
A_CHAT = 4
"""Messages of a conversation."""
MOST_AGAINST_JSON = 5.0
MOST_BYTES_A_CHAT = 400
"""Ids are kept, so that doubled ones are found; nothing else may grow."""
WORDS = (
    "river",
    "stones",
    "and",
    "some",
    "old",
    "bread",
    "under",
    "morning",
    "light",
    "nobody",
    "asked",
    "about",
)
READERS = {
    "json.loads": "import json\nfor line in open(path, 'rb'):\n    json.loads(line)",
    "lapsus": "from lapsus.formats import read\nfor entry in read(path, 'chat'):\n    pass",
}
# Linux hands the parent's peak on to ru_maxrss of the child, so there the child's own is looked up.
PROGRAM = """
import resource, sys, time
from pathlib import Path
path = sys.argv[1]
{reading}
if sys.platform == "linux":
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    peak = float(status["VmHWM"].split()[0]) / 1024
else:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 / 1024
print(time.process_time(), peak)
"""


class Figures(NamedTuple):
    seconds: float
    megabytes: float


def record(number: int, chance: random.Random) -> dict[str, Any]:
    """A conversation with every field that the published ones have."""
    said = [" ".join(chance.choices(WORDS, k=chance.randint(5, 80))) for _ in range(A_CHAT)]
    about = {"country": "Nowhere", "hashed_ip": f"{number:064x}", "language": "English", "redacted": False}
    header = {"accept-language": "en-US", "user-agent": "Mozilla/5.0"}
    moderation = {"flagged": False, "categories": {"hate": False}, "category_scores": {"hate": 0.001}}
    return {
        "conversation_hash": f"{number:032x}",
        "model": "gpt-4-0314",
        "timestamp": "2023-04-09T00:02:53+00:00",
        "conversation": [
            {
                "content": text,
                "role": ("user", "assistant")[place % 2],
                "toxic": False,
                "turn_identifier": number * A_CHAT + place,
                "timestamp": "2023-04-09T00:02:53+00:00",
                "header": header,
                **about,
            }
            for place, text in enumerate(said)
        ],
        "turn": A_CHAT // 2,
        "openai_moderation": [moderation] * A_CHAT,
        "detoxify_moderation": [{"toxicity": 0.001, "insult": 0.0002}] * A_CHAT,
        "toxic": False,
        "state": None,
        "header": header,
        **about,
    }


def write(path: Path, messages: int) -> None:
    chance = random.Random(7)
    with path.open("w", encoding="utf-8") as stream:
        for number in range(messages // A_CHAT):
            stream.write(json.dumps(record(number, chance)) + "\n")


def measured(reader: str, path: Path) -> Figures:
    program = PROGRAM.format(reading=READERS[reader])
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
    )
    seconds, megabytes = map(float, done.stdout.split())
    return Figures(seconds, megabytes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="messages")
    sizes = parser.parse_args().sizes
    table = Table(
        "messages", "megabytes", "json.loads", "lapsus", "ratio", "memory, json.loads", "memory, lapsus"
    )
    found: dict[int, Figures] = {}
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            path = Path(folder) / f"{size}.jsonl"
            write(path, size)
            bare, ours = (measured(reader, path) for reader in READERS)
            found[size] = ours
            ratios.append(ours.seconds / bare.seconds)
            table.add_row(
                f"{size:,}",
                f"{path.stat().st_size / 1e6:,.0f}",
                f"{bare.seconds:.1f} s",
                f"{ours.seconds:.1f} s",
                f"{ratios[-1]:.2f}",
                f"{bare.megabytes:.0f} MB",
                f"{ours.megabytes:.0f} MB",
            )
            path.unlink()
    Console(width=110).print(table)
    least, most = min(sizes), max(sizes)
    grown = 1e6 * (found[most].megabytes - found[least].megabytes)
    bytes_a_chat = grown * A_CHAT / max(most - least, 1)
    print(f"memory grows by {bytes_a_chat:.0f} bytes a conversation (ids, to find doubled ones)")
    if ratios[-1] > MOST_AGAINST_JSON or bytes_a_chat > MOST_BYTES_A_CHAT:
        raise SystemExit("slower, or larger, than it may be")


if __name__ == "__main__":
    main()
