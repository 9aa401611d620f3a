"""What the shipped detectors cost: turns a second, one turn, loading, memory; beside the readers inside them.

    python benchmarks/detect.py [--turns 100000 | --full] [--languages en,ja]

The dialogues are made up here, as long as those of the challenge, and come one at a time. Every figure is measured in
this run, rates as the best of several goes. On a busy machine processor time says more than the clock: it is what one
idle core would take. Turns are read on two cores side by side. Memory is measured on a hundred thousand turns, or on a
million with --full, which takes an hour or so.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from lapsus.annotators import default_model, load_model
from lapsus.annotators.encoder.encoder import Encoder
from lapsus.annotators.encoder.reader import HOME, Passage, passages_of
from lapsus.model import Document, Segment, units
from lapsus.schemes import load_scheme

SYLLABLES = {
    "en": "ba co da el fi go hu in jo ka lo ma ne or pi qua ra so ta un ver wi yo za",
    "ja": "あ い う え お か き く け こ さ し す せ そ た な に の は ま も や ら り を ん 山 川 話 好 今 日 人 食 見",
}
COMMON = {
    "en": "i you the a is it do not what like to have and that really movie dog yes my your think about",
    "ja": "です ます は が を に ね よ か 私 何 好き ありがとう でも とても そう 今日 映画 犬 ますか",
}
WORDS_A_TURN = {"en": 6.9, "ja": 8.0}
PAIRS = 10
"""System turns of a dialogue; as many user turns come between them."""
BULK, GOES, SINGLE = 2_000, 5, 40
FEW = 1_000
USUAL, FULL = 100_000, 1_000_000
LEAST = {"en": 300.0, "ja": 200.0}
MOST_MILLISECONDS, MOST_LOAD, MOST_MEGABYTES_MORE = 15.0, 1.0, 20.0
MEMORY = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from detect import dialogues
from lapsus.annotators import default_model, load_model
language, steps = sys.argv[2], [int(step) for step in sys.argv[3:]]
model = load_model(default_model(language))
for judged, _ in enumerate(model.judge(dialogues(language, steps[-1])), 1):
    if judged in steps:
        status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
        print(float(status["VmHWM"].split()[0]) / 1024)
assert judged == steps[-1]
"""


class Row(NamedTuple):
    """A line of the table; `least` and `most` are what the figure must keep to, if anything."""

    language: str
    what: str
    figure: float
    unit: str
    least: float | None = None
    most: float | None = None

    @property
    def holds(self) -> bool:
        return (self.least is None or self.figure >= self.least) and (
            self.most is None or self.figure <= self.most
        )


class Rate(NamedTuple):
    """Turns a second, by the clock and by processor time of one core."""

    clock: float
    processor: float


