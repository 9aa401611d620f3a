"""How well the shipped judge of texts made from data finds the words that people mark, on a corpus it has not seen.

Its guideline has other labels, and its data is records, not triples: what is compared is which words are marked at all.
People are compared with each other where several marked the same text; the constant answer is every word. For the
corpora that the judge learned from, `tools/train/semantic_fit.py` prints the same, cross-validated.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators import default_model, load_model
from lapsus.formats.pairs import facts
from lapsus.language import tokens
from lapsus.model import Document, Segment, Span
from lapsus.reports import Table

CORPORA = {"RotoWire accuracy": "d2t_en_rotowire_accuracy"}
COLUMNS = ("data", "texts", "people each", "people", "every word", "semantic-errors-en")
MOST, RESAMPLES = 100, 1000
"""Texts of a corpus that are looked at, and how often they are drawn anew for an interval."""


class Counts(NamedTuple):
    """Words of one text: marked by both, and marked by either, summed over the comparisons made."""

    both: float
    either: float


def marked_words(folder: Path) -> Table:
    """The table: F1 of marked words with 95% intervals over texts."""
    judge = load_model(default_model("en", "semantic-errors"))
    rows = []
    for name, file in CORPORA.items():
        path = folder / "pool" / f"{file}.jsonl.gz"
        if path.is_file():
            records = list(_records(path))
            records = records[:: -(-len(records) // MOST)]
            documents = [_document(n, record) for n, record in enumerate(records)]
            judged = list(judge.judge(documents))
            people, constant, ours, each = [], [], [], []
            for record, document, judgment in zip(records, documents, judged, strict=True):
                spans = [
                    (s.start, s.end)
                    for s in judgment.answers["errors"]
                    if isinstance(s, Span) and s.segment == "text"
                ]
                masks = _people(record, document)
                own = _mask(document, spans)
                people.append(_among(masks))
                constant.append(_against(masks, np.ones_like(own)))
                ours.append(_against(masks, own))
                each.append(len(masks))
            rows.append((name, len(records), f"{np.median(each):.0f}", *map(_f1, (people, constant, ours))))
    return Table(COLUMNS, tuple(rows), "Words marked by the shipped judge of semantic errors")


def _records(path: Path) -> Iterator[Any]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _document(number: int, record: Any) -> Document:
    found, _ = facts(record["data"])
    data = (Segment.triple(f"t{n}", *fact) for n, fact in enumerate(found))
    return Document(str(number), (*data, Segment("text", "text", record["text"])), "en")


def _mask(document: Document, spans: Sequence[tuple[int, int]]) -> NDArray[np.float64]:
    """Which words a person marked."""
    words = tokens(document.segments[-1].text, "en")
    return np.array(
        [any(start < word.end and word.start < end for start, end in spans) for word in words], float
    )


def _people(record: Any, document: Document) -> NDArray[np.float64]:
    found = [
        _mask(document, [(s["start"], s["end"]) for s in record["spans"] if s["annotator"] == person])
        for person in record.get("annotators") or {s["annotator"] for s in record["spans"]}
    ]
    return np.array(found)


def _among(masks: NDArray[np.float64]) -> Counts:
    """Every person with every other."""
    whole, count = masks.sum(axis=0), len(masks)
    both = float((whole * whole).sum() - masks.sum())
    return Counts(both, 2 * (count - 1) * float(masks.sum()))


def _against(masks: NDArray[np.float64], own: NDArray[np.float64]) -> Counts:
    """Every person with one answer."""
    return Counts(float((masks * own).sum()), float(masks.sum() + len(masks) * own.sum()))


def _f1(counts: Sequence[Counts]) -> str:
    """F1 with its interval; texts that many people marked count as one text."""
    rows = np.array(counts, dtype=np.float64)
    if not rows[:, 1].any():
        return "n/a"
    drawn = np.random.default_rng(0).integers(len(rows), size=(RESAMPLES, len(rows)))
    sums = rows[drawn].sum(axis=1)
    low, high = np.quantile(2 * sums[:, 0] / np.maximum(sums[:, 1], 1), [0.025, 0.975])
    value = 2 * rows[:, 0].sum() / rows[:, 1].sum()
    return f"{value:.3f} [{low:.2f}, {high:.2f}]"
