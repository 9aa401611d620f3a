"""Texts of systems that people rated (WebNLG 2020): how far coverage and relevance of each fall short."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NamedTuple

import brief
from semantic_records import fold_of

from lapsus.annotators.triples.pair import Pairs, Window
from lapsus.formats import read
from lapsus.model import Document

RATINGS = ("Correctness", "DataCoverage", "Relevance")
SHARED = 0.3
"""What correctness counts for the other two ratings: a wrong value costs both."""
SPREADS = 4.0
"""Shortfalls are multiplied by this, so that they are about as far apart as other targets."""
TEXTS = 120
"""So many in brief."""


class Rated(NamedTuple):
    """A text, as the labeller reads it with its data."""

    document: Document
    window: Window
    ratings: tuple[float, float, float]
    fold: int

    @property
    def short(self) -> tuple[float, float]:
        """How far coverage and relevance fall short of the best."""
        correctness, *others = self.ratings
        coverage, relevance = (
            SPREADS * (100 - SHARED * correctness - (1 - SHARED) * one) / 100 for one in others
        )
        return coverage, relevance


def load_rated(pairs: Pairs) -> list[Rated]:
    """All texts; those made from the same data are in one fold."""
    path = Path(os.environ["LAPSUS_DATA"]) / "webnlg-2020-human-ratings.jsonl"
    found = []
    for document in (entry.document for entry in brief.few(read(path), TEXTS)):
        if document is not None:
            window, *_ = pairs.windows(pairs.pair(document.segments[:-1], document.segments[-1:], "en"))
            correctness, coverage, relevance = (float(document.metadata["mean"][name]) for name in RATINGS)
            ratings = (correctness, coverage, relevance)
            found.append(Rated(document, window, ratings, fold_of(made_from(document))))
    return found


def made_from(document: Document) -> str:
    """The data of a text, whatever its order."""
    return json.dumps(sorted(one.text for one in document.segments[:-1]))