def dialogues(language: str, turns: int, seed: int = 0) -> Iterator[Document]:
    """Dialogues with so many system turns in all. No two turns are alike."""
    chance = np.random.default_rng(seed)
    syllables, common = SYLLABLES[language].split(), COMMON[language].split()
    gap = " " if language == "en" else ""

    def word() -> str:
        if chance.random() < 0.8:
            return str(common[chance.integers(len(common))])
        return "".join(
            syllables[place] for place in chance.integers(len(syllables), size=chance.integers(1, 4))
        )

    def turn() -> str:
        count = max(1, round(chance.gamma(3.0, WORDS_A_TURN[language] / 3)))
        return gap.join(word() for _ in range(count)) + ("?" if chance.random() < 0.3 else ".")

    for number in range(-(-turns // PAIRS)):
        pairs = min(PAIRS, turns - number * PAIRS)
        roles = ("user", "system") * pairs
        segments = (Segment(str(place), role, turn()) for place, role in enumerate(roles))  # type: ignore[arg-type]
        yield Document(f"d{seed}-{number}", tuple(segments), language)


def passages(language: str, turns: int, seed: int) -> list[Passage]:
    rule = load_scheme("breakdown").unit
    found = (
        passages_of(unit)[0]
        for document in dialogues(language, turns, seed)
        for unit in units(document, rule)
    )
    return list(islice(found, turns))


def rate(actions: Sequence[Callable[[], Any]], turns: int) -> Rate:
    """The best of some goes with as many turns each."""
    clocks, processors = [], []
    for action in actions:
        clock, processor = time.perf_counter(), time.process_time()
        action()
        clocks.append(time.perf_counter() - clock)
        processors.append(time.process_time() - processor)
    return Rate(turns / min(clocks), turns / min(processors))


def alone(encoder: Encoder, asked: Sequence[Passage]) -> Callable[[], Any]:
    """The reader and nothing else: no signs, no calibration, no judgments."""
    reader: Any = encoder.memory_.reader
    return lambda: reader.said(asked, HOME)


def single(encoder: Encoder, language: str) -> list[tuple[float, float]]:
    """Milliseconds by clock and processor for the newest turn of dialogues; those before were judged when said."""
    found = []
    for document in dialogues(language, SINGLE * PAIRS, seed=3):
        *_, last = (place for place, segment in enumerate(document.segments) if segment.role == "system")
        so_far = Document(document.id, document.segments[: last - 1], language)
        list(encoder.judge([so_far]))
        start, processor = time.perf_counter(), time.process_time()
        list(encoder.judge([document]))
        found.append((1000 * (time.perf_counter() - start), 1000 * (time.process_time() - processor)))
    return found


def peak_memory(language: str, steps: Sequence[int]) -> list[float]:
    """Megabytes that a fresh process has needed at most when it has judged so many turns."""
    command = [sys.executable, "-c", MEMORY, str(sys.path[0]), language, *map(str, steps)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [float(line) for line in done.stdout.split()]


def tenfold(turns: int) -> list[int]:
    """From a thousand turns on ten times as many, up to all."""
    steps = [FEW]
    while steps[-1] * 10 < turns:
        steps.append(steps[-1] * 10)
    return [*steps, turns] if turns > FEW else steps


def measure(language: str, turns: int) -> Iterator[Row]:
    start = time.perf_counter()
    model = load_model(default_model(language))
    yield Row(language, "loading the model", time.perf_counter() - start, "s", most=MOST_LOAD)
    if not isinstance(model, Encoder):
        raise SystemExit(f"{model.name} is no encoder")
    list(model.judge(dialogues(language, 100, seed=1)))
    goes = [list(dialogues(language, BULK // GOES, seed=10 + go)) for go in range(GOES)]
    whole = rate([lambda go=go: list(model.judge(go)) for go in goes], BULK // GOES)  # type: ignore[misc]
    asked = [passages(language, BULK // GOES, seed=20 + go) for go in range(GOES)]
    reading = rate([alone(model, go) for go in asked], BULK // GOES)
    yield Row(language, "judging in bulk", whole.clock, "turns/s", least=LEAST[language])
    yield Row(language, "  a core, by processor time", whole.processor, "turns/s")
    yield Row(language, "the reader alone", reading.clock, "turns/s")
    yield Row(language, "  a core, by processor time", reading.processor, "turns/s")
    clock, processor = np.median(single(model, language), axis=0).tolist()
    yield Row(language, "one turn more, median", clock, "ms", most=MOST_MILLISECONDS)
    yield Row(language, "  by processor time", processor, "ms")
    steps = tenfold(turns)
    few, *more = peak_memory(language, steps)
    yield Row(language, f"peak memory after {FEW:,} turns", few, "MB")
    for step, megabytes in zip(steps[1:], more, strict=True):
        yield Row(language, f"after {step:,}", megabytes, "MB", most=few + MOST_MEGABYTES_MORE)


def show(rows: Sequence[Row]) -> None:
    table = Table(title="What the shipped detectors cost")
    for heading in ("", "what", "figure", "", "must be", ""):
        table.add_column(heading, justify="right" if heading in ("figure", "must be") else "left")
    for row in rows:
        bound = (
            f"≥ {row.least:g}"
            if row.least is not None
            else f"≤ {row.most:.0f}"
            if row.most is not None
            else ""
        )
        verdict = "" if not bound else "holds" if row.holds else "MISSED"
        table.add_row(row.language, row.what, f"{row.figure:,.2f}", row.unit, bound, verdict)
    console = Console(soft_wrap=True)
    console.print(table)
    busy, cores = os.getloadavg()[0], os.cpu_count()
    console.print(f"{datetime.now(UTC):%Y-%m-%d}, {cores} cores, load of the machine at the end {busy:.1f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--turns", type=int, default=USUAL, help="how many turns memory is measured on")
    parser.add_argument("--full", action="store_true", help=f"measure memory on {FULL:,} turns")
    parser.add_argument("--languages", default="en,ja", help="which models, with commas between")
    asked = parser.parse_args()
    rows = [
        row
        for language in asked.languages.split(",")
        for row in measure(language, FULL if asked.full else asked.turns)
    ]
    show(rows)
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
