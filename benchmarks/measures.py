"""Lapsus beside other libraries: how many times as fast, in what memory, and whether the results are the same.

    LAPSUS_DATA=… python benchmarks/measures.py [--quick] [--peers FOLDER] [--markdown docs/measures/speed.md]

The others are installed into an environment of their own, and every side runs in a process of its own. Every
figure is measured in this run. The exit code is 1 where a goal is missed or results are not the same.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from measures_data import LABELS, QUICK, RATERS, Sizes, input_bytes, make_data
from measures_table import Goal, Row, Setting, page, show
from measures_venv import PEERS, install_peers, python_of
from measures_worker import Results, Worker, WorkerError

ROUNDS = 3
ITERATIONS = 20
"""Of Dawid and Skene's model, on both sides."""
PRECISION = 0.02
"""Of gamma, on both sides."""
EXACT = 1e-9
FASTER = "× as fast"


class Race(NamedTuple):
    """Lapsus against one other."""

    what: str
    task: str
    ours: str
    """The module to import."""
    peer: str | None
    """The package to install; None for the loop, which needs none."""
    theirs: str
    least: float | None
    """How many times as fast it should be."""
    same: Mapping[str, float] = {}
    """How far some results may differ; the others must be the same but for rounding."""

    @property
    def goal(self) -> Goal | None:
        return Goal(self.least, is_least=True) if self.least else None

    @property
    def beside(self) -> str:
        return f"{self.peer} {PEERS[self.peer]}" if self.peer else "a plain Python loop"

    def not_measured(self, data: str, reason: str) -> Row:
        return Row(self.what, data, self.beside, None, FASTER, self.goal, note=reason)


_AGREEMENT = "lapsus.measures.agreement"
RACES = (
    Race("α from labels", "alpha", f"{_AGREEMENT}.krippendorff", "krippendorff", "krippendorff", 8),
    Race(
        "α from labels",
        "alpha of lists",
        f"{_AGREEMENT}.krippendorff",
        "nltk",
        "nltk.metrics.agreement",
        None,
    ),
    Race(
        "Fleiss' κ from counts",
        "fleiss",
        f"{_AGREEMENT}.fleiss",
        "statsmodels",
        "statsmodels.stats.inter_rater",
        1,
    ),
    Race("breakdown scores", "scores", "lapsus.measures.scores", None, "measures_loop", 25),
    Race(
        f"Dawid–Skene, {ITERATIONS} iterations",
        "dawid-skene",
        "lapsus.measures.gold.dawid_skene",
        "crowd-kit",
        "crowdkit.aggregation",
        10,
        {"posteriors": 1e-6},
    ),
    # Random continua are drawn in different ways, so gamma is the same only within its precision; and the
    # other library computes in single precision.
    Race(
        "γ",
        "gamma",
        f"{_AGREEMENT}.gamma",
        "pygamma-agreement",
        "pygamma_agreement",
        20,
        {"gamma": PRECISION, "observed disorder": 1e-5},
    ),
)
MEMORY = {"alpha": "α from labels", "fleiss": "Fleiss' κ from counts", "scores": "breakdown scores"}
MOST_MEMORY = Goal(3, is_least=False)
MOST_SECONDS = Goal(1, is_least=False)


def sizes_in_words(sizes: Sizes) -> dict[str, str]:
    """What each task works on."""
    units = f"{sizes.units:,} units"
    return {
        "alpha": units,
        "alpha of lists": f"{sizes.listed:,} units",
        "fleiss": units,
        "scores": f"{sizes.units:,} turns",
        "dawid-skene": f"{sizes.modelled:,} units",
        "gamma": f"{sizes.marks} units, 3 annotators",
    }


def run(race: Race, folder: Path, peers: Path, data: str) -> list[Row]:
    """The sides take turns, so that a busy moment hits both."""
    here = Path(sys.executable)
    python, module = (python_of(peers), "measures_peers") if race.peer else (here, "measures_loop")
    try:
        with (
            Worker(here, race.ours, "measures_ours", race.task, folder) as ours,
            Worker(python, race.theirs, module, race.task, folder) as theirs,
        ):
            pairs = [(quickest(ours), quickest(theirs)) for _ in range(ROUNDS)]
            told, note = compare(ours.results(), theirs.results(), race.same)
    except WorkerError as error:
        return [race.not_measured(data, str(error))]
    mine, other = (min(seconds) for seconds in zip(*pairs, strict=True))
    rows = [Row(race.what, data, race.beside, other / mine, FASTER, race.goal, mine, other, told, note)]
    if race.task == "gamma":
        mine, other = ours.import_seconds, theirs.import_seconds
        rows.append(Row("γ, import", "", race.beside, other / mine, FASTER, None, mine, other))
    return rows


