"""Errors put into texts of WebNLG by rule: how many the shipped judge finds, and how many good texts it marks.

    LAPSUS_DATA=/path/to/corpora python benchmarks/planted_errors.py [--texts 100] [--split dev]

An error is found where a mark touches the words that were put in, or the element that was left out.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import regex

from lapsus.annotators import default_model, load_model
from lapsus.formats import read
from lapsus.model import Document, Segment, Span
from lapsus.reports import Table

NUMBER = regex.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?![\w])")
UNITS = (
    ("metres", "feet"), ("meters", "miles"), ("m", "ft"), ("km", "miles"), ("kilometres", "metres"),
    ("kilometers", "meters"), ("kg", "g"), ("kilograms", "pounds"), ("grams", "kilograms"), ("g", "kg"),
    ("days", "years"), ("minutes", "hours"), ("kelvins", "degrees"), ("feet", "metres"), ("inches", "feet"),
)  # fmt: skip
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
DATE = regex.compile(rf"\b(?:{'|'.join(MONTHS)})\b")


class Pair(NamedTuple):
    """Triples, a text, which letters of it were put in, and which triple was left out."""

    triples: tuple[tuple[str, str, str], ...]
    text: str
    planted: tuple[int, int] | None = None
    element: tuple[int, int] | None = None

    def document(self, id: str) -> Document:
        """As the judge reads it."""
        data = (Segment.triple(f"t{n}", *triple) for n, triple in enumerate(self.triples))
        return Document(id, (*data, Segment("text", "text", self.text)), "en")

    def is_found(self, spans: Sequence[Span]) -> bool:
        """Whether a mark touches what was planted."""
        for span in spans:
            if span.segment == "text":
                start, end = self.planted or (0, 0)
                if span.start < end and start < span.end:
                    return True
            elif self.element is not None and span.segment == f"t{self.element[0]}":
                return True
        return False


def pairs(folder: Path, split: str) -> list[Pair]:
    """The pairs of a split, one text each."""
    found = {}
    for entry in read(folder / "webnlg-2017.zip", only=f"*/{split}/*"):
        if entry.document and entry.document.segments[-1].role == "text":
            triples = tuple(one.parts for one in entry.document.segments if one.parts)
            text = " ".join(entry.document.segments[-1].text.split())
            found.setdefault(triples, Pair(triples, text))
    return list(found.values())


def said(value: str) -> str:
    """A value as a text says it."""
    return regex.sub(r"\s*\(.*?\)", "", value.replace("_", " ").strip().strip('"')).strip()


def place(pair: Pair, value: str) -> tuple[int, int] | None:
    """Where a text says a value."""
    at = pair.text.lower().find(said(value).lower()) if len(said(value)) > 2 else -1
    return None if at < 0 else (at, at + len(said(value)))


def put(pair: Pair, start: int, end: int, words: str, element: tuple[int, int] | None = None) -> Pair:
    """The pair with other words at a place."""
    text = pair.text[:start] + words + pair.text[end:]
    return Pair(pair.triples, text, (start, start + len(words)), element)


def omission(pair: Pair, others: Sequence[Pair], rng: random.Random) -> Pair | None:
    """A triple of which the text says nothing, about the same subject."""
    subject = pair.triples[0][0]
    known = [t for other in others for t in other.triples if t[0] == subject and t not in pair.triples]
    if not known or place(pair, (triple := rng.choice(known))[2]):
        return None
    return Pair((*pair.triples, triple), pair.text, None, (len(pair.triples), 2))


def addition(pair: Pair, others: Sequence[Pair], rng: random.Random) -> Pair:
    """A sentence about something else."""
    words = rng.choice([one for one in others if len(one.triples) == 1]).text
    return put(pair, len(pair.text), len(pair.text), f" {words}")


def repetition(pair: Pair, others: Sequence[Pair], rng: random.Random) -> Pair:
    """A sentence said again."""
    words = rng.choice(regex.split(r"(?<=[.!?])\s+", pair.text))
    return put(pair, len(pair.text), len(pair.text), f" {words}")


def entity(pair: Pair, others: Sequence[Pair], rng: random.Random) -> Pair | None:
    """The object of a triple gives way to another one of the same predicate."""
    for n, (_, predicate, value) in enumerate(pair.triples):
        pool = {t[2] for other in others for t in other.triples if t[1] == predicate and t[2] != value}
        if not any(map(str.isdigit, value)) and pool and (at := place(pair, value)):
            return put(pair, *at, said(rng.choice(sorted(pool))), (n, 2))
    return None


def number(pair: Pair, others: Sequence[Pair], rng: random.Random) -> Pair | None:
    """A digit of a number that the data give changes."""
    found = [one for one in NUMBER.finditer(pair.text) if any(one.group() in t[2] for t in pair.triples)]
    if not found:
        return None
    one = rng.choice(found)
    digits = list(one.group())
    where = rng.choice([n for n, sign in enumerate(digits) if sign.isdigit()])
    digits[where] = str((int(digits[where]) + rng.randint(1, 8)) % 9 + (where == 0 and digits[where] == "0"))
    wrong = "".join(digits)
    element = next(n for n, t in enumerate(pair.triples) if one.group() in t[2])
    return None if wrong == one.group() else put(pair, one.start(), one.end(), wrong, (element, 2))


def unit(pair: Pair, others: Sequence[Pair], rng: random.Random) -> Pair | None:
    """A number keeps its digits and gets another unit."""
    for right, wrong in rng.sample(UNITS, len(UNITS)):
        if one := regex.search(rf"(?<=\d\s?){right}\b(?!\s?/)", pair.text):
            return put(pair, one.start(), one.end(), wrong)
    return None


def date(pair: Pair, others: Sequence[Pair], rng: random.Random) -> Pair | None:
    """Another month."""
    if not any(regex.search(r"\d{4}-\d\d-\d\d", t[2]) for t in pair.triples):
        return None
    one = DATE.search(pair.text)
    return one and put(
        pair, one.start(), one.end(), rng.choice([name for name in MONTHS if name != one.group()])
    )


PLANTS: dict[str, Callable[[Pair, Sequence[Pair], random.Random], Pair | None]] = {
    "omission": omission, "addition": addition, "repetition": repetition, "entity": entity, "number": number,
    "unit": unit, "date": date,
}  # fmt: skip


def rows(found: Sequence[Pair], count: int) -> Iterator[tuple[str, int, str]]:
    """For each kind how many errors are found; last the good texts that get a mark."""
    judge = load_model(default_model("en", "semantic-errors"))
    for name, plant in PLANTS.items():
        rng = random.Random(0)
        made = (plant(pair, found, rng) for pair in rng.sample(found, len(found)))
        some = [pair for pair, _ in zip((one for one in made if one), range(count), strict=False)]
        judged = judge.judge(pair.document(str(n)) for n, pair in enumerate(some))
        hits = [pair.is_found(one.answers["errors"]) for pair, one in zip(some, judged, strict=True)]  # type: ignore[arg-type]
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
