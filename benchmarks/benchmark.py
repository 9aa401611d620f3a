"""The table of judges: how good, how large and how fast each is, beside people, constant answers and published systems.

    LAPSUS_DATA=/path/to/corpora python benchmarks/benchmark.py [--with mine.lapsus] [--only ratings] [--write]

`--with` adds a judge of one's own: a model's file or a language model (`openai:MODEL`). `--write` puts the tables into
docs/benchmark.md. Where a shipped judge has learned from a corpus, its row is taken from `reported.yaml`, as are rows
that others published; runs that are kept in the folder of `--runs` are not made again.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml
from numpy.typing import NDArray

import breakdown
import semantic_errors
from lapsus.annotators import METHODS, Annotator, find_annotator, load_model
from lapsus.annotators.judges import as_usual
from lapsus.annotators.library import model_file, shipped_models
from lapsus.formats import read
from lapsus.measures.scores.ratings import spearman
from lapsus.model import Segment, Unit
from lapsus.samples import sample_path

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "benchmark.md"
RATED = {
    "grade": "coherence_1to5",
    "gupta": "appropriateness_mean5",
    "holistic": "context_coherence_1to5",
}
RESAMPLES = 1000
NOT_HERE = ("floor", "triples", "judge", "encoder")
"""Methods that do not judge breakdown by themselves, or whose readers have learned from the corpora already."""
Rows = list[Sequence[str]]
Figures = NDArray[np.float64]


class Asked(NamedTuple):
    """What the command line asks for."""

    folder: Path
    own: list[str]
    methods: list[str]
    runs: Path | None


def table(head: Sequence[str], rows: Rows, note: str) -> str:
    """A table of the page, dated."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    shown = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{shown}\n\n{note} {datetime.now(UTC):%Y-%m-%d}."


def breakdowns(corpus: str) -> Callable[[Asked], str]:
    """Votes on breakdown: methods that learn here, people, what was reported of others."""

    def made(asked: Asked) -> str:
        lines, signature = breakdown.measure(corpus, [*asked.methods, *asked.own], 0.0, asked.runs)
        known = {f"`{name}`" for name in asked.own if getattr(find_annotator(name), "method", "") in NOT_HERE}
        lines = [
            [*line[:2], f"{line[2]}, whose reader knows the corpus", *line[3:]] if line[2] in known else line
            for line in lines
        ]
        rows: Rows = [
            [line[2], *(cell.replace("*", "") for cell in line[3:8])]
            for line in lines
            if line[1] == breakdown.ALL
        ]
        rows += reported(corpus)
        return table(("judge", *breakdown.COLUMNS.values()), rows, f"`{signature}`")

    return made


def reported(section: str) -> Rows:
    """Rows that are not made here: shipped judges on what they learned from, and what others published."""
    return list(yaml.safe_load((HERE / "reported.yaml").read_text(encoding="utf-8")).get(section, []))


class Rated(NamedTuple):
    """Replies that people rated."""

    name: str
    units: list[Unit]
    ratings: list[Figures]

    def means(self) -> Figures:
        return np.array([one.mean() for one in self.ratings])


