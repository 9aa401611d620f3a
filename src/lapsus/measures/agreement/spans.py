"""Agreement on spans as F1: how well one annotator's spans are found again in another's."""

from __future__ import annotations

from itertools import combinations
from typing import TypeAlias

import numpy as np

from lapsus.measures.agreement.coding import choose, require, require_names
from lapsus.measures.agreement.patterns import ALONE, spread
from lapsus.measures.resample import USUAL, Bootstrap, Floats, bootstrap
from lapsus.measures.score import Score, signature
from lapsus.measures.scores.precision import two_sided_precision_recall_f
from lapsus.measures.scores.stretches import Stretches
from lapsus.model.votes import SpanVotes

NOTHING = "nobody marked anything"
MATCHES = ("exact", "overlapping", "characters")
CATEGORIES = ("same", "any")

_Marks: TypeAlias = set[tuple[str, int, int, str]]


def span_f1(
    votes: SpanVotes, match: str = "exact", category: str = "same", *, plan: Bootstrap | None = USUAL
) -> Score:
    """The F1 of one annotator's spans against another's: the mean over all pairs of annotators.

    Spans match if they are `exact`ly the same stretch, or if they are `overlapping` by a character or more,
    each side counting its own that do; `characters` compares the characters marked instead of the spans. With
    the `same` category labels must be equal, with `any` they are not looked at. The counts of a pair are
    added up over the units that both answered, so units where neither marked anything count for nothing, and
    pairs who never marked anything are left out. Chance is not taken out. The interval resamples units.
    """
    require(votes, "span_f1", SpanVotes)
    require_names(votes, "span_f1", "gamma or unitizing")
    choose("way to match spans", match, MATCHES)
    choose("way to treat the category", category, CATEGORIES)
    pairs = list(combinations(range(len(votes.annotators)), 2))
    marks = [_marks(votes, annotator, category == "same") for annotator in range(len(votes.annotators))]
    answered = np.array([[spans is not None for spans in row] for row in votes.spans], dtype=np.bool_)
    raters = answered.reshape(len(votes.units), len(votes.annotators)).sum(axis=1)
    n = int((raters >= 2).sum())
    line = signature(
        match=match, category=category, pairs=len(pairs), raters=spread(raters[raters >= 2]), boot=plan
    )
    if not n:
        return Score("span_f1", None, 0, note=ALONE, signature=line)
    sums = _pair_sums(marks, pairs, match)[raters >= 2]
    value = float(mean_f1(sums.sum(axis=0)))
    if np.isnan(value):
        return Score("span_f1", None, n, note=NOTHING, signature=line)
    each = _f1(sums.sum(axis=0)).tolist()
    details = {
        "pairs": [
            {
                "annotators": (votes.annotators[one], votes.annotators[other]),
                "f1": None if np.isnan(f1) else f1,
            }
            for (one, other), f1 in zip(pairs, each, strict=True)
        ]
    }
    return Score("span_f1", value, n, bootstrap(sums, mean_f1, plan), signature=line, details=details)


def mean_f1(totals: Floats) -> Floats:
    """The mean F1 over pairs, from totals of hits and sizes of both sides, four for each pair."""
    values = _f1(totals)
    defined = ~np.isnan(values)
    number = defined.sum(axis=-1)
    sums = np.where(defined, values, 0.0).sum(axis=-1)
    mean: Floats = np.divide(sums, number, out=np.full(sums.shape, np.nan), where=number > 0)
    return mean


def _f1(totals: Floats) -> Floats:
    sides = np.moveaxis(totals.reshape(*totals.shape[:-1], -1, 4), -1, 0)
    f1: Floats = two_sided_precision_recall_f(*sides)[..., 2]
    return f1


def _marks(votes: SpanVotes, annotator: int, with_label: bool) -> list[_Marks | None]:
    """For each unit what an annotator marked, every stretch once; None where there is no answer."""
    rows = (row[annotator] for row in votes.spans)
    return [
        None
        if spans is None
        else {(span.segment, span.start, span.end, span.label if with_label else "") for span in spans}
        for spans in rows
    ]


def _pair_sums(marks: list[list[_Marks | None]], pairs: list[tuple[int, int]], match: str) -> Floats:
    """For each unit and pair, hits and sizes of both sides; 0 where one of the two did not answer."""
    compare = _exact if match == "exact" else _overlapping if match == "overlapping" else _characters
    columns = []
    for one, other in pairs:
        both = [
            (left, right) if left is not None and right is not None else (set(), set())
            for left, right in zip(marks[one], marks[other], strict=True)
        ]
        columns.append(compare([left for left, _ in both], [right for _, right in both]))
    return np.concatenate(columns, axis=1)


def _exact(ones: list[_Marks], others: list[_Marks]) -> Floats:
    rows = [(len(a & b), len(a), len(a & b), len(b)) for a, b in zip(ones, others, strict=True)]
    return np.array(rows, dtype=np.float64)


def _overlapping(ones: list[_Marks], others: list[_Marks]) -> Floats:
    one, other = _on_one_line(ones, others)
    return np.stack([one.hits(other), one.counts(), other.hits(one), other.counts()], axis=1)


def _characters(ones: list[_Marks], others: list[_Marks]) -> Floats:
    one, other = _on_one_line(ones, others)
    common = one.common(other)
    return np.stack([common, one.covered(), common, other.covered()], axis=1)


def _on_one_line(ones: list[_Marks], others: list[_Marks]) -> tuple[Stretches, Stretches]:
    places: dict[tuple[int, str, str], int] = {}
    width = 1 + max((end for marks in (*ones, *others) for _, _, end, _ in marks), default=0)
    return Stretches.on_one_line(ones, places, width), Stretches.on_one_line(others, places, width)