def compare(ours: Results, theirs: Results, same: Mapping[str, float]) -> tuple[str, str]:
    """How far results differ, in words, and what is wrong with that."""
    differences = {name: float(np.abs(ours[name] - value).max()) for name, value in theirs.items()}
    wrong = [name for name, difference in differences.items() if not difference <= same.get(name, EXACT)]
    if len(differences) > 3:
        differences = {f"{len(differences)} scores": max(differences.values())}
    told = ", ".join(f"{name} {difference:.0e}" for name, difference in differences.items())
    told = told.replace(" 0e+00", " 0")
    return told, f"DIFFERS: {', '.join(wrong)}" if wrong else ""


def memory(task: str, folder: Path, data: str) -> Row:
    """The most that is in use at a time on top of the input, as a multiple of the input."""
    with Worker(Path(sys.executable), "lapsus.measures", "measures_ours", task, folder) as ours:
        times = ours.peak_bytes() / input_bytes(folder, task)
    return Row(f"{MEMORY[task]}, peak memory", data, "the input", times, "×", MOST_MEMORY)


def resampling(folder: Path) -> Row:
    """The whole score set with intervals, on a real corpus."""
    with Worker(Path(sys.executable), "lapsus.measures.scores", "measures_ours", "bootstrap", folder) as ours:
        seconds = min(quickest(ours) for _ in range(ROUNDS))
    turns = len(np.load(folder / "eval_labels.npy"))
    data = f"DBDC3-en eval, revised, {turns:,} turns"
    return Row("breakdown scores with intervals, 1,000 resamples", data, "", seconds, " s", MOST_SECONDS)


def quickest(worker: Worker) -> float:
    """One call, or the best of as many as fit into a second: short ones suffer most from whatever else is going on."""
    calls = [worker.seconds()]
    while sum(calls) < 1 and len(calls) < 20:
        calls.append(worker.seconds())
    return min(calls)


def measure(folder: Path, peers: Path, sizes: Sizes) -> list[Row]:
    failures, data = install_peers(peers), sizes_in_words(sizes)
    rows = []
    for race in RACES:
        print(f"{race.what} beside {race.beside} …", file=sys.stderr)
        if reason := failures.get(race.peer or ""):
            rows.append(race.not_measured(data[race.task], reason))
        else:
            rows += run(race, folder, peers, data[race.task])
    return [*rows, *(memory(task, folder, data[task]) for task in MEMORY), resampling(folder)]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    beside = Path(__file__).resolve().parent.parent / ".bench"
    parser.add_argument("--quick", action="store_true", help="a tenth of the data, and no goals")
    parser.add_argument("--peers", type=Path, default=beside, help="where the other libraries are installed")
    parser.add_argument(
        "--markdown", type=Path, metavar="FILE", help="write the page of the documentation, too"
    )
    parser.add_argument("--shared", action="store_true", help="say there that others use the machine, too")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    corpora = os.environ.get("LAPSUS_DATA")
    if not corpora:
        print("set LAPSUS_DATA to the folder with dbdc3-en.zip", file=sys.stderr)
        return 2
    setting = Setting(ROUNDS, RATERS, LABELS, options.shared, os.getloadavg()[0], not options.quick)
    with tempfile.TemporaryDirectory() as room:
        folder, sizes = Path(room), QUICK if options.quick else Sizes()
        make_data(folder, sizes, Path(corpora))
        np.save(folder / "iterations.npy", ITERATIONS)
        np.save(folder / "precision.npy", PRECISION)
        rows = measure(folder, options.peers, sizes)
    show(rows, setting)
    if options.markdown:
        options.markdown.write_text(page(rows, setting), encoding="utf-8")
    is_fine = all(row.holds or (options.quick and not row.is_wrong) for row in rows)
    return 0 if is_fine else 1


if __name__ == "__main__":
    sys.exit(main())