def rated(folder: Path) -> Iterator[Rated]:
    """The corpora of rated replies, none of whose ratings a shipped reader of breakdown has learned from."""
    for file, key in RATED.items():
        with gzip.open(folder / "pool" / f"resp_en_{file}.jsonl.gz", "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        for data in dict.fromkeys(row.get("dataset", "") for row in rows):
            here = [row for row in rows if row.get("dataset", "") == data]
            given = [np.array(row["turns"][-1]["ratings"][key], float) for row in here]
            talks = [[(turn["role"], turn["text"]) for turn in row["turns"]] for row in here]
            yield Rated(
                f"{file.title()} {data}".strip(), [_unit(n, talk) for n, talk in enumerate(talks)], given
            )
    yield _fed(json.loads((folder / "fed.json").read_text(encoding="utf-8")))


def _fed(records: list[Any]) -> Rated:
    """FED: the overall quality of a reply."""
    units, given = [], []
    for record in records:
        if "response" in record:
            lines = [*record["context"].split("\n"), record["response"]]
            said = [line.partition(": ") for line in lines if ": " in line]
            talk = [("system" if who == "System" else "user", text) for who, _, text in said]
            units.append(_unit(len(units), talk))
            given.append(
                np.array([one for one in record["annotations"]["Overall"] if isinstance(one, int | float)])
            )
    return Rated("FED overall", units, given)


def _unit(number: int, talk: Sequence[tuple[str, str]]) -> Unit:
    turns = [Segment(str(n), role, text) for n, (role, text) in enumerate(talk)]  # type: ignore[arg-type]
    return Unit(str(number), "en", turns[-1], tuple(turns[:-1]))


def ratings(asked: Asked) -> str:
    """How a judge orders replies, beside the means of people's ratings."""
    # The large reader has learned from these ratings, so the small one judges alone.
    judges = {"`breakdown-en`": as_usual(find_annotator("breakdown-en").read_by("small"))}
    judges |= {f"`{name}`": as_usual(find_annotator(name)) for name in asked.own}
    judges["`response-quality-en`, coherence"] = find_annotator("response-quality-en")
    rows: Rows = []
    for data in rated(asked.folder):
        means = data.means()
        rows.append([data.name, str(len(means)), half_of_the_crowd(data)])
        for name, judge in judges.items():
            learned = data.name.startswith("FED") and name.startswith("`response")
            rows[-1] = [
                *rows[-1],
                "learned from it" if learned else correlation(_order(judge, data.units), means),
            ]
    head = ("data", "replies", "half of the crowd", *judges)
    return table(head, rows, "Spearman's correlation; a constant answer has 0.")


def _order(judge: Annotator, units: Sequence[Unit]) -> Figures:
    """How good a judge finds each reply: the expected grade, or the less risk the better."""
    found = []
    for opinion in judge.opinions(units):
        if said := opinion.distributions.get("coherence"):
            found.append(sum(int(level) * share for level, share in said.items()))
        else:
            said = opinion.distributions["breakdown"]
            found.append(-said["X"] - said["T"] / 2)
    return np.array(found)


def half_of_the_crowd(data: Rated) -> str:
    """One half of the raters against the other, where single ratings are known."""
    if min(map(len, data.ratings)) < 2:
        return "–"
    drawn = np.random.default_rng(0)
    mixed = [drawn.permutation(one) for one in data.ratings]
    halves = [np.array([one[part::2].mean() for one in mixed]) for part in (0, 1)]
    return correlation(*halves)


def correlation(ours: Figures, theirs: Figures) -> str:
    """Spearman's correlation with its 95% interval over replies."""
    drawn = np.random.default_rng(0).integers(len(ours), size=(RESAMPLES, len(ours)))
    low, high = np.quantile([spearman(ours[one], theirs[one]) for one in drawn], [0.025, 0.975])
    return f"{spearman(ours, theirs):.2f} [{low:.2f}, {high:.2f}]"


def marks(asked: Asked) -> str:
    """Words that people mark in texts made from data."""
    found = semantic_errors.marked_words(asked.folder)
    rows: Rows = [[str(cell) for cell in row] for row in found.rows]
    return table(found.columns, rows, "F1 of words, 95% intervals over texts.")


def cost(asked: Asked) -> str:
    """What the shipped judges weigh, and how much one core judges."""
    rows: Rows = []
    for name in [*shipped_models(), *asked.own]:
        path = model_file(name)
        judge = load_model(path)
        kind = "pairs" if "semantic" in name else "dialogues"
        documents = [
            entry.document for entry in read(sample_path(f"{kind}-{_language(name)}")) if entry.document
        ]
        list(judge.judge(documents[:2]))
        judge.forget()
        begin = time.process_time()
        count = sum(1 for _ in judge.judge(documents))
        each = (time.process_time() - begin) / count
        rows.append(
            [f"`{name}`", f"{path.stat().st_size / 1e6:.2f}", f"{1000 * each:.0f}", f"{1 / each:,.0f}"]
        )
    head = ("judge", "MB", "ms of one core for a unit", "units a second of one core")
    return table(head, rows, "Processor time on the sample data.")


def _language(name: str) -> str:
    return "ja" if name.endswith("-ja") else "en"


SECTIONS: dict[str, Callable[[Asked], str]] = {
    **{corpus: breakdowns(corpus) for corpus in breakdown.CORPORA},
    "ratings": ratings,
    "marks": marks,
    "cost": cost,
}


def write(path: Path, section: str, made: str) -> None:
    """Replace one table of a page."""
    around = re.compile(rf"(<!-- {section} -->\n).*?(\n<!-- end -->)", re.DOTALL)
    page, many = around.subn(lambda found: found[1] + made + found[2], path.read_text("utf-8"))
    if not many:
        raise SystemExit(f"{path.name} has no place for {section}")
    path.write_text(page, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--with", dest="own", action="append", default=[], help="a judge of one's own")
    parser.add_argument(
        "--only", nargs="*", default=list(SECTIONS), choices=list(SECTIONS), help="which tables"
    )
    parser.add_argument("--methods", help="methods that learn here, with commas between; all by default")
    parser.add_argument("--runs", type=Path, help="folder of runs: taken from it, else kept in it")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/benchmark.md")
    given = parser.parse_args()
    learning = [name for name in METHODS.names() if name not in NOT_HERE]
    methods = breakdown.chosen(given.methods, learning)
    asked = Asked(Path(os.environ["LAPSUS_DATA"]), given.own, methods, given.runs)
    for section in given.only:
        made = SECTIONS[section](asked)
        print(f"## {section}\n\n{made}\n", flush=True)
        if given.write:
            write(PAGE, section, made)


if __name__ == "__main__":
    main()
