"""Texts made from records, with the words that people marked: what the labeller learns beside WebNLG.

Their guidelines have other labels than ours. What is incorrect, contradictory, misleading or cannot be checked is an
addition, what is repetitive a repetition; words under other labels are left out. Records are read as facts, as the
judge reads them. Some values that nobody marked give way to others of the same record, which are additions then.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import brief
import numpy as np
from numpy.typing import NDArray
from semantic_data import place_of, surface

from lapsus.annotators.encoder.tokens import Subwords
from lapsus.annotators.triples.pair import Pairs, Window
from lapsus.formats.pairs import Fact, facts
from lapsus.model import Document, Segment

CORPORA = ("d2t_en_quintd", "d2t_en_spanannotators")
ADDITIONS = {"Incorrect", "Contradictory", "Misleading", "Not checkable"}
REPETITIONS = {"Repetitive"}
FOLDS = 3
LEAST = 2
"""Signs that a value has at least to be swapped."""
MOST_SWAPS = 3


class Marked(NamedTuple):
    """A record as facts, its text, and for each sign the shares of people who marked it: added, repeated, other."""

    corpus: str
    fold: int
    facts: list[Fact]
    text: str
    shares: NDArray[np.float32]
    marks: float
    """Additions that a person marked, in the mean."""

    @property
    def document(self) -> Document:
        """As a pair."""
        data = (Segment.triple(f"t{n}", *fact) for n, fact in enumerate(self.facts))
        return Document("record", (*data, Segment("text", "text", self.text)), "en")


class Stretch(NamedTuple):
    """A stretch of a text beside the facts, in windows, and what is wanted of each of its pieces."""

    windows: list[Window]
    wanted: NDArray[np.float32]
    """Said, added, repeated: a row a piece; only zeros where nothing is wanted."""


def load_marked() -> list[Marked]:
    """The texts of all corpora; those of one record are in one fold."""
    return [_marked(corpus, record) for corpus in CORPORA for record in _records(corpus)]


def _records(corpus: str) -> Iterator[dict[str, Any]]:
    path = Path(os.environ["LAPSUS_DATA"]) / "pool" / f"{corpus}.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, brief.few(lines))


def _marked(corpus: str, record: dict[str, Any]) -> Marked:
    found, _ = facts(record["data"])
    shares = np.zeros((len(record["text"]), 3), dtype=np.float32)
    for person in record["annotators"]:
        own = np.zeros_like(shares)
        for span in record["spans"]:
            if span["annotator"] == person:
                column = 0 if span["label"] in ADDITIONS else 1 if span["label"] in REPETITIONS else 2
                own[span["start"] : span["end"], column] = 1
        shares += own / len(record["annotators"])
    # Both corpora have some products in common: a record is known by what it is about and its first value.
    about = f"{found[0].subject} {found[0].object}" if found else ""
    marks = sum(span["label"] in ADDITIONS for span in record["spans"]) / len(record["annotators"])
    return Marked(corpus, fold_of(about), found, record["text"], shares, marks)


def fold_of(name: str) -> int:
    """Which fold something is in."""
    return int(hashlib.blake2b(name.encode(), digest_size=4).hexdigest(), 16) % FOLDS


def swapped(one: Marked, rng: random.Random) -> Marked:
    """The same with some values that nobody marked in the place of which another of the record is said."""
    values: dict[str, list[str]] = defaultdict(list)
    for fact in one.facts:
        values[fact.predicate].append(surface(fact.object))
    text, shares, left = one.text, one.shares, rng.randint(1, MOST_SWAPS)
    for fact in rng.sample(one.facts, len(one.facts)):
        place = place_of(text, fact.object) if len(surface(fact.object)) >= LEAST else None
        other = _other(surface(fact.object), values[fact.predicate], rng)
        if left and place and other and _is_whole(text, *place) and not shares[slice(*place)].any():
            start, end = place
            wrong = np.zeros((len(other), 3), dtype=np.float32)
            wrong[:, 0] = 1
            text = text[:start] + other + text[end:]
            shares = np.concatenate([shares[:start], wrong, shares[end:]])
            left -= 1
    return one._replace(text=text, shares=shares)


def _other(value: str, values: Sequence[str], rng: random.Random) -> str | None:
    places = [n for n, sign in enumerate(value) if sign in "0123456789"]
    if places and rng.random() < 0.6:
        signs = list(value)
        n = rng.choice(places)
        signs[n] = str((int(signs[n]) + rng.randint(1, 9)) % 10)
        return "".join(signs)
    others = [one for one in values if one and one.lower() != value.lower()]
    return rng.choice(others) if others else None


def _is_whole(text: str, start: int, end: int) -> bool:
    return not (text[start - 1 : start].isalnum() or text[end : end + 1].isalnum())


def stretches(one: Marked, pairs: Pairs, subwords: Subwords) -> list[Stretch]:
    """A text as the labeller reads it, stretch by stretch."""
    *data, text = one.document.segments
    pair = pairs.pair(data, [text], "en")
    wanted = np.zeros((len(pair.pieces), 3), dtype=np.float32)
    for n, piece in enumerate(subwords.pieces(one.text)):
        added, repeated, other = one.shares[piece.start : piece.end].max(axis=0)
        if not other:
            repeated = min(repeated, 1 - added)
            wanted[n] = 1 - added - repeated, added, repeated
    found: dict[tuple[int, int], list[Window]] = defaultdict(list)
    for window in pairs.windows(pair):
        found[window.first, window.size].append(window)
    return [
        Stretch(windows, wanted[first : first + size]) for (first, size), windows in found.items() if size
    ]
