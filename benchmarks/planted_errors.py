"""Errors put into texts of WebNLG by rule: how many the shipped judge finds, and how many good texts it marks.

    LAPSUS_DATA=/path/to/corpora python benchmarks/planted_errors.py [--texts 100] [--split dev]

An error is found where a mark touches the words that were put in, or the element that was left out.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from lapsus.annotators import default_model, load_model
from lapsus.formats import read
from lapsus.mutation.pair_rules import PAIR_RULES, Pair, touches
from lapsus.reports import Table


def pairs(folder: Path, split: str) -> list[Pair]:
    """The pairs of a split, one text each."""
    found = {}
    for entry in read(folder / "webnlg-2017.zip", only=f"*/{split}/*"):
        if entry.document and entry.document.segments[-1].role == "text":
            triples = tuple(one.parts for one in entry.document.segments if one.parts)
            text = " ".join(entry.document.segments[-1].text.split())
            found.setdefault(triples, Pair(triples, text))
    return list(found.values())


def _is_found(pair: Pair, marks: Any) -> bool:
    """Whether a mark touches what was planted."""
    return any(touches(mark, place) for mark in marks for place in pair.places())


def rows(found: Sequence[Pair], count: int) -> Iterator[tuple[str, int, str]]:
    """For each kind how many errors are found; last the good texts that get a mark."""
    judge = load_model(default_model("en", "semantic-errors"))
    for name, plant in PAIR_RULES.items():
        rng = random.Random(0)
        made = (plant(pair, found, rng) for pair in rng.sample(found, len(found)))
        some = [pair for pair, _ in zip((one for one in made if one), range(count), strict=False)]
        judged = judge.judge(pair.document(str(n)) for n, pair in enumerate(some))
        hits = [_is_found(pair, one.answers["errors"]) for pair, one in zip(some, judged, strict=True)]
        yield name, len(some), f"{sum(hits) / len(hits):.0%} found"
    good = random.Random(1).sample(found, min(3 * count, len(found)))
    marked = [
        bool(one.answers["errors"]) for one in judge.judge(p.document(str(n)) for n, p in enumerate(good))
    ]
    yield "none", len(good), f"{sum(marked) / len(marked):.0%} marked"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=100, help="texts of each kind")
    parser.add_argument("--split", default="dev", help="of WebNLG: dev or test")
    asked = parser.parse_args()
    found = pairs(Path(os.environ.get("LAPSUS_DATA", ".")), asked.split)
    print(Table(("error", "texts", "by the shipped judge"), tuple(rows(found, asked.texts))).to_text())


if __name__ == "__main__":
    main()
