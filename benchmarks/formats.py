"""How fast the challenge's dialogues are read, and in what memory, side by side with bare `json.load`.

Run it with LAPSUS_DATA set to the folder that holds dbdc3-en.zip. Every figure is measured in this run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from lapsus.formats import read

ROUNDS = 5
TIMES = 10
MOST_AGAINST_JSON = 2.0
MOST_FOR_TEN_TIMES = 12.0
MOST_MEGABYTES_MORE = 4.0
# The format is named, so that importing the others, to ask whose files these are, does not set the peak.
# Linux hands the parent's peak on to ru_maxrss of the child, so there the child's own is looked up.
MEMORY = """
import resource, sys
from pathlib import Path
from lapsus.formats import read
for entry in read(sys.argv[1], "dbdc"):
    pass
if sys.platform == "linux":
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    print(float(status["VmHWM"].split()[0]) / 1024)
else:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 / 1024)
"""


class Row(NamedTuple):
    """A line of the table; `bound` is what the figure may be at most, if anything."""

    what: str
    figure: float
    unit: str
    bound: float | None = None

    @property
    def holds(self) -> bool:
        return self.bound is None or self.figure <= self.bound


def unpack(archive: Path, folder: Path) -> None:
    """The revised part of the corpus."""
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(folder, [name for name in packed.namelist() if "/revised/" in name])


def copy_many_times(folder: Path, target: Path) -> None:
    """Each file TIMES times, as it is but for its id."""
    for path in files(folder):
        content = path.read_bytes()
        name = json.loads(content)["dialogue-id"]
        for number in range(TIMES):
            copy = target / str(number) / path.relative_to(folder).parent / f"{name}-{number}.log.json"
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(content.replace(f'"{name}"'.encode(), f'"{name}-{number}"'.encode()))


def files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.log.json"))


def bare(paths: list[Path]) -> None:
    for path in paths:
        with path.open("rb") as stream:
            json.load(stream)


def ours(folder: Path) -> int:
    reading = read(folder)
    for _ in reading:
        pass
    return reading.documents


def best(*actions: Callable[[], object]) -> list[float]:
    """The least seconds that each action takes. They take turns, so that a busy moment hits all of them."""
    seconds: list[list[float]] = [[] for _ in actions]
    for _ in range(ROUNDS):
        for action, times in zip(actions, seconds, strict=True):
            start = time.perf_counter()
            action()
            times.append(time.perf_counter() - start)
    return [min(times) for times in seconds]


def peak_memory(folder: Path) -> float:
    """Megabytes of a fresh process that reads the folder and does nothing else; the least of three."""
    command = [sys.executable, "-c", MEMORY, str(folder)]
    return min(float(subprocess.run(command, check=True, capture_output=True).stdout) for _ in range(3))


def measure(once: Path, many: Path) -> list[Row]:
    count, count_many = ours(once), ours(many)
    if (len(files(once)), count * TIMES) != (count, count_many):
        raise SystemExit(
            f"{count} and {count_many} documents were read: the copies are not what they should be"
        )
    paths = files(once)
    json_seconds, seconds, seconds_many = best(lambda: bare(paths), lambda: ours(once), lambda: ours(many))
    memory, memory_many = peak_memory(once), peak_memory(many)
    return [
        Row(f"bare json.load, {count:,} files", json_seconds, "s"),
        Row(f"lapsus.formats.read, {count:,} files", seconds, "s"),
        Row("read against json.load", seconds / json_seconds, "x", MOST_AGAINST_JSON),
        Row(f"lapsus.formats.read, {count_many:,} files", seconds_many, "s"),
        Row(f"time for {TIMES} times the files", seconds_many / seconds, "x", MOST_FOR_TEN_TIMES),
        Row(f"peak memory, {count:,} files", memory, "MB"),
        Row(f"peak memory, {count_many:,} files", memory_many, "MB"),
        Row(f"memory for {TIMES} times the files", memory_many - memory, "MB more", MOST_MEGABYTES_MORE),
    ]


def show(rows: list[Row]) -> None:
    table = Table(title=f"Reading DBDC3 (revised), best of {ROUNDS}")
    for heading in ("what", "figure", "", "at most", ""):
        table.add_column(heading, justify="right" if heading in ("figure", "at most") else "left")
    for row in rows:
        bound = "" if row.bound is None else f"{row.bound:g}"
        verdict = "" if row.bound is None else "holds" if row.holds else "MISSED"
        table.add_row(row.what, f"{row.figure:.2f}", row.unit, bound, verdict)
    Console().print(table)


def main() -> int:
    data = os.environ.get("LAPSUS_DATA")
    if not data:
        sys.stderr.write("set LAPSUS_DATA to the folder with dbdc3-en.zip\n")
        return 2
    with tempfile.TemporaryDirectory() as room:
        once, many = Path(room, "once"), Path(room, "many")
        unpack(Path(data, "dbdc3-en.zip"), once)
        copy_many_times(once, many)
        rows = measure(once, many)
    show(rows)
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
